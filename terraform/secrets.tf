# Secrets live in Lockbox and reach functions as environment variables. Terraform's
# state has hashes of them, with these exceptions that the provider forces: the
# passwords of the databases that are made here (their users and the Valkey cluster
# keep them in state). Keep the state where few can read it.

locals {
  # Group -> what is in it, name and value. A function takes single ones; its account
  # may read the whole group.
  secrets = {
    databases = [
      ["DATABASE_URL", local.database_url],
      ["REDIS_URL", local.redis_url],
    ]
    analytics = [["CLICKHOUSE_URL", local.clickhouse_url]]
    owner     = [["MIGRATE_DATABASE_URL", local.migrate_database_url]]
    telegram  = [["TELEGRAM_TOKEN", var.telegram_token], ["TELEGRAM_WEBHOOK_SECRET", var.telegram_webhook_secret]]
    vk        = [["VK_TOKEN", var.vk_token], ["VK_SECRET", var.vk_secret], ["VK_CONFIRMATION", var.vk_confirmation]]
    tracker   = [["TRACKER_TOKEN", var.tracker_token], ["TRACKER_WEBHOOK_SECRET", var.tracker_webhook_secret]]
  }
  # Groups of a messenger that is left out are not made.
  groups = toset(concat(["databases", "analytics", "owner", "tracker", "queue", "drain"],
  local.has.telegram ? ["telegram"] : [], local.has.vk ? ["vk"] : []))

  group_of = merge(concat([for group, pairs in local.secrets : { for pair in pairs : pair[0] => group }],
  [{ QUEUE_ACCESS_KEY = "queue", QUEUE_SECRET_KEY = "queue", DRAIN_QUEUE_ACCESS_KEY = "drain", DRAIN_QUEUE_SECRET_KEY = "drain" }])...)

  has = {
    telegram = nonsensitive(var.telegram_token != "")
    vk       = nonsensitive(var.vk_token != "")
  }
}

resource "yandex_lockbox_secret" "this" {
  for_each            = local.groups
  name                = "${var.name}-${each.key}"
  deletion_protection = local.size.protected
}

resource "yandex_lockbox_secret_version_hashed" "this" {
  for_each  = setsubtract(local.groups, ["queue", "drain"])
  secret_id = yandex_lockbox_secret.this[each.key].id

  key_1        = try(local.secrets[each.key][0][0], null)
  text_value_1 = try(local.secrets[each.key][0][1], null)
  key_2        = try(local.secrets[each.key][1][0], null)
  text_value_2 = try(local.secrets[each.key][1][1], null)
  key_3        = try(local.secrets[each.key][2][0], null)
  text_value_3 = try(local.secrets[each.key][2][1], null)

  # A function that starts meanwhile still reads the version of before.
  lifecycle {
    create_before_destroy = true
  }
}

# The functions' keys for the queues go to Lockbox and nowhere else.
resource "yandex_iam_service_account_static_access_key" "queue" {
  service_account_id = local.accounts["queue"]
  description        = "Functions send hints with it"
  lifecycle {
    create_before_destroy = true
  }
  output_to_lockbox {
    secret_id            = yandex_lockbox_secret.this["queue"].id
    entry_for_access_key = "QUEUE_ACCESS_KEY"
    entry_for_secret_key = "QUEUE_SECRET_KEY"
  }
}

resource "yandex_iam_service_account_static_access_key" "drain" {
  service_account_id = local.accounts["drain"]
  description        = "The reconciler sends hints with it, and reads what is dead of them"
  lifecycle {
    create_before_destroy = true
  }
  output_to_lockbox {
    secret_id            = yandex_lockbox_secret.this["drain"].id
    entry_for_access_key = "DRAIN_QUEUE_ACCESS_KEY"
    entry_for_secret_key = "DRAIN_QUEUE_SECRET_KEY"
  }
}

locals {
  versions = merge(
    { for group, version in yandex_lockbox_secret_version_hashed.this : group => version.id },
    {
      queue = yandex_iam_service_account_static_access_key.queue.output_to_lockbox_version_id
      drain = yandex_iam_service_account_static_access_key.drain.output_to_lockbox_version_id
    },
  )
}
