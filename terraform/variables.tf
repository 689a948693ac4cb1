variable "folder_id" {
  description = "The folder of Yandex Cloud that everything is made in."
  type        = string
  validation {
    condition     = can(regex("^[a-z][a-z0-9]{3,49}$", var.folder_id))
    error_message = "folder_id is the folder's id, like b1g0123456789abcdefg, not its name."
  }
}

variable "name" {
  description = "What the names of all resources begin with; another one for each environment of a folder."
  type        = string
  default     = "support"
  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,20}[a-z0-9]$", var.name))
    error_message = "name has 3 to 22 small letters, digits and hyphens, and begins with a letter."
  }
}

variable "size" {
  description = "dev: one small host of each database; prod: Postgres and Valkey with a second host each, longer retention, protection against deletion."
  type        = string
  default     = "dev"
  validation {
    condition     = contains(["dev", "prod"], var.size)
    error_message = "size is dev or prod."
  }
}

variable "zones" {
  description = "Availability zones; the first holds what has only one host."
  type        = list(string)
  default     = ["ru-central1-a", "ru-central1-b", "ru-central1-d"]
  validation {
    condition     = length(var.zones) > 1 && length(var.zones) == length(distinct(var.zones))
    error_message = "zones has at least two different zones: functions run in all of them."
  }
}

variable "network_id" {
  description = "An existing network with a subnet in each zone (subnet_ids), for databases that are there already; empty: one is made."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^([a-z][a-z0-9]{3,49})?$", var.network_id))
    error_message = "network_id is the network's id, like enp0123456789abcdefgh, not its name."
  }
  validation {
    condition     = var.network_id != "" || var.database_url == "" || var.redis_url == "" || var.clickhouse_url == ""
    error_message = "network_id is needed where no database is made: the cloud connects functions only to a network in which something has an address, so name the one that the databases live in."
  }
}

variable "subnet_ids" {
  description = "With network_id: the subnet of each zone, in the order of zones."
  type        = list(string)
  default     = []
  validation {
    condition     = var.network_id == "" ? length(var.subnet_ids) == 0 : length(var.subnet_ids) == length(var.zones)
    error_message = "subnet_ids goes with network_id, and has one subnet for each of zones."
  }
}

variable "archives" {
  description = "The folder with the functions' archives (make package)."
  type        = string
  default     = "../build"
}

variable "archive_most" {
  description = "Bytes that a function's archive may have. The default is the cloud's limit without a bucket: ours are far below it, so one above carries what it should not."
  type        = number
  default     = 3670016
  validation {
    condition     = var.archive_most > 0 && var.archive_most <= 134217728
    error_message = "archive_most: 1 to 134217728 bytes (128 MB, the cloud's limit for archives in a bucket)."
  }
}

variable "migrate" {
  description = "Whether apply invokes the migration; false: whoever deploys does it before functions serve (terraform/invoke)."
  type        = bool
  default     = true
}

# Databases that are there already. Each is used in place of one that is made.

variable "database_url" {
  description = "Postgres 15 or newer for the functions; a transaction pooler may stand before it. Empty: a cluster is made."
  type        = string
  default     = ""
  sensitive   = true
  validation {
    condition     = var.database_url == "" || can(regex("^postgres(ql)?://", var.database_url))
    error_message = "database_url begins with postgres://."
  }
}

variable "migrate_database_url" {
  description = "With database_url: the same database for migrations, by a user who may change the schema and without a transaction pooler."
  type        = string
  default     = ""
  sensitive   = true
  validation {
    condition     = (var.database_url == "") == (var.migrate_database_url == "")
    error_message = "database_url and migrate_database_url go together."
  }
  validation {
    condition     = var.migrate_database_url == "" || can(regex("^postgres(ql)?://", var.migrate_database_url))
    error_message = "migrate_database_url begins with postgres://."
  }
}

variable "redis_url" {
  description = "Redis 7 or newer, or Valkey; rediss:// for TLS. Empty: a cluster is made."
  type        = string
  default     = ""
  sensitive   = true
  validation {
    condition     = var.redis_url == "" || can(regex("^rediss?://", var.redis_url))
    error_message = "redis_url begins with redis:// or rediss://."
  }
}

variable "clickhouse_url" {
  description = "ClickHouse over HTTPS for analytics. Empty: a cluster of one host is made."
  type        = string
  default     = ""
  sensitive   = true
  validation {
    condition     = var.clickhouse_url == "" || can(regex("^https?://", var.clickhouse_url))
    error_message = "clickhouse_url is of the HTTP interface: https://user:password@host:8443/database."
  }
}

variable "clickhouse_cluster" {
  description = "With clickhouse_url: the cluster on whose hosts tables are made, replicated; empty: a single host."
  type        = string
  default     = ""
  validation {
    condition     = var.clickhouse_cluster == "" || var.clickhouse_url != "" && can(regex("^[A-Za-z0-9_.{}-]+$", var.clickhouse_cluster))
    error_message = "clickhouse_cluster is a cluster's name, like main or {cluster}, and goes with clickhouse_url: what is made here has one host."
  }
}

variable "database_password" {
  description = "Password of the databases that are made."
  type        = string
  default     = ""
  sensitive   = true
  validation {
    condition     = var.database_password == "" || can(regex("^[A-Za-z0-9]{16,64}$", var.database_password))
    error_message = "database_password has 16 to 64 letters and digits: it stands in addresses (openssl rand -hex 24)."
  }
  validation {
    condition     = var.database_password != "" || (var.database_url != "" && var.redis_url != "" && var.clickhouse_url != "")
    error_message = "database_password is needed unless all three databases are there already (openssl rand -hex 24)."
  }
}
