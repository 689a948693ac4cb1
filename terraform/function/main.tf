# One function of the platform.

terraform {
  required_providers {
    yandex = { source = "yandex-cloud/yandex" }
  }
}

variable "function" { type = string }

variable "settings" {
  type = object({
    role = string, memory = number, timeout = number, concurrency = number, instances = number, calls = number, secrets = list(string)
  })
}

variable "runtime" {
  type = object({
    name       = string, archives = string, bucket = string, network_id = string, log_group = string, log_level = string
    secret_ids = map(string), version_ids = map(string), group_of = map(string), accounts = map(string)
  })
}

variable "environment" { type = map(string) }

variable "invokers" {
  description = "The roles that may call it."
  type        = list(string)
}

locals {
  archive = "${var.runtime.archives}/${var.function}.zip"
  # A function's version changes with its own bytes, and not with others'.
  hash        = filesha256(local.archive)
  environment = merge(var.environment, { FUNCTION_TIMEOUT = "${var.settings.timeout}s" })
  # In the environments of the migration and of the reconciler the address of its own user,
  # and the key of its own account, have the usual names.
  variables = { for name in var.settings.secrets : trimprefix(trimprefix(name, "MIGRATE_"), "DRAIN_") => name }
}

resource "yandex_storage_object" "archive" {
  bucket      = var.runtime.bucket
  key         = "${var.function}.zip"
  source      = local.archive
  source_hash = local.hash
}

resource "yandex_function" "this" {
  name               = "${var.runtime.name}-${var.function}"
  runtime            = "golang123"
  entrypoint         = "functions/${var.function}/main.Handler"
  memory             = var.settings.memory
  execution_timeout  = tostring(var.settings.timeout)
  concurrency        = var.settings.concurrency
  service_account_id = var.runtime.accounts[var.settings.role]
  user_hash          = local.hash
  environment        = local.environment

  package {
    bucket_name = yandex_storage_object.archive.bucket
    object_name = yandex_storage_object.archive.key
    sha_256     = local.hash
  }
  dynamic "secrets" {
    for_each = local.variables
    content {
      id                   = var.runtime.secret_ids[var.runtime.group_of[secrets.value]]
      version_id           = var.runtime.version_ids[var.runtime.group_of[secrets.value]]
      key                  = secrets.value
      environment_variable = secrets.key
    }
  }
  connectivity {
    network_id = var.runtime.network_id
  }
  log_options {
    log_group_id = var.runtime.log_group
    min_level    = var.runtime.log_level
  }
}

resource "yandex_function_iam_binding" "invoker" {
  count       = length(var.invokers) > 0 ? 1 : 0
  function_id = yandex_function.this.id
  role        = "functions.functionInvoker"
  members     = [for role in var.invokers : "serviceAccount:${var.runtime.accounts[role]}"]
}

resource "yandex_function_scaling_policy" "this" {
  count       = var.settings.instances > 0 ? 1 : 0
  function_id = yandex_function.this.id
  policy {
    tag                  = "$latest"
    zone_instances_limit = var.settings.instances
    zone_requests_limit  = var.settings.calls
  }
}

output "id" {
  description = "A trigger is refused while its account may not call the function."
  value       = yandex_function.this.id
  depends_on  = [yandex_function_iam_binding.invoker]
}

output "hash" { value = local.hash }

output "settings" {
  description = "For tests."
  value = {
    environment = local.environment, timeout = var.settings.timeout, variables = keys(local.variables)
    limits      = [for p in yandex_function_scaling_policy.this : { for l in p.policy : l.tag => [l.zone_instances_limit, l.zone_requests_limit] }]
    invokers    = flatten([for b in yandex_function_iam_binding.invoker : [for m in b.members : "${b.role} ${m}"]])
  }
}
