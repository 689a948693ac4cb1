package reproduce

import (
	"encoding/base64"
	"encoding/json"

	"supportbot/shared/sandbox"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/vk"
)

// author is who did what an update of Telegram's tells.
type author struct {
	From struct {
		ID        int64  `json:"id"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
		Username  string `json:"username"`
		Language  string `json:"language_code"`
	} `json:"from"`
}

// authors is where the events of both messengers say whose they are.
type authors struct {
	Message       author `json:"message"`
	EditedMessage author `json:"edited_message"`
	CallbackQuery author `json:"callback_query"`
	MyChatMember  author `json:"my_chat_member"`
	Object        struct {
		UserID  int64 `json:"user_id"`
		FromID  int64 `json:"from_id"`
		Message struct {
			FromID int64 `json:"from_id"`
		} `json:"message"`
	} `json:"object"`
}

// acquaint makes the customer of an event known to the stand-in, which would answer
// a stranger's chat with "chat not found".
func acquaint(r *sandbox.Running, e Event) {
	var in authors
	_ = json.Unmarshal(e.body(), &in) // of an event without a body there is nobody
	if r.Telegram != nil {
		for _, a := range []author{in.Message, in.EditedMessage, in.CallbackQuery, in.MyChatMember} {
			if u := a.From; u.ID > 0 {
				r.Telegram.Customer(telegram.User{ID: u.ID, FirstName: u.FirstName, LastName: u.LastName, Username: u.Username, Language: u.Language, Started: true})
			}
		}
	}
	if r.VK != nil {
		for _, id := range []int64{in.Object.UserID, in.Object.FromID, in.Object.Message.FromID} {
			if id > 0 {
				r.VK.Customer(vk.User{ID: id, Allowed: true})
			}
		}
	}
}

// body is the body of an HTTP event.
func (e Event) body() []byte {
	var event struct {
		Body   string `json:"body"`
		Packed bool   `json:"isBase64Encoded"`
	}
	if json.Unmarshal(e.Raw, &event) != nil || !event.Packed {
		return []byte(event.Body)
	}
	plain, err := base64.StdEncoding.DecodeString(event.Body)
	if err != nil {
		return nil
	}
	return plain
}
