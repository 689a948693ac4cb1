# A message is a hint to a row of Postgres (the job) and holds nothing itself. It may
# come twice or get lost: the reconciler finds rows without one.

locals {
  queues = {
    # What customers ask for. The customer has the confirmation already, so waiting a
    # second for company costs nobody anything and saves calls when many write.
    tickets = { function = "ticket-worker", batch_size = 10, batch_cutoff = 1 }
    # Tracker's news and answers to customers: a second likewise is not felt by
    # somebody who has waited for a person.
    deliveries = { function = "tracker-worker", batch_size = 10, batch_cutoff = 1 }
    # Batches of a broadcast: each takes a call's whole time, so they never share one.
    broadcasts = { function = "notification-worker", batch_size = 1, batch_cutoff = 1 }
  }
  # A worker stops some seconds before its function's time-out (shared/job), and a
  # message stays out of sight this long after it: nobody else gets what is still
  # worked on.
  visibility_margin = 60
  # A message comes back only if a call broke. What breaks five calls is a dead letter:
  # the reconciler takes it into the database, where a person finds it, and its job
  # goes on without it.
  receives = 5
}

resource "yandex_message_queue" "this" {
  for_each                   = local.queues
  name                       = "${var.name}-${each.key}"
  visibility_timeout_seconds = local.functions[each.value.function].timeout + local.visibility_margin
  message_retention_seconds  = 4 * 24 * 3600
  receive_wait_time_seconds  = 20
  redrive_policy = jsonencode({
    deadLetterTargetArn = yandex_message_queue.dead[each.key].arn
    maxReceiveCount     = local.receives
  })
}

resource "yandex_message_queue" "dead" {
  for_each                  = local.queues
  name                      = "${var.name}-${each.key}-dead"
  message_retention_seconds = 14 * 24 * 3600
}
