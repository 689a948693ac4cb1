# Every function is a line of this map. Memory: their peak is below 60 MB, and the
# share of a processor grows with it. Time-outs: a webhook is given up by its messenger
# after some seconds; a worker takes as many jobs as its time allows, and a broadcast's
# batch is made for 300 s. Concurrency: calls of one instance at the same time; they
# wait for others most of their time. Limits are per zone: instances and calls.

locals {
  stores   = ["DATABASE_URL", "REDIS_URL", "TRACKER_TOKEN"]
  database = concat(local.stores, ["QUEUE_ACCESS_KEY", "QUEUE_SECRET_KEY"])
  draining = concat(local.stores, ["DRAIN_QUEUE_ACCESS_KEY", "DRAIN_QUEUE_SECRET_KEY"])
  telegram = local.has.telegram ? ["TELEGRAM_TOKEN"] : []
  vk       = local.has.vk ? ["VK_TOKEN", "VK_SECRET", "VK_CONFIRMATION"] : []
  talking  = concat(local.database, local.telegram, local.vk)

  all_functions = {
    telegram-webhook = {
      role    = "webhook", memory = 256, timeout = 30, concurrency = 8, instances = 0, calls = 0
      secrets = concat(local.database, ["TELEGRAM_TOKEN", "TELEGRAM_WEBHOOK_SECRET"])
    }
    vk-webhook = {
      role    = "webhook", memory = 256, timeout = 30, concurrency = 8, instances = 0, calls = 0
      secrets = concat(local.database, ["VK_TOKEN", "VK_SECRET", "VK_CONFIRMATION"])
    }
    tracker-handler = {
      role    = "webhook", memory = 128, timeout = 10, concurrency = 8, instances = 0, calls = 0
      secrets = ["DATABASE_URL", "QUEUE_ACCESS_KEY", "QUEUE_SECRET_KEY", "TRACKER_WEBHOOK_SECRET"]
    }
    # Files go through their memory, in parts.
    ticket-worker = {
      role    = "worker", memory = 256, timeout = 120, concurrency = 4, instances = 2, calls = 3
      secrets = local.talking
    }
    tracker-worker = {
      role    = "worker", memory = 256, timeout = 120, concurrency = 4, instances = 2, calls = 3
      secrets = local.talking
    }
    # Each messenger's broadcasts are one lane: one call each works on it, a third one
    # plans. More of them would only wait for the shared pace and use up the quota.
    notification-worker = {
      role    = "worker", memory = 256, timeout = 300, concurrency = 3, instances = 1, calls = 3
      secrets = local.talking
    }
    reconciler = {
      role    = "reconciler", memory = 256, timeout = 180, concurrency = 1, instances = 1, calls = 1
      secrets = concat(local.draining, local.telegram, local.vk)
    }
    notification-api = {
      role    = "api", memory = 256, timeout = 60, concurrency = 8, instances = 0, calls = 0
      secrets = concat(local.talking, ["CLICKHOUSE_URL"])
    }
    # The live load and the history may run side by side.
    analytics-loader = {
      role    = "loader", memory = 256, timeout = 600, concurrency = 2, instances = 1, calls = 2
      secrets = ["DATABASE_URL", "REDIS_URL", "CLICKHOUSE_URL", "TRACKER_TOKEN"]
    }
    migrate = {
      role    = "migrate", memory = 256, timeout = 600, concurrency = 1, instances = 1, calls = 1
      secrets = ["MIGRATE_DATABASE_URL", "CLICKHOUSE_URL"]
    }
  }

  # A messenger that is left out has no webhook.
  functions = { for name, f in local.all_functions : name => f
  if !(name == "telegram-webhook" && !local.has.telegram) && !(name == "vk-webhook" && !local.has.vk) }

  # What is no secret, the same for all: a function reads what it knows.
  environment = { for name, value in merge({
    GODEBUG              = "httpmuxgo121=0,asynctimerchan=0" # the host's Go would choose older ways
    QUEUE_URL_TICKETS    = yandex_message_queue.this["tickets"].id
    QUEUE_URL_DELIVERIES = yandex_message_queue.this["deliveries"].id
    QUEUE_URL_BROADCASTS = yandex_message_queue.this["broadcasts"].id
    REDIS_CA             = local.make.valkey ? local.ca : ""
    CLICKHOUSE_CA        = local.make.clickhouse ? local.ca : ""
    CLICKHOUSE_CLUSTER   = var.clickhouse_cluster
    TELEGRAM_USERNAME    = var.telegram_username
    VK_GROUP_ID          = var.vk_group_id
    TRACKER_ORG_ID       = var.tracker_org_id
    TRACKER_CLOUD_ORG_ID = var.tracker_cloud_org_id
    TRACKER_QUEUE        = var.tracker_queue
    OPERATOR_CHAT        = var.operator_chat
  }, var.settings) : name => value if value != "" }

  # What each function's own module needs of the rest.
  runtime = {
    name        = var.name
    archives    = var.archives
    bucket      = yandex_storage_bucket.archives.bucket
    network_id  = local.network_id
    log_group   = yandex_logging_group.this.id
    log_level   = var.size == "prod" ? "INFO" : "DEBUG"
    secret_ids  = { for group, secret in yandex_lockbox_secret.this : group => secret.id }
    version_ids = local.versions
    group_of    = local.group_of
    accounts    = local.accounts
  }
}

