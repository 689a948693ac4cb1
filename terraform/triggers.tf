resource "yandex_function_trigger" "queue" {
  for_each = local.queues
  name     = "${var.name}-${each.key}"
  message_queue {
    queue_id           = yandex_message_queue.this[each.key].arn
    service_account_id = local.accounts["trigger"]
    batch_size         = tostring(each.value.batch_size)
    batch_cutoff       = tostring(each.value.batch_cutoff)
  }
  function {
    id                 = module.functions[each.value.function].id
    service_account_id = local.accounts["trigger"]
  }
  depends_on = [yandex_resourcemanager_folder_iam_member.this]
}

locals {
  # Minutes Hours DayOfMonth Month DayOfWeek Year, in UTC.
  timers = {
    reconciler = { function = "reconciler", cron = "* * ? * * *", payload = "" }
    analytics  = { function = "analytics-loader", cron = var.analytics_cron, payload = "" }
    # Tracker's history: each call goes on where the last one stopped, and once all of
    # it is there a call does nothing. It begins with the deployment.
    history = { function = "analytics-loader", cron = "5/10 * ? * * *", payload = jsonencode({ since = var.history_since }) }
  }
}

# No retries: the next tick does what this one could not.
resource "yandex_function_trigger" "timer" {
  for_each = local.timers
  name     = "${var.name}-${each.key}"
  timer {
    cron_expression = each.value.cron
    payload         = each.value.payload
  }
  function {
    id                 = module.functions[each.value.function].id
    service_account_id = local.accounts["trigger"]
  }
}
