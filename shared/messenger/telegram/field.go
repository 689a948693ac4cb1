package telegram

// The fields of a Message (core.telegram.org/bots/api#message), in four groups;
// what is in none of them is content that nothing here can carry.
var (
	// envelopeFields say where a message comes from and how it is shown.
	envelopeFields = []string{
		"message_id", "message_thread_id", "direct_messages_topic", "from", "sender_chat", "sender_boost_count",
		"sender_business_bot", "sender_tag", "date", "guest_query_id", "business_connection_id", "chat",
		"forward_origin", "forward_from", "forward_from_chat", "forward_from_message_id", "forward_signature",
		"forward_sender_name", "forward_date", "is_topic_message", "is_automatic_forward", "reply_to_message",
		"external_reply", "quote", "reply_to_story", "reply_to_checklist_task_id", "reply_to_poll_option_id", "via_bot",
		"guest_bot_caller_user", "guest_bot_caller_chat", "edit_date", "has_protected_content", "is_from_offline",
		"is_paid_post", "media_group_id", "author_signature", "paid_star_count", "entities", "link_preview_options",
		"suggested_post_info", "effect_id", "caption_entities", "show_caption_above_media", "has_media_spoiler",
		"reply_markup",
	}
	// contentFields are those that reach the ticket.
	contentFields = []string{
		"text", "caption", "animation", "audio", "document", "live_photo", "photo", "sticker", "video", "video_note",
		"voice", "checklist", "contact", "dice", "game", "poll", "venue", "location",
	}
	// lostFields are those that cannot.
	lostFields = []string{"story", "paid_media", "giveaway", "giveaway_winners", "invoice"}
	// serviceFields say that something happened.
	serviceFields = []string{
		"new_chat_members", "new_chat_member", "new_chat_participant", "left_chat_member", "left_chat_participant",
		"chat_owner_left", "chat_owner_changed", "new_chat_title", "new_chat_photo", "delete_chat_photo",
		"group_chat_created", "supergroup_chat_created", "channel_chat_created", "message_auto_delete_timer_changed",
		"migrate_to_chat_id", "migrate_from_chat_id", "pinned_message", "successful_payment", "refunded_payment",
		"users_shared", "user_shared", "chat_shared", "gift", "unique_gift", "gift_upgrade_sent", "connected_website",
		"write_access_allowed", "passport_data", "proximity_alert_triggered", "boost_added", "chat_background_set",
		"checklist_tasks_done", "checklist_tasks_added", "direct_message_price_changed", "forum_topic_created",
		"forum_topic_edited", "forum_topic_closed", "forum_topic_reopened", "general_forum_topic_hidden",
		"general_forum_topic_unhidden", "giveaway_created", "giveaway_completed", "managed_bot_created",
		"paid_message_price_changed", "poll_option_added", "poll_option_deleted", "suggested_post_approved",
		"suggested_post_approval_failed", "suggested_post_declined", "suggested_post_paid", "suggested_post_refunded",
		"video_chat_scheduled", "video_chat_started", "video_chat_ended", "video_chat_participants_invited",
		"voice_chat_scheduled", "voice_chat_started", "voice_chat_ended", "voice_chat_participants_invited",
		"web_app_data",
	}
)
