package spec_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"supportbot/shared/spec"
)

func telegram(t *testing.T) *spec.TelegramSpec {
	t.Helper()
	dir, ok := spec.Dir(t, "telegram")
	if !ok {
		t.Skip("no specification")
	}
	s, err := spec.Telegram(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTelegram_NoDescription(t *testing.T) {
	t.Parallel()
	if _, err := spec.Telegram(t.TempDir()); err == nil {
		t.Error("an empty folder was taken for the description")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "api.json"), []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := spec.Telegram(dir); err == nil {
		t.Error("an empty file was taken for the description")
	}
}

func TestTelegram_Request(t *testing.T) {
	t.Parallel()
	s := telegram(t)
	for name, tt := range map[string]struct {
		method, params, files, want string
	}{
		"fine":              {"sendMessage", `{"chat_id":"2199023255553","text":"x","parse_mode":"HTML"}`, "", ""},
		"chat by name":      {"sendMessage", `{"chat_id":"@x","text":"x"}`, "", ""},
		"keyboard":          {"sendMessage", `{"chat_id":"1","text":"x","reply_markup":"{\"inline_keyboard\":[[{\"text\":\"a\",\"callback_data\":\"b\"}]]}"}`, "", ""},
		"ordinary keyboard": {"sendMessage", `{"chat_id":"1","text":"x","reply_markup":"{\"remove_keyboard\":true}"}`, "", ""},
		"keyboard is none":  {"sendMessage", `{"chat_id":"1","text":"x","reply_markup":"{\"inline_keyboard\":[[{\"label\":\"a\"}]]}"}`, "", "text is missing"},
		"entities":          {"sendMessage", `{"chat_id":"1","text":"x","entities":"[{\"type\":\"bold\",\"offset\":0,\"length\":1}]"}`, "", ""},
		"entity lacks":      {"sendMessage", `{"chat_id":"1","text":"x","entities":"[{\"type\":\"bold\",\"offset\":0}]"}`, "", "length is missing"},
		"null is nothing":   {"sendMessage", `{"chat_id":"1","text":"x","entities":"null"}`, "", ""},
		"no JSON":           {"sendMessage", `{"chat_id":"1","text":"x","entities":"[{"}`, "", "entities"},
		"missing":           {"sendMessage", `{"chat_id":"1"}`, "", "text is missing"},
		"unknown":           {"sendMessage", `{"chat_id":"1","text":"x","reply_to_message_id":"5"}`, "", "reply_to_message_id is not a parameter"},
		"not a number":      {"editMessageText", `{"chat_id":"1","message_id":"x","text":"x"}`, "", "message_id: is not a whole number"},
		"not a flag":        {"sendMessage", `{"chat_id":"1","text":"x","protect_content":"1"}`, "", "neither true nor false"},
		"not a float":       {"sendLocation", `{"chat_id":"1","latitude":"north","longitude":"1"}`, "", "latitude: is not a number"},
		"no method":         {"sendShout", `{}`, "", "no method"},
		"file":              {"sendDocument", `{"chat_id":"1"}`, `{"document":"a.txt"}`, ""},
		"file by id":        {"sendDocument", `{"chat_id":"1","document":"BQAC"}`, "", ""},
		"no file":           {"sendDocument", `{"chat_id":"1"}`, "", "document is missing"},
		"attached":          {"sendDocument", `{"chat_id":"1","document":"attach://f"}`, `{"f":"a.txt"}`, ""},
		"attached nothing":  {"sendDocument", `{"chat_id":"1","document":"attach://f"}`, "", "no file f is there"},
		"file for nothing":  {"sendDocument", `{"chat_id":"1","document":"BQAC"}`, `{"f":"a.txt"}`, "nothing refers to the file f"},
		"file in an album":  {"sendMediaGroup", `{"chat_id":"1","media":"[{\"type\":\"photo\",\"media\":\"attach://f\"},{\"type\":\"video\",\"media\":\"BAAC\"}]"}`, `{"f":"a.jpg"}`, ""},
		"album of nothing":  {"sendMediaGroup", `{"chat_id":"1","media":"[{\"type\":\"shoe\",\"media\":\"x\"}]"}`, "", "media"},
		"not UTF-8":         {"sendMessage", "{\"chat_id\":\"1\",\"text\":\"x\",\"parse_mode\":\"RAW\"}", "", "is not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var params, files map[string]string
			if err := json.Unmarshal([]byte(tt.params), &params); err != nil {
				t.Fatal(err)
			}
			if tt.files != "" {
				if err := json.Unmarshal([]byte(tt.files), &files); err != nil {
					t.Fatal(err)
				}
			}
			if params["parse_mode"] == "RAW" {
				params["parse_mode"] = "\xff"
			}
			judged(t, s.Request(tt.method, params, files), tt.want)
		})
	}
}

func TestTelegram_Answer(t *testing.T) {
	t.Parallel()
	s := telegram(t)
	const message = `{"message_id":1,"date":1,"chat":{"id":2199023255553,"type":"private"},"text":"x"`
	for name, tt := range map[string]struct{ method, body, want string }{
		"message":            {"sendMessage", `{"ok":true,"result":` + message + `}}`, ""},
		"message lacks":      {"sendMessage", `{"ok":true,"result":{"message_id":1,"date":1}}`, "chat is missing"},
		"unknown field":      {"sendMessage", `{"ok":true,"result":` + message + `,"colour":1}}`, "colour is not a field"},
		"wrong type":         {"sendMessage", `{"ok":true,"result":{"message_id":"1","date":1,"chat":{"id":1,"type":"private"}}}`, "want a whole number"},
		"fraction":           {"sendMessage", `{"ok":true,"result":{"message_id":1.5,"date":1,"chat":{"id":1,"type":"private"}}}`, "want a whole number"},
		"inside":             {"sendMessage", `{"ok":true,"result":` + message + `,"photo":[{"file_id":"a","file_unique_id":"b","width":1}]}}`, "height is missing"},
		"either":             {"editMessageText", `{"ok":true,"result":true}`, ""},
		"neither":            {"editMessageText", `{"ok":true,"result":"yes"}`, "answer of editMessageText"},
		"list":               {"getUpdates", `{"ok":true,"result":[{"update_id":1}]}`, ""},
		"no list":            {"getUpdates", `{"ok":true,"result":{}}`, "want a list"},
		"error":              {"sendMessage", `{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`, ""},
		"wait":               {"sendMessage", `{"ok":false,"error_code":429,"description":"x","parameters":{"retry_after":7}}`, ""},
		"wait in words":      {"sendMessage", `{"ok":false,"error_code":429,"description":"x","parameters":{"retry_after":"7"}}`, "retry_after"},
		"error lacks a code": {"sendMessage", `{"ok":false,"description":"x"}`, "error_code"},
		"neither ok nor not": {"sendMessage", `{"result":` + message + `}}`, "ok is missing"},
		"beside the result":  {"sendMessage", `{"ok":true,"result":` + message + `},"time":1}`, "time"},
		"no such method":     {"sendShout", `{"ok":false,"error_code":404,"description":"Not Found"}`, ""},
		"method made up":     {"sendShout", `{"ok":true,"result":true}`, "no such method"},
		"no JSON":            {"sendMessage", `<html>`, "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judged(t, s.Answer(tt.method, []byte(tt.body)), tt.want)
		})
	}
}

