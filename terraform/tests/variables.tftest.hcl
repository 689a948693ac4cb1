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
