# What is wrong is refused before anything is made, and says what to mend.

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

run "folder_by_name" {
  command = plan
  variables {
    folder_id = "My Folder"
  }
  expect_failures = [var.folder_id]
}

run "size" {
  command = plan
  variables {
    size = "huge"
  }
  expect_failures = [var.size]
}

run "name" {
  command = plan
  variables {
    name = "Support_1"
  }
  expect_failures = [var.name]
}

run "one_zone" {
  command = plan
  variables {
    zones = ["ru-central1-a"]
  }
  expect_failures = [var.zones]
}

run "subnets_without_network" {
  command = plan
  variables {
    subnet_ids = ["e9b0"]
  }
  expect_failures = [var.subnet_ids]
}

run "short_password" {
  command = plan
  variables {
    database_password = "short"
  }
  expect_failures = [var.database_password]
}

run "no_password" {
  command = plan
  variables {
    database_password = ""
  }
  expect_failures = [var.database_password]
}

run "pooler_only" {
  command = plan
  variables {
    database_url = "postgres://a:b@c/d"
  }
  expect_failures = [var.migrate_database_url]
}

run "native_clickhouse" {
  command = plan
  variables {
    clickhouse_url = "clickhouse://a:b@c:9440/d"
  }
  expect_failures = [var.clickhouse_url]
}

run "no_messenger" {
  command = plan
  variables {
    telegram_token          = ""
    telegram_webhook_secret = ""
  }
  expect_failures = [var.vk_token]
}

run "token_without_secret" {
  command = plan
  variables {
    telegram_webhook_secret = ""
  }
  expect_failures = [var.telegram_webhook_secret]
}

run "bad_secret" {
  command = plan
  variables {
    telegram_webhook_secret = "a secret"
  }
  expect_failures = [var.telegram_webhook_secret]
}

run "vk_half" {
  command = plan
  variables {
    vk_token = "vk1.a.t"
  }
  expect_failures = [var.vk_group_id, var.vk_secret, var.vk_confirmation]
}

run "two_organisations" {
  command = plan
  variables {
    tracker_cloud_org_id = "bpf"
  }
  expect_failures = [var.tracker_cloud_org_id]
}

run "queue" {
  command = plan
  variables {
    tracker_queue = "sup"
  }
  expect_failures = [var.tracker_queue]
}

run "short_trigger_secret" {
  command = plan
  variables {
    tracker_webhook_secret = "short"
  }
  expect_failures = [var.tracker_webhook_secret]
}

run "since" {
  command = plan
  variables {
    history_since = "yesterday"
  }
  expect_failures = [var.history_since]
}

run "five_fields_of_cron" {
  command = plan
  variables {
    analytics_cron = "0 * * * *"
  }
  expect_failures = [var.analytics_cron]
}

run "both_days_of_cron" {
  command = plan
  variables {
    analytics_cron = "0 * * * * *"
  }
  expect_failures = [var.analytics_cron]
}

run "nothing_before_the_comma" {
  command = plan
  variables {
    telegram_webhook_secret = ",telegram-secret-0123"
  }
  expect_failures = [var.telegram_webhook_secret]
}

run "secret_as_setting" {
  command = plan
  variables {
    settings = { TRACKER_TOKEN = "x" }
  }
  expect_failures = [var.settings]
}

run "operator_chat" {
  command = plan
  variables {
    operator_chat = "@ivan"
  }
  expect_failures = [var.operator_chat]
}

run "network_by_name" {
  command = plan
  variables {
    network_id = "my-network"
    subnet_ids = ["a", "b", "c"]
  }
  expect_failures = [var.network_id]
}

run "databases_without_network" {
  command = plan
  variables {
    database_password    = ""
    database_url         = "postgres://app:x@db.example:6432/support"
    migrate_database_url = "postgres://owner:x@db.example:5432/support"
    redis_url            = "redis://:x@redis.example:6379/0"
    clickhouse_url       = "https://app:x@ch.example:8443/analytics"
  }
  expect_failures = [var.network_id]
}

run "another_database" {
  command = plan
  variables {
    database_url         = "mysql://a:b@c/d"
    migrate_database_url = "postgres://a:b@c/d"
  }
  expect_failures = [var.database_url]
}

run "another_database_for_migrations" {
  command = plan
  variables {
    database_url         = "postgres://a:b@c/d"
    migrate_database_url = "mysql://a:b@c/d"
  }
  expect_failures = [var.migrate_database_url]
}

run "redis_over_http" {
  command = plan
  variables {
    redis_url = "https://a:b@c:6379"
  }
  expect_failures = [var.redis_url]
}

run "cluster_of_nobody" {
  command = plan
  variables {
    clickhouse_cluster = "main"
  }
  expect_failures = [var.clickhouse_cluster]
}

run "cluster_with_a_quote" {
  command = plan
  variables {
    clickhouse_cluster = "ma'in"
    clickhouse_url     = "https://a:b@c:8443/d"
  }
  expect_failures = [var.clickhouse_cluster]
}

run "archives_of_nothing" {
  command = plan
  variables {
    archive_most = 0
  }
  expect_failures = [var.archive_most]
}

run "archives_above_the_buckets_limit" {
  command = plan
  variables {
    archive_most = 134217729
  }
  expect_failures = [var.archive_most]
}

run "vk_token_with_a_space" {
  command = plan
  variables {
    vk_token        = "vk1.a token"
    vk_group_id     = "209"
    vk_secret       = "vksecret0123"
    vk_confirmation = "c0nf1rm"
  }
  expect_failures = [var.vk_token]
}

run "vk_group_by_name" {
  command = plan
  variables {
    vk_token        = "vk1.a.token"
    vk_group_id     = "public209"
    vk_secret       = "vksecret0123"
    vk_confirmation = "c0nf1rm"
  }
  expect_failures = [var.vk_group_id]
}

run "username_with_at" {
  command = plan
  variables {
    telegram_username = "@support_bot"
  }
  expect_failures = [var.telegram_username]
}

run "organisation_of_the_cloud_as_a_number" {
  command = plan
  variables {
    tracker_org_id       = ""
    tracker_cloud_org_id = "77"
  }
  expect_failures = [var.tracker_cloud_org_id]
}

run "organisation_of_360_as_an_id" {
  command = plan
  variables {
    tracker_org_id = "bpf0123456789abcdefgh"
  }
  expect_failures = [var.tracker_org_id]
}

run "operators_in_a_messenger_left_out" {
  command = plan
  variables {
    operator_chat = "vk:5"
  }
  expect_failures = [var.operator_chat]
}

run "setting_in_small_letters" {
  command = plan
  variables {
    settings = { time_zone = "Asia/Omsk" }
  }
  expect_failures = [var.settings]
}

run "staff_by_name" {
  command = plan
  variables {
    staff = { "telegram:@ivan" = ["admin"] }
  }
  expect_failures = [var.staff]
}

run "staff_without_roles" {
  command = plan
  variables {
    staff = { "telegram:1" = [] }
  }
  expect_failures = [var.staff]
}

run "staff_of_another_role" {
  command = plan
  variables {
    staff = { "vk:1" = ["king"] }
  }
  expect_failures = [var.staff]
}

run "key_instead_of_its_hash" {
  command = plan
  variables {
    api_keys = { doctor = { role = "operator", sha256 = "secret" } }
  }
  expect_failures = [var.api_keys]
}

run "key_of_an_agent" {
  command = plan
  variables {
    api_keys = { doctor = { role = "agent", sha256 = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a" } }
  }
  expect_failures = [var.api_keys]
}
