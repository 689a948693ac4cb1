locals {
  # Which databases are made. Only whether an address is set is no secret.
  make = {
    postgres   = nonsensitive(var.database_url == "")
    valkey     = nonsensitive(var.redis_url == "")
    clickhouse = nonsensitive(var.clickhouse_url == "")
  }
  sizes = {
    dev = {
      hosts             = 1
      postgres_preset   = "c3-c2-m4", postgres_disk = 20, connections = 100
      valkey_preset     = "b3-c1-m4", valkey_disk = 16
      clickhouse_preset = "c3-c2-m4", clickhouse_disk = 20
      protected         = false, backups = 7
    }
    prod = {
      hosts             = 2
      postgres_preset   = "s3-c2-m8", postgres_disk = 50, connections = 200
      valkey_preset     = "hm3-c2-m8", valkey_disk = 32
      clickhouse_preset = "s3-c2-m8", clickhouse_disk = 100
      protected         = true, backups = 14
    }
  }
  size = local.sizes[var.size]
  # How early clusters are updated; of both sizes, since a cluster of another channel
  # ("environment") is another cluster: dev could not grow into prod with its data.
  channel = "PRODUCTION"
  zones   = slice(var.zones, 0, local.size.hosts)
  # The runtime has the certificate of the managed databases (Cloud Functions,
  # "Environment variables").
  ca = "/usr/local/share/ca-certificates/yandex-internal-ca.crt"
}

resource "yandex_mdb_postgresql_cluster_v2" "this" {
  count               = local.make.postgres ? 1 : 0
  name                = var.name
  environment         = local.channel
  network_id          = local.network_id
  security_group_ids  = [yandex_vpc_security_group.databases.id]
  deletion_protection = local.size.protected

  config {
    version = "16"
    resources {
      resource_preset_id = local.size.postgres_preset
      disk_type_id       = "network-ssd"
      disk_size          = local.size.postgres_disk
    }
    access                    = { serverless = true }
    backup_retain_period_days = local.size.backups
    postgresql_config = {
      max_connections = local.size.connections + 50 # those of migrations and of the service itself
    }
  }
  hosts              = { for zone in local.zones : zone => { zone = zone, subnet_id = local.subnets[zone] } }
  maintenance_window = { type = "WEEKLY", day = "SUN", hour = 2 }
}

# Functions come and go with their connections: a transaction has a connection of the
# pooler only while it lasts. The tables are the owner's, whose rights it has as a member.
resource "yandex_mdb_postgresql_user" "app" {
  count      = local.make.postgres ? 1 : 0
  cluster_id = yandex_mdb_postgresql_cluster_v2.this[0].id
  name       = "app"
  password   = var.database_password
  conn_limit = local.size.connections
  grants     = [yandex_mdb_postgresql_user.owner[0].name]
  settings   = { pool_mode = "transaction" }
  permission {
    database_name = yandex_mdb_postgresql_database.this[0].name
  }
}

# Migrations need a session: they take a lock that lasts.
resource "yandex_mdb_postgresql_user" "owner" {
  count      = local.make.postgres ? 1 : 0
  cluster_id = yandex_mdb_postgresql_cluster_v2.this[0].id
  name       = "owner"
  password   = var.database_password
  conn_limit = 10
  settings   = { pool_mode = "session" }
}

# It is protected by itself, since it would be deleted before its cluster.
resource "yandex_mdb_postgresql_database" "this" {
  count               = local.make.postgres ? 1 : 0
  cluster_id          = yandex_mdb_postgresql_cluster_v2.this[0].id
  name                = "support"
  owner               = yandex_mdb_postgresql_user.owner[0].name
  deletion_protection = local.size.protected
}

