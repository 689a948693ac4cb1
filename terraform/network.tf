locals {
  network_id = var.network_id != "" ? var.network_id : yandex_vpc_network.this[0].id
  subnets    = var.network_id != "" ? zipmap(var.zones, var.subnet_ids) : { for zone, s in yandex_vpc_subnet.this : zone => s.id }

  # Functions come from here into a network that they are connected to, whatever the
  # network's own addresses are (Cloud Functions, "Networking").
  functions_cidr = "198.19.0.0/16"
}

resource "yandex_vpc_network" "this" {
  count = var.network_id == "" ? 1 : 0
  name  = var.name
}

resource "yandex_vpc_subnet" "this" {
  for_each       = var.network_id == "" ? { for i, zone in var.zones : zone => i } : {}
  name           = "${var.name}-${each.key}"
  zone           = each.key
  network_id     = local.network_id
  v4_cidr_blocks = [cidrsubnet("10.130.0.0/16", 8, each.value)]
}

# Nobody but the functions and the databases' own hosts reaches a database.
resource "yandex_vpc_security_group" "databases" {
  name       = "${var.name}-databases"
  network_id = local.network_id

  dynamic "ingress" {
    for_each = { Postgres = 6432, Valkey = 6380, ClickHouse = 8443 }
    content {
      description    = "${ingress.key} for the functions"
      protocol       = "TCP"
      port           = ingress.value
      v4_cidr_blocks = [local.functions_cidr]
    }
  }
  ingress {
    description       = "the clusters' hosts among themselves"
    protocol          = "ANY"
    predefined_target = "self_security_group"
    from_port         = 0
    to_port           = 65535
  }
  egress {
    description       = "the clusters' hosts among themselves"
    protocol          = "ANY"
    predefined_target = "self_security_group"
    from_port         = 0
    to_port           = 65535
  }
}
