terraform {
  required_version = ">= 1.9" # a variable's validation that looks at others
  required_providers {
    yandex = {
      source  = "yandex-cloud/yandex"
      version = ">= 0.213, < 1.0"
    }
  }
}

# Who deploys is said by the environment: YC_TOKEN or YC_SERVICE_ACCOUNT_KEY_FILE.
# Queues are made over Message Queue's own protocol, which knows static keys only:
# YC_MESSAGE_QUEUE_ACCESS_KEY and YC_MESSAGE_QUEUE_SECRET_KEY.
provider "yandex" {
  folder_id = var.folder_id
  zone      = var.zones[0]
}