# Dialogs, sessions and the pace of sending: nothing may be thrown out to make room,
# what is old leaves by its own time.
resource "yandex_mdb_redis_cluster_v2" "this" {
  count               = local.make.valkey ? 1 : 0
  name                = var.name
  environment         = local.channel
  network_id          = local.network_id
  security_group_ids  = [yandex_vpc_security_group.databases.id]
  deletion_protection = local.size.protected
  tls_enabled         = true
  persistence_mode    = "ON"

  config = {
    version          = "8.0-valkey"
    password         = var.database_password
    maxmemory_policy = "NOEVICTION"
  }
  resources = {
    resource_preset_id = local.size.valkey_preset
    disk_size          = local.size.valkey_disk
  }
  hosts              = { for zone in local.zones : zone => { zone = zone, subnet_id = local.subnets[zone] } }
  maintenance_window = { type = "WEEKLY", day = "SUN", hour = 3 }
}

# One host in both sizes: what is lost with it is loaded from Tracker again, but the
# counts of messages and broadcasts, which its backups have. Who wants replicas names
# a cluster (clickhouse_url, clickhouse_cluster).
resource "yandex_mdb_clickhouse_cluster_v2" "this" {
  count               = local.make.clickhouse ? 1 : 0
  name                = var.name
  environment         = local.channel
  network_id          = local.network_id
  security_group_ids  = [yandex_vpc_security_group.databases.id]
  deletion_protection = local.size.protected

  clickhouse = {
    resources = {
      resource_preset_id = local.size.clickhouse_preset
      disk_type_id       = "network-ssd"
      disk_size          = local.size.clickhouse_disk
    }
  }
  access = { data_lens = true }
  shards = { shard1 = {} }
  hosts = {
    host1 = { type = "CLICKHOUSE", zone = var.zones[0], subnet_id = local.subnets[var.zones[0]], shard_name = "shard1" }
  }
  maintenance_window {
    type = "WEEKLY"
    day  = "SUN"
    hour = 4
  }
}

resource "yandex_mdb_clickhouse_database" "this" {
  count      = local.make.clickhouse ? 1 : 0
  cluster_id = yandex_mdb_clickhouse_cluster_v2.this[0].id
  name       = "analytics"
}

resource "yandex_mdb_clickhouse_user" "app" {
  count      = local.make.clickhouse ? 1 : 0
  cluster_id = yandex_mdb_clickhouse_cluster_v2.this[0].id
  name       = "app"
  password   = var.database_password
  permission {
    database_name = yandex_mdb_clickhouse_database.this[0].name
  }
}

locals {
  # A cluster's own name leads to the host that takes writes.
  postgres_host   = local.make.postgres ? "c-${yandex_mdb_postgresql_cluster_v2.this[0].id}.rw.mdb.yandexcloud.net:6432/${yandex_mdb_postgresql_database.this[0].name}?sslmode=verify-full&sslrootcert=${local.ca}" : ""
  valkey_host     = local.make.valkey ? "c-${yandex_mdb_redis_cluster_v2.this[0].cluster_id}.rw.mdb.yandexcloud.net:6380/0" : ""
  clickhouse_host = local.make.clickhouse ? "c-${yandex_mdb_clickhouse_cluster_v2.this[0].id}.rw.mdb.yandexcloud.net:8443/${yandex_mdb_clickhouse_database.this[0].name}" : ""

  database_url         = local.make.postgres ? "postgres://${yandex_mdb_postgresql_user.app[0].name}:${var.database_password}@${local.postgres_host}" : var.database_url
  migrate_database_url = local.make.postgres ? "postgres://${yandex_mdb_postgresql_user.owner[0].name}:${var.database_password}@${local.postgres_host}" : var.migrate_database_url
  redis_url            = local.make.valkey ? "rediss://:${var.database_password}@${local.valkey_host}" : var.redis_url
  clickhouse_url       = local.make.clickhouse ? "https://${yandex_mdb_clickhouse_user.app[0].name}:${var.database_password}@${local.clickhouse_host}" : var.clickhouse_url
}
