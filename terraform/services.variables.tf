# The services that the platform talks to. Whatever is empty is left out: of
# Telegram and VK at least one has to be there.

variable "telegram_token" {
  description = "Token of the bot, from @BotFather; empty: no Telegram."
  type        = string
  default     = ""
  sensitive   = true
  validation {
    condition     = var.telegram_token == "" || can(regex("^[0-9]+:[A-Za-z0-9_-]{30,}$", var.telegram_token))
    error_message = "telegram_token has the form 123456:ABC-DEF..."
  }
}

variable "telegram_webhook_secret" {
  description = "What Telegram sends with each update: any 1 to 256 of letters, digits, _ and -; two, comma separated, while one replaces the other."
  type        = string
  default     = ""
  sensitive   = true
  validation {
    condition     = (var.telegram_token == "") == (var.telegram_webhook_secret == "")
    error_message = "telegram_token and telegram_webhook_secret go together."
  }
  validation {
    condition     = can(regex("^([A-Za-z0-9_-]{1,256}(,[A-Za-z0-9_-]{1,256})?)?$", var.telegram_webhook_secret))
    error_message = "telegram_webhook_secret has letters, digits, _ and - only (openssl rand -hex 24)."
  }
}

variable "telegram_username" {
  description = "The bot's name, to know mentions in groups."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^([A-Za-z][A-Za-z0-9_]{3,31})?$", var.telegram_username))
    error_message = "telegram_username is the bot's name without @: 4 to 32 letters, digits and _."
  }
}

variable "vk_token" {
  description = "Token of the community; empty: no VK."
  type        = string
  default     = ""
  sensitive   = true
  validation {
    condition     = var.telegram_token != "" || var.vk_token != ""
    error_message = "Neither telegram_token nor vk_token is set: customers need a messenger."
  }
  validation {
    condition     = can(regex("^([A-Za-z0-9._-]{7,})?$", var.vk_token))
    error_message = "vk_token is the community's token, like vk1.a.AbC-dEf..., and has letters, digits, dots, _ and - only."
  }
}

variable "vk_group_id" {
  description = "Number of the community."
  type        = string
  default     = ""
  validation {
    condition     = (var.vk_token == "") == (var.vk_group_id == "") && can(regex("^[0-9]*$", var.vk_group_id))
    error_message = "vk_group_id is the community's number, and goes together with vk_token."
  }
}

variable "vk_secret" {
  description = "What VK sends with each event; two, comma separated, while one replaces the other."
  type        = string
  default     = ""
  sensitive   = true
  validation {
    condition     = (var.vk_token == "") == (var.vk_secret == "") && can(regex("^([A-Za-z0-9]{1,50}(,[A-Za-z0-9]{1,50})?)?$", var.vk_secret))
    error_message = "vk_secret has up to 50 letters and digits, and goes together with vk_token."
  }
}

variable "vk_confirmation" {
  description = "The string that VK wants to hear from the server; make connect prints it."
  type        = string
  default     = ""
  sensitive   = true
  validation {
    condition     = (var.vk_token == "") == (var.vk_confirmation == "")
    error_message = "vk_confirmation goes together with vk_token."
  }
}

variable "tracker_token" {
  description = "OAuth token of the robot's account."
  type        = string
  sensitive   = true
  validation {
    condition     = var.tracker_token != ""
    error_message = "tracker_token is empty."
  }
}

variable "tracker_org_id" {
  description = "Organisation of Yandex 360."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^[0-9]*$", var.tracker_org_id))
    error_message = "tracker_org_id is a number, as Tracker's administration page shows it; that of Yandex Cloud goes into tracker_cloud_org_id."
  }
}

variable "tracker_cloud_org_id" {
  description = "Organisation of Yandex Cloud."
  type        = string
  default     = ""
  validation {
    condition     = (var.tracker_org_id == "") != (var.tracker_cloud_org_id == "")
    error_message = "One of tracker_org_id and tracker_cloud_org_id is needed."
  }
  validation {
    condition     = can(regex("^([a-z][a-z0-9]{2,49})?$", var.tracker_cloud_org_id))
    error_message = "tracker_cloud_org_id is an id like bpf0123456789abcdefgh; a number goes into tracker_org_id."
  }
}

