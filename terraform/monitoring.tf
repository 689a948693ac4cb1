# What an operator looks at first. Alerts are no resource of the provider: they are
# made from these charts by hand (README, Alarms), and the platform writes to the
# operators' chat by itself (operator_chat).

locals {
  # By name or id, one by one: another environment of the folder has charts of its own.
  # Dead letters lie for two weeks: among the others they would look like work that waits.
  queue     = "service=\"message-queue\", queue=\"${join("|", [for q in yandex_message_queue.this : q.name])}\""
  dead      = "service=\"message-queue\", queue=\"${join("|", [for q in yandex_message_queue.dead : q.name])}\""
  function  = "service=\"serverless-functions\", function=\"${join("|", concat([for f in module.functions : f.id], [module.api.id, module.migrate.id]))}\""
  trigger   = "service=\"serverless-functions\", trigger=\"${join("|", concat([for t in yandex_function_trigger.queue : t.id], [for t in yandex_function_trigger.timer : t.id]))}\""
  gateway   = "service=\"serverless-apigateway\", gateway=\"${yandex_api_gateway.webhooks.id}|${yandex_api_gateway.console.id}\""
  in_folder = "folderId=\"${var.folder_id}\""

  # Two to a row: title, query, unit. The age is in seconds, whatever its name says
  # (Message Queue, "Metrics"). The quota is of all calls together.
  charts = [
    ["Messages in queues", "\"queue.messages.stored_count\"{${local.in_folder}, ${local.queue}}", "UNIT_COUNT"],
    ["Age of the oldest message (over 2 minutes: workers do not keep up)", "\"queue.messages.oldest_age_milliseconds\"{${local.in_folder}, ${local.queue}}", "UNIT_SECONDS"],
    ["Dead letters (lasting: the reconciler cannot read them)", "\"queue.messages.stored_count\"{${local.in_folder}, ${local.dead}}", "UNIT_COUNT"],
    ["Calls at the same time (quota: 10 per zone unless raised)", "series_sum(\"serverless.functions.inflight\"{${local.in_folder}, ${local.function}})", "UNIT_COUNT"],
    ["Errors of functions per second", "\"serverless.functions.errors_per_second\"{${local.in_folder}, ${local.function}}", "UNIT_COUNT"],
    ["Duration of calls, 95 of 100", "histogram_percentile(95, \"bin\", \"serverless.functions.execution_time_milliseconds\"{${local.in_folder}, ${local.function}})", "UNIT_MILLISECONDS"],
    ["Answers 5xx of the gateways per second", "\"api_gateway.errors_count_per_second\"{${local.in_folder}, ${local.gateway}, code=\"5*\"}", "UNIT_COUNT"],
    ["Errors of triggers per second", "\"serverless.triggers.error_per_second\"{${local.in_folder}, ${local.trigger}}", "UNIT_COUNT"],
  ]
}

resource "yandex_monitoring_dashboard" "this" {
  name  = var.name
  title = "Support platform: ${var.name}"

  dynamic "widgets" {
    for_each = local.charts
    content {
      chart {
        chart_id       = "chart${widgets.key}"
        title          = widgets.value[0]
        display_legend = true
        queries {
          target {
            query     = widgets.value[1]
            text_mode = true
          }
          downsampling {
            grid_aggregation = "GRID_AGGREGATION_MAX"
            max_points       = 500
          }
        }
        visualization_settings {
          type        = "VISUALIZATION_TYPE_LINE"
          interpolate = "INTERPOLATE_LINEAR"
          yaxis_settings {
            left {
              min         = "0"
              unit_format = widgets.value[2]
            }
          }
        }
      }
      position {
        x = 18 * (widgets.key % 2)
        y = 8 * floor(widgets.key / 2)
        w = 18
        h = 8
      }
    }
  }
}
