# Two entries: one for the services that call (webhooks), one for people and programs
# (console and /v1). The functions behind the first give links to the second, and so
# need its address.

locals {
  console_url = "https://${yandex_api_gateway.console.domain}/console"

  # Format 1.0 has the actual path; bodies come as text or base64, which the functions'
  # glue reads (shared/ycf). Whoever calls is checked by the functions, which compare
  # the messengers' secrets and the keys of the API.
  behind = { for name, f in module.functions : name => {
    x-yc-apigateway-integration = {
      type                   = "cloud_functions"
      function_id            = f.id
      service_account_id     = local.accounts["gateway"]
      payload_format_version = "1.0"
    }
  } }

  api = {
    x-yc-apigateway-integration = {
      type                   = "cloud_functions"
      function_id            = module.api.id
      service_account_id     = local.accounts["gateway"]
      payload_format_version = "1.0"
    }
  }
  rest = [{ name = "path", in = "path", required = true, schema = { type = "string" } }]
}

resource "yandex_api_gateway" "webhooks" {
  name              = "${var.name}-webhooks"
  execution_timeout = "60"
  spec = yamlencode({
    openapi = "3.0.0"
    info    = { title = "${var.name}: webhooks", version = "1" }
    paths = merge(
      local.has.telegram ? { "/telegram" = { post = local.behind["telegram-webhook"] } } : {},
      local.has.vk ? { "/vk" = { post = local.behind["vk-webhook"] } } : {},
      { "/tracker" = { post = local.behind["tracker-handler"] } },
    )
  })
  log_options {
    log_group_id = yandex_logging_group.this.id
    min_level    = "WARN"
  }
}

resource "yandex_api_gateway" "console" {
  name              = "${var.name}-console"
  execution_timeout = "60"
  spec = yamlencode({
    openapi = "3.0.0"
    info    = { title = "${var.name}: console and API", version = "1" }
    paths = {
      "/console"         = { get = local.api, head = local.api }
      "/console/"        = { get = local.api, head = local.api }
      "/console/{path+}" = { get = merge(local.api, { parameters = local.rest }), head = merge(local.api, { parameters = local.rest }) }
      "/v1/{path+}"      = { x-yc-apigateway-any-method = merge(local.api, { parameters = local.rest }) }
    }
  })
  log_options {
    log_group_id = yandex_logging_group.this.id
    min_level    = "WARN"
  }
}