func TestTelegram_Update(t *testing.T) {
	t.Parallel()
	s := telegram(t)
	const (
		chat   = `"chat":{"id":1,"type":"private"}`
		user   = `{"id":1,"is_bot":false,"first_name":"A"}`
		bot    = `{"id":2,"is_bot":true,"first_name":"B"}`
		member = `"my_chat_member":{` + chat + `,"from":` + user + `,"date":1,"old_chat_member":{"status":"member","user":` + bot + `},"new_chat_member":`
	)
	for name, tt := range map[string]struct{ body, want string }{
		"message":           {`{"update_id":1,"message":{"message_id":1,"date":1,` + chat + `,"text":"x"}}`, ""},
		"no id":             {`{"message":{"message_id":1,"date":1,` + chat + `}}`, "update_id is missing"},
		"nothing":           {`{"update_id":1}`, "holds 0 events"},
		"two":               {`{"update_id":1,"message":{"message_id":1,"date":1,` + chat + `},"edited_message":{"message_id":1,"date":1,` + chat + `}}`, "holds 2 events"},
		"unknown kind":      {`{"update_id":1,"shout":{}}`, "shout is not a field"},
		"press":             {`{"update_id":1,"callback_query":{"id":"1","from":` + user + `,"chat_instance":"1","data":"x","message":{"message_id":1,"date":0,` + chat + `}}}`, ""},
		"blocked":           {`{"update_id":1,` + member + `{"status":"kicked","user":` + bot + `,"until_date":0}}}`, ""},
		"blocked lacks":     {`{"update_id":1,` + member + `{"status":"kicked","user":` + bot + `}}}`, "is no ChatMember"},
		"no such status":    {`{"update_id":1,` + member + `{"status":"asleep","user":` + bot + `}}}`, "is no ChatMember"},
		"forwarded":         {`{"update_id":1,"message":{"message_id":1,"date":1,` + chat + `,"forward_origin":{"type":"hidden_user","date":1,"sender_user_name":"A"}}}`, ""},
		"forwarded by none": {`{"update_id":1,"message":{"message_id":1,"date":1,` + chat + `,"forward_origin":{"type":"user","date":1,"sender_user_name":"A"}}}`, "forward_origin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judged(t, s.Update([]byte(tt.body)), tt.want)
		})
	}
}
