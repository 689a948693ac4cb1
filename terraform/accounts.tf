# An account for each role, with the rights of that role and no others:
#
#   webhook, worker, api, loader,           functions run as these; each reads the
#   migrate, reconciler                     secrets of its functions
#   gateway                                 calls the functions behind a gateway
#   trigger                                 calls workers and timers; reads queues
#   queue                                   sends hints; its key is the functions'
#   drain                                   reads what is dead of them, too; its key is the
#                                           reconciler's alone: whoever reads may delete

locals {
  function_roles = ["webhook", "worker", "api", "loader", "migrate", "reconciler"]
  roles          = toset(concat(local.function_roles, ["gateway", "trigger", "queue", "drain"]))
}

resource "yandex_iam_service_account" "this" {
  for_each    = local.roles
  name        = "${var.name}-${each.key}"
  description = "Role of the support platform: ${each.key}"
}

locals {
  accounts = { for role, account in yandex_iam_service_account.this : role => account.id }
}

resource "yandex_resourcemanager_folder_iam_member" "this" {
  for_each = merge(
    {
      "queue sends"   = { account = "queue", role = "ymq.writer" }
      "drain sends"   = { account = "drain", role = "ymq.writer" }
      "drain reads"   = { account = "drain", role = "ymq.reader" }
      "trigger reads" = { account = "trigger", role = "ymq.reader" }
    },
    { for role in local.function_roles : "${role} in the network" => { account = role, role = "vpc.user" } },
    { for role in local.function_roles : "${role} writes its log" => { account = role, role = "logging.writer" } },
    { "gateway writes its log" = { account = "gateway", role = "logging.writer" } },
  )
  folder_id = var.folder_id
  role      = each.value.role
  member    = "serviceAccount:${local.accounts[each.value.account]}"
}

# Each function's account reads the secrets that its functions take, one by one.
resource "yandex_lockbox_secret_iam_member" "reader" {
  for_each  = merge([for role, groups in local.readers : { for group in groups : "${role} ${group}" => { role = role, group = group } }]...)
  secret_id = yandex_lockbox_secret.this[each.value.group].id
  role      = "lockbox.payloadViewer"
  member    = "serviceAccount:${local.accounts[each.value.role]}"
}

locals {
  # Role of a function -> groups of secrets that its functions take.
  readers = { for role in distinct([for f in local.functions : f.role]) : role => distinct(flatten([
    for f in local.functions : [for name in f.secrets : local.group_of[name]] if f.role == role
  ])) }
}
