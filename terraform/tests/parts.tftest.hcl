# Deployments that bring something of their own, or leave something out.

mock_provider "yandex" {}

variables {
  folder_id               = "b1g00000000000000000"
  archives                = "tests/archives"
  migrate                 = false
  telegram_token          = "123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ012345678"
  telegram_webhook_secret = "telegram-secret-0123"
  tracker_token           = "y0_token"
  tracker_org_id          = "77"
  tracker_queue           = "SUP"
  tracker_webhook_secret  = "tracker-secret-0123"
  database_password       = "0123456789abcdef0123"
}

run "databases_that_are_there" {
  command = apply
  variables {
    database_password    = ""
    database_url         = "postgres://app:x@db.example:6432/support"
    migrate_database_url = "postgres://owner:x@db.example:5432/support"
    redis_url            = "redis://:x@redis.example:6379/0"
    clickhouse_url       = "https://app:x@ch.example:8443/analytics"
    clickhouse_cluster   = "main"
    network_id           = "enp00000000000000000"
    subnet_ids           = ["e9b0", "e2l0", "fl80"]
    analytics_cron       = "0/20 * * * ? *"
  }
  assert {
    condition     = yandex_function_trigger.timer["analytics"].timer[0].cron_expression == "0/20 * * * ? *"
    error_message = "The analytics are not loaded when they should be."
  }
  assert {
    condition = (length(yandex_mdb_postgresql_cluster_v2.this) + length(yandex_mdb_redis_cluster_v2.this)
    + length(yandex_mdb_clickhouse_cluster_v2.this) + length(yandex_vpc_network.this) + length(yandex_vpc_subnet.this)) == 0
    error_message = "Something is made that is there already."
  }
  assert {
    condition     = module.migrate.settings.environment["CLICKHOUSE_CLUSTER"] == "main" && !contains(keys(module.migrate.settings.environment), "REDIS_CA")
    error_message = "The databases' own settings do not reach the functions."
  }
}

run "telegram_alone" {
  command = apply
  assert {
    condition     = !contains(keys(module.functions), "vk-webhook") && contains(keys(module.functions), "telegram-webhook")
    error_message = "There is a webhook of a messenger that is left out."
  }
  assert {
    condition     = alltrue([for f in module.functions : !contains(f.settings.variables, "VK_TOKEN")])
    error_message = "A function wants a secret that nobody has."
  }
  assert {
    condition     = !contains(keys(yamldecode(yandex_api_gateway.webhooks.spec).paths), "/vk")
    error_message = "The gateway serves a messenger that is left out."
  }
}

run "vk_alone" {
  command = apply
  variables {
    telegram_token          = ""
    telegram_webhook_secret = ""
    vk_token                = "vk1.a.token"
    vk_group_id             = "209"
    vk_secret               = "vksecret0123"
    vk_confirmation         = "c0nf1rm"
  }
  assert {
    condition     = !contains(keys(module.functions), "telegram-webhook") && contains(keys(module.functions), "vk-webhook")
    error_message = "There is a webhook of a messenger that is left out."
  }
}

run "staff" {
  command = plan
  variables {
    staff    = { "telegram:123456" = ["admin", "operator"], "vk:5" = ["analyst"] }
    api_keys = { doctor = { role = "operator", sha256 = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a" } }
  }
  assert {
    condition = local.access == jsonencode({
      keys  = { doctor = { role = "operator", sha256 = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a" } }
      staff = { "telegram:123456" = ["admin", "operator"], "vk:5" = ["analyst"] }
    })
    error_message = "The migration is not told whom to let in."
  }
  assert {
    condition     = module.migrate.settings.environment["ARCHIVE_SHA256"] == module.migrate.hash
    error_message = "The migration cannot say which archive it was made of."
  }
}

run "environment_that_fits" {
  command = plan
  variables {
    settings = { CATALOGUE = join("", [for i in range(1000) : "ж"]) } # 2,000 bytes
  }
}

run "environment_too_large" {
  command = plan
  variables {
    settings = { CATALOGUE = join("", [for i in range(500) : "12345678"]) }
  }
  expect_failures = [terraform_data.fits]
}

run "environment_too_large_in_bytes" {
  command = plan
  variables {
    settings = { CATALOGUE = join("", [for i in range(800) : "жж"]) }
  }
  expect_failures = [terraform_data.fits]
}

run "secret_too_long" {
  command = plan
  variables {
    telegram_token = "123456:${join("", [for i in range(350) : "ABCDEFGHIJ"])}"
  }
  expect_failures = [terraform_data.fits]
}

# The limit itself may be reached; a size that is no multiple of three is padded.
run "archive_as_large_as_may_be" {
  command = plan
  variables {
    archive_most = length(file("tests/archives/notification-worker.zip"))
  }
}

run "archive_too_large" {
  command = plan
  variables {
    archive_most = length(file("tests/archives/notification-worker.zip")) - 1
  }
  expect_failures = [terraform_data.fits]
}