variable "tracker_queue" {
  description = "Key of the queue for tickets."
  type        = string
  validation {
    condition     = can(regex("^[A-Z][A-Z0-9]{0,14}$", var.tracker_queue))
    error_message = "tracker_queue is a queue's key, like SUPPORT."
  }
}

variable "tracker_webhook_secret" {
  description = "What Tracker's triggers send in X-Webhook-Secret; two, comma separated, while one replaces the other."
  type        = string
  sensitive   = true
  validation {
    condition     = can(regex("^[A-Za-z0-9_-]{16,}(,[A-Za-z0-9_-]{16,})?$", var.tracker_webhook_secret))
    error_message = "tracker_webhook_secret has at least 16 letters, digits, _ and - (openssl rand -hex 24)."
  }
}

variable "history_since" {
  description = "The day since when Tracker's history is loaded into the analytics; it begins with the deployment, and goes on by itself until it is done."
  type        = string
  default     = "2020-01-01"
  validation {
    condition     = can(formatdate("YYYY", "${var.history_since}T00:00:00Z"))
    error_message = "history_since is a day like 2025-01-01."
  }
}

variable "analytics_cron" {
  description = "When the analytics are loaded, by UTC: minutes, hours, day of month, month, day of week, year, of which one of the two days is ?. Every hour."
  type        = string
  default     = "0 * ? * * *"
  validation {
    condition     = can(regex("^\\S+ \\S+ (\\? \\S+ [^? ]\\S*|[^? ]\\S* \\S+ \\?) \\S+$", var.analytics_cron))
    error_message = "analytics_cron has six fields like 0 * ? * * * (minutes, hours, day of month, month, day of week, year), one of the days ?."
  }
}

variable "operator_chat" {
  description = "Where alarms go: telegram:<chat> or vk:<peer>; empty: nowhere."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^((telegram|vk):-?[0-9]+)?$", var.operator_chat))
    error_message = "operator_chat has the form telegram:123456 or vk:123456."
  }
  validation {
    condition     = !(startswith(var.operator_chat, "telegram:") && var.telegram_token == "") && !(startswith(var.operator_chat, "vk:") && var.vk_token == "")
    error_message = "operator_chat is a chat of a messenger that is left out."
  }
}

variable "staff" {
  description = "Who may do more than a customer: account -> roles (agent, admin, analyst, operator), like { \"telegram:123456\" = [\"admin\"] }. Who has not written yet has them from the first message on; who is taken out of the list loses them."
  type        = map(list(string))
  default     = {}
  validation {
    condition     = alltrue([for account in keys(var.staff) : can(regex("^(telegram|vk):[1-9][0-9]*$", account))])
    error_message = "staff has accounts like telegram:123456 or vk:123456: the number and not the name."
  }
  validation {
    condition     = alltrue([for roles in values(var.staff) : length(roles) > 0 && length(setsubtract(roles, ["agent", "admin", "analyst", "operator"])) == 0])
    error_message = "The roles of staff are agent, admin, analyst and operator; each account has one at least."
  }
}

variable "api_keys" {
  description = "Keys of the API: name -> role (admin, analyst, operator) and SHA-256 of the key (README, Who may do what). One that is taken out opens nothing any more."
  type        = map(object({ role = string, sha256 = string }))
  default     = {}
  validation {
    condition     = alltrue([for name, key in var.api_keys : contains(["admin", "analyst", "operator"], key.role) && can(regex("^[0-9a-f]{64}$", key.sha256))])
    error_message = "api_keys has for each name a role (admin, analyst, operator) and the 64 digits that sha256sum prints, never the key itself."
  }
}

variable "settings" {
  description = "Other variables of the functions (README, Variables), like TIME_ZONE or CATALOGUE."
  type        = map(string)
  default     = {}
  validation {
    condition     = alltrue([for name in keys(var.settings) : can(regex("^[A-Z][A-Z0-9_]*$", name)) && !can(regex("(TOKEN|SECRET|PASSWORD|_KEY|_URL)$", name))])
    error_message = "settings has names like TIME_ZONE; secrets and addresses have variables of their own."
  }
}