locals {
  # Of the functions' keys for queues, which nobody here knows, the length is counted.
  secret_values = merge(concat(
    [for pairs in values(local.secrets) : { for pair in pairs : pair[0] => pair[1] }],
    [{ for name in ["QUEUE_ACCESS_KEY", "QUEUE_SECRET_KEY", "DRAIN_QUEUE_ACCESS_KEY", "DRAIN_QUEUE_SECRET_KEY"] : name => format("%050d", 0) }],
  )...)
  # The bytes, not characters, of each function's environment: of Base64's four
  # characters three are bytes.
  weights = { for name, f in local.functions : name => nonsensitive(floor(length(trim(base64encode(join("", concat(
    keys(local.environment), values(local.environment), f.secrets, [for secret in f.secrets : local.secret_values[secret]],
  ))), "=")) * 3 / 4)) }
}

# Cloud Functions takes 4 KB of names and values, secrets among them. The console's
# address, the time-out and the archive's hash are counted as 150.
resource "terraform_data" "fits" {
  for_each = local.functions
  lifecycle {
    precondition {
      condition     = local.weights[each.key] + 150 <= 4096
      error_message = "The environment of ${each.key} is over 4 KB: make settings (CATALOGUE above all) shorter."
    }
    precondition {
      condition     = floor(length(trim(filebase64("${var.archives}/${each.key}.zip"), "=")) * 3 / 4) <= var.archive_most
      error_message = "The archive of ${each.key} is over ${var.archive_most} bytes (archive_most): look what make package put into it."
    }
  }
}

resource "yandex_logging_group" "this" {
  name             = var.name
  retention_period = var.size == "prod" ? "720h0m0s" : "72h0m0s" # as the cloud writes it: another way would differ in every plan
}

# The functions' archives, which make package makes again; one that was replaced stays
# for a month.
resource "yandex_storage_bucket" "archives" {
  bucket        = "${var.name}-archives-${var.folder_id}"
  folder_id     = var.folder_id
  force_destroy = true
  versioning {
    enabled = true
  }
  lifecycle_rule {
    id      = "replaced"
    enabled = true
    noncurrent_version_expiration {
      days = 30
    }
    abort_incomplete_multipart_upload_days = 1
  }
}

# Order of a deployment: the schema first (it fits the code of before, too), then the
# functions that use it. Each needs its account's rights from its first call on.
module "migrate" {
  source      = "./function"
  function    = "migrate"
  settings    = local.functions["migrate"]
  runtime     = local.runtime
  environment = merge(local.environment, { ARCHIVE_SHA256 = filesha256("${var.archives}/migrate.zip") })
  invokers    = []
  depends_on  = [terraform_data.fits, yandex_lockbox_secret_iam_member.reader, yandex_resourcemanager_folder_iam_member.this]
}

locals {
  # Whom the migration lets in, besides bringing the schema up to date: it is the only
  # one that reaches the database while nobody has a role.
  access = jsonencode({ staff = var.staff, keys = var.api_keys })
}

resource "terraform_data" "migrated" {
  count = var.migrate ? 1 : 0
  # Again when there is another schema or another database, of the analytics, too, or
  # when others are let in.
  triggers_replace = [
    module.migrate.hash, nonsensitive(sha256(join(" ", [local.migrate_database_url, local.clickhouse_url, var.clickhouse_cluster]))), local.access,
  ]
  provisioner "local-exec" {
    command     = "'${path.module}/invoke' '${module.migrate.id}' '${module.migrate.hash}'"
    environment = { REQUEST = local.access }
  }
}

# The console's address goes to the functions that give people links to it, so it has
# to exist before them.
module "api" {
  source      = "./function"
  function    = "notification-api"
  settings    = local.functions["notification-api"]
  runtime     = local.runtime
  environment = local.environment
  invokers    = ["gateway"]
  depends_on  = [terraform_data.migrated, terraform_data.fits, yandex_lockbox_secret_iam_member.reader, yandex_resourcemanager_folder_iam_member.this]
}

module "functions" {
  source      = "./function"
  for_each    = { for name, f in local.functions : name => f if !contains(["migrate", "notification-api"], name) }
  function    = each.key
  settings    = each.value
  runtime     = local.runtime
  environment = merge(local.environment, { CONSOLE_URL = local.console_url })
  invokers    = [each.value.role == "webhook" ? "gateway" : "trigger"]
  depends_on  = [terraform_data.migrated, terraform_data.fits, yandex_lockbox_secret_iam_member.reader, yandex_resourcemanager_folder_iam_member.this]
}
