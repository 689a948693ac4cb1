# Both sizes, with databases of their own. Nothing real is called.

mock_provider "yandex" {}

variables {
  folder_id               = "b1g00000000000000000"
  archives                = "tests/archives"
  migrate                 = false
  database_password       = "0123456789abcdef0123"
  telegram_token          = "123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ012345678"
  telegram_webhook_secret = "telegram-secret-0123"
  vk_token                = "vk1.a.token"
  vk_group_id             = "209"
  vk_secret               = "vksecret0123"
  vk_confirmation         = "c0nf1rm"
  tracker_token           = "y0_token"
  tracker_org_id          = "77"
  tracker_queue           = "SUP"
  tracker_webhook_secret  = "tracker-secret-0123"
}

run "dev" {
  command = apply

  assert {
    condition     = toset(keys(local.all_functions)) == toset([for f in fileset("..", "functions/*/main.go") : basename(dirname(f)) if !strcontains(f, "/local/")])
    error_message = "The map of functions is not the folders below functions without local."
  }
  assert {
    condition     = can(regex("^[0-9]+h[0-9]+m[0-9]+s$", yandex_logging_group.this.retention_period))
    error_message = "The cloud gives the time back in another form, so that every plan would differ."
  }
  assert {
    condition     = alltrue([for u in yandex_mdb_postgresql_user.app : [for p in u.permission : p.database_name] == ["support"]])
    error_message = "The functions' user may not enter the database."
  }
  assert {
    condition     = length(local.functions) == 10
    error_message = "The default quota has room for ten functions."
  }
  assert {
    condition = alltrue([for name, q in local.queues :
    yandex_message_queue.this[name].visibility_timeout_seconds > local.functions[q.function].timeout])
    error_message = "A message comes back while its function may still work on it."
  }
  assert {
    condition     = alltrue([for name, f in module.functions : f.settings.environment["FUNCTION_TIMEOUT"] == "${local.functions[name].timeout}s"])
    error_message = "A worker does not know when its function's time is over."
  }
  assert {
    condition = alltrue([for name in keys(local.queues) :
    jsondecode(yandex_message_queue.this[name].redrive_policy).deadLetterTargetArn == yandex_message_queue.dead[name].arn])
    error_message = "A queue's dead letters go elsewhere."
  }
  assert {
    condition     = yandex_function_trigger.queue["broadcasts"].message_queue[0].batch_size == "1"
    error_message = "A batch of a broadcast takes a call's whole time."
  }
  assert {
    condition     = alltrue([for t in yandex_function_trigger.timer : length(t.timer[0].payload) <= 4096])
    error_message = "A timer's payload has at most 4096 characters."
  }
  assert {
    condition     = yandex_function_trigger.timer["analytics"].timer[0].cron_expression == "0 * ? * * *"
    error_message = "The analytics are not loaded every hour."
  }
  assert {
    condition     = length(yandex_mdb_postgresql_cluster_v2.this[0].hosts) == 1 && !yandex_mdb_postgresql_cluster_v2.this[0].deletion_protection
    error_message = "dev has one host and may be thrown away."
  }
  assert {
    condition     = alltrue([for f in module.functions : f.settings.environment["CONSOLE_URL"] == output.console])
    error_message = "A function gives people another address of the console."
  }
  assert {
    condition     = toset(keys(output.webhooks)) == toset(["telegram", "vk", "tracker"])
    error_message = "The webhooks are not said."
  }
  assert {
    condition     = jsonencode(module.functions["notification-worker"].settings.limits) == jsonencode([{ "$latest" = [1, 3] }])
    error_message = "More than one call for each messenger's broadcasts, and one that plans, would only wait."
  }
  assert {
    condition     = alltrue([for name, f in module.functions : length(f.settings.limits) == (local.functions[name].instances > 0 ? 1 : 0)])
    error_message = "A function has no limits, or some that nobody has asked for."
  }
  assert {
    condition = (toset([for i in yandex_vpc_security_group.databases.ingress : tostring(i.port) if try(contains(i.v4_cidr_blocks, "198.19.0.0/16"), false)]) == toset(["6432", "6380", "8443"])
    && alltrue([for i in yandex_vpc_security_group.databases.ingress : try(length(setsubtract(i.v4_cidr_blocks, ["198.19.0.0/16"])) == 0, true)]))
    error_message = "Functions, and nobody else, have to reach the databases' three ports."
  }
  assert {
    condition = (jsonencode({ for name, t in yandex_function_trigger.queue : name => [t.message_queue[0].batch_size, t.message_queue[0].batch_cutoff] })
    == jsonencode({ broadcasts = ["1", "1"], deliveries = ["10", "1"], tickets = ["10", "1"] }))
    error_message = "Batches and cut-offs are others than the reasons of queues.tf are for."
  }
  assert {
    condition = (yandex_storage_bucket.archives.versioning[0].enabled && yandex_storage_bucket.archives.lifecycle_rule[0].enabled
    && yandex_storage_bucket.archives.lifecycle_rule[0].noncurrent_version_expiration[0].days == 30)
    error_message = "Archives that were replaced have to go after a month, and not before."
  }
  # The dashboard.
  assert {
    condition = ([for w in yandex_monitoring_dashboard.this.widgets : w.chart[0].queries[0].target[0].query] == [for c in local.charts : c[1]]
    && length(local.charts) == 8)
    error_message = "The dashboard has not all charts."
  }
  assert {
    condition     = alltrue([for c in local.charts : !can(regex("(=\"|-)\\*", c[1]))])
    error_message = "A chart mixes in what belongs to other environments of the folder."
  }
  assert {
    condition     = alltrue([for c in local.charts : c[2] == "UNIT_SECONDS" if strcontains(c[1], "oldest_age")])
    error_message = "The age of messages is in seconds, whatever its name says."
  }
  assert {
    condition = alltrue([for c in local.charts : startswith(c[1], "series_sum(") && alltrue([for f in concat(values(module.functions), [module.api, module.migrate]) : strcontains(c[1], f.id)])
    if strcontains(c[1], "inflight")])
    error_message = "The quota is of the calls of all functions together."
  }
  # What the gateways' specifications say.
  assert {
    condition     = toset(keys(yamldecode(yandex_api_gateway.webhooks.spec).paths)) == toset(["/telegram", "/vk", "/tracker"])
    error_message = "The first gateway serves the webhooks and nothing else."
  }
  assert {
    condition     = toset(keys(yamldecode(yandex_api_gateway.console.spec).paths)) == toset(["/console", "/console/", "/console/{path+}", "/v1/{path+}"])
    error_message = "The second gateway serves the console and the API and nothing else."
  }
}

