package telegram

// methods gives the methods that the server knows. The rest of the Bot API is
// answered like a method that does not exist.
func methods() map[string]handler {
	m := map[string]handler{
		"getMe": (*Server).getMe, "getChat": (*Server).getChat,
		"setWebhook": (*Server).setWebhook, "deleteWebhook": (*Server).deleteWebhook,
		"getWebhookInfo": (*Server).getWebhookInfo,
		"sendMessage":    (*Server).sendMessage, "sendMediaGroup": (*Server).sendMediaGroup,
		"sendLocation": (*Server).sendLocation, "sendVenue": (*Server).sendVenue, "sendContact": (*Server).sendContact,
		"editMessageText": (*Server).editMessageText, "editMessageCaption": (*Server).editMessageCaption,
		"editMessageReplyMarkup": (*Server).editMessageReplyMarkup, "deleteMessage": (*Server).deleteMessage,
		"answerCallbackQuery": (*Server).answerCallbackQuery, "sendChatAction": (*Server).sendChatAction,
		"getFile": (*Server).getFile,
	}
	for name, kind := range sendMethods() {
		m[name] = func(s *Server, c *call) (any, *refusal) { return s.sendFile(c, kind) }
	}
	for name, h := range profileMethods() {
		m[name] = profileMethod(h)
	}
	m["getUpdates"] = func(*Server, *call) (any, *refusal) { return []any{}, nil } // runs without the lock
	return m
}

// sendMethods maps the methods that send one file to the kind of file.
func sendMethods() map[string]string {
	return map[string]string{
		"sendPhoto": photo, "sendDocument": document, "sendVideo": video, "sendAudio": audio, "sendVoice": voice,
		"sendAnimation": animation, "sendSticker": sticker, "sendVideoNote": videoNote,
	}
}
