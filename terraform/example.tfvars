# Copy to my.auto.tfvars, which git ignores, and fill in. make secrets prints the
# lines that only have to be random.

folder_id = "b1g..."
size      = "dev"

# Telegram: from @BotFather. Without Telegram leave both out.
telegram_token          = "123456:ABC..."
telegram_webhook_secret = "" # make secrets

# VK: without VK leave all four out. What VK wants to hear from the server stands in
# the community's settings, Callback API; make connect prints it, too.
# vk_token        = "vk1.a...."
# vk_group_id     = "123456789"
# vk_secret       = "" # make secrets
# vk_confirmation = "1a2b3c4d"

# Tracker
tracker_token          = "y0_..."
tracker_org_id         = "1234567" # or tracker_cloud_org_id
tracker_queue          = "SUPPORT"
tracker_webhook_secret = "" # make secrets

database_password = "" # make secrets

# Who may do what, from the first message on: the number of an account.
# staff = { "telegram:123456" = ["admin"] }

# Other variables of the functions
settings = {
  TIME_ZONE = "Europe/Moscow"
}