# Roles: who may do what, and who reads which secrets. Whoever needs a right more says
# so here, too.
run "rights" {
  command = plan

  assert {
    condition = toset([for m in yandex_resourcemanager_folder_iam_member.this :
      "${ { for role, id in local.accounts : "serviceAccount:${id}" => role }[m.member]} ${m.role}"]) == toset(concat(
      flatten([for role in ["webhook", "worker", "api", "loader", "migrate", "reconciler"] : ["${role} vpc.user", "${role} logging.writer"]]),
      ["gateway logging.writer", "trigger ymq.reader", "queue ymq.writer", "drain ymq.writer", "drain ymq.reader"],
    ))
    error_message = "An account has other rights than those of its role."
  }
  assert {
    condition = toset([for m in yandex_lockbox_secret_iam_member.reader : m.role]) == toset(["lockbox.payloadViewer"]) && toset(keys(yandex_lockbox_secret_iam_member.reader)) == toset(concat(
      flatten([for role in ["webhook", "worker", "api"] : [for group in ["databases", "queue", "tracker", "telegram", "vk"] : "${role} ${group}"]]),
      [for group in ["databases", "drain", "tracker", "telegram", "vk"] : "reconciler ${group}"],
      ["api analytics", "loader databases", "loader analytics", "loader tracker", "migrate owner", "migrate analytics"],
    ))
    error_message = "An account reads other secrets than those of its functions."
  }
  assert {
    condition = alltrue([for name, f in module.functions :
    f.settings.invokers == ["functions.functionInvoker serviceAccount:${local.accounts[endswith(name, "-webhook") || name == "tracker-handler" ? "gateway" : "trigger"]}"]])
    error_message = "Somebody may call a function who does not, or who does may not."
  }
  assert {
    condition     = module.api.settings.invokers == ["functions.functionInvoker serviceAccount:${local.accounts["gateway"]}"] && length(module.migrate.settings.invokers) == 0
    error_message = "The gateway alone calls the API, and nobody but who deploys the migration."
  }
  assert {
    condition     = [for key in keys(yandex_lockbox_secret_iam_member.reader) : key if endswith(key, " owner")] == ["migrate owner"]
    error_message = "Only the migration reads the address of the schema's owner."
  }
  assert {
    condition     = !contains(keys(yandex_lockbox_secret_iam_member.reader), "loader telegram") && !contains(keys(yandex_lockbox_secret_iam_member.reader), "loader vk")
    error_message = "The loader of analytics has no use for the messengers."
  }
  assert {
    condition     = contains(module.functions["reconciler"].settings.variables, "QUEUE_ACCESS_KEY") && !contains(local.functions["reconciler"].secrets, "QUEUE_ACCESS_KEY")
    error_message = "The reconciler works with another key than its own."
  }
  assert {
    condition     = !contains(keys(yandex_lockbox_secret_iam_member.reader), "webhook analytics")
    error_message = "A webhook has no use for ClickHouse."
  }
}

run "prod" {
  command = apply
  variables {
    size = "prod"
    name = "support-prod"
  }
  assert {
    condition     = length(yandex_mdb_postgresql_cluster_v2.this[0].hosts) == 2 && length(yandex_mdb_redis_cluster_v2.this[0].hosts) == 2
    error_message = "prod has a second host of what must not stop."
  }
  assert {
    condition     = yandex_mdb_postgresql_cluster_v2.this[0].deletion_protection && tobool(yandex_mdb_postgresql_database.this[0].deletion_protection) && alltrue([for s in yandex_lockbox_secret.this : s.deletion_protection])
    error_message = "prod is protected against deletion."
  }
  assert {
    condition     = toset([for c in concat(yandex_mdb_postgresql_cluster_v2.this[*].environment, yandex_mdb_redis_cluster_v2.this[*].environment, yandex_mdb_clickhouse_cluster_v2.this[*].environment) : c]) == toset([local.channel])
    error_message = "dev could not become prod: the cloud makes a cluster of another environment anew, without its data."
  }
  assert {
    condition     = alltrue([for q in yandex_message_queue.this : startswith(q.name, "support-prod-")])
    error_message = "Two environments of one folder would share a name."
  }
}
