output "webhooks" {
  description = "Where the services call; make connect tells them."
  value = merge(
    local.has.telegram ? { telegram = "https://${yandex_api_gateway.webhooks.domain}/telegram" } : {},
    local.has.vk ? { vk = "https://${yandex_api_gateway.webhooks.domain}/vk" } : {},
    { tracker = "https://${yandex_api_gateway.webhooks.domain}/tracker" },
  )
}

output "console" {
  description = "Where people reach the console; the bot's /console gives each a link of their own."
  value       = local.console_url
}

output "api" {
  description = "Where programs reach the API."
  value       = "https://${yandex_api_gateway.console.domain}/v1"
}

output "dashboard" {
  description = "The dashboard in Monitoring."
  value       = "https://monitoring.yandex.cloud/folders/${var.folder_id}/dashboards/${yandex_monitoring_dashboard.this.dashboard_id}"
}

output "next" {
  description = "What is left to do."
  value       = <<-EOT
    1. Raise the quota of concurrent calls (10 per zone by default) before customers come:
       https://console.yandex.cloud/cloud?section=quotas, serverless.request.count.
    2. make connect WEBHOOKS=https://${yandex_api_gateway.webhooks.domain}
       tells Telegram, VK and Tracker where the platform is.
    3. make doctor WEBHOOKS=https://${yandex_api_gateway.webhooks.domain} CONSOLE=https://${yandex_api_gateway.console.domain} ${join(" ", [for name, queue in yandex_message_queue.this : "QUEUE_URL_${upper(name)}=${queue.id}"])}
       looks whether all of it works; with API_KEY=..., a key of the role operator, also
       at what waits for a person and at the databases (README, Who may do what).
  EOT
}
