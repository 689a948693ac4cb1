package deploy_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"supportbot/functions/local/deploy"
)

// same answers every call in the same way.
type same struct {
	status int
	kind   string
	body   []byte
}

func (s same) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	return &http.Response{
		StatusCode: s.status, Status: http.StatusText(s.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {s.kind}, "Date": {s.kind}, "Retry-After": {"0"}}, Body: io.NopCloser(bytes.NewReader(s.body)), ContentLength: int64(len(s.body)),
	}, nil
}

// FuzzAnswers: whatever services, gateway and cloud answer, both commands come to their
// end, and print no secret.
func FuzzAnswers(f *testing.F) {
	for _, body := range []string{
		``, `null`, `[]`, `{}`, `7`, `[null]`, `[[]]`, `<html>`, "\xff\xfe", `{"result":[[[[`, "ok", confirmation,
		`{"ok":true,"result":{"url":"https://x/telegram","pending_update_count":-1,"last_error_date":99999999999999,"last_error_message":"CANARY","allowed_updates":[null]}}`,
		`{"ok":true,"result":[{"command":"new"},null,{"command":7}]}`, `{"ok":true,"result":{"id":7000000001,"is_bot":true,"username":"a"}}`, `{"ok":false,"error_code":401,"description":"x"}`,
		`{"response":{"count":1,"items":[{"id":1,"title":"support","url":"https://x/vk","status":"failed","secret_key":"s"},null]}}`, `{"response":{"code":"` + confirmation + `"}}`,
		`{"response":[{"id":209,"name":"a"}],"is_enabled":true,"events":{"message_new":1}}`, `{"error":{"error_code":15,"error_msg":"x"}}`, `{"response":1}`,
		`[{"id":"a--supportChat","key":"supportChat","type":"ru.yandex.startrek.core.fields.StringFieldType","schema":{"type":"string"}}]`,
		`[{"id":16,"name":"supportbot","active":true,"actions":[{"type":"Webhook","endpoint":"https://x/tracker","headers":{"X":7},"body":"{"}],"conditions":[null]}]`,
		`{"limit":"x","usage":-1,"cloudId":7}`, `{"limit":1e400}`, `{"jobs":{"review":-1},"now":"x"}`, `{"versions":{"postgres":"x"}}`,
	} {
		for _, status := range []int{200, 403, 503} {
			f.Add(status, "application/json", []byte(body))
		}
	}
	f.Add(200, "Mon, 01 Jan 0001 00:00:00 GMT", []byte(`{}`))
	vars := map[string]string{
		"WEBHOOKS": "https://x", "CONSOLE": "https://y", "TELEGRAM_TOKEN": telegramToken, "TELEGRAM_WEBHOOK_SECRET": telegramSecret,
		"VK_TOKEN": vkToken, "VK_GROUP_ID": "209", "VK_SECRET": vkSecret, "VK_CONFIRMATION": confirmation,
		"TRACKER_TOKEN": trackerToken, "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP", "TRACKER_WEBHOOK_SECRET": trackerSecret,
		"YC_TOKEN": cloudToken, "YC_FOLDER_ID": "f", "API_KEY": apiKey,
	}
	f.Fuzz(func(t *testing.T, status int, kind string, body []byte) {
		if status < 200 || status > 599 {
			status = 200
		}
		var out bytes.Buffer
		d, err := deploy.New(deploy.Config{
			Out: &out, Now: time.Now, Gap: time.Nanosecond, Reach: time.Second, Transport: same{status, kind, body},
			Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second) // only ends what hangs
		defer cancel()
		for _, err := range []error{d.Connect(ctx, deploy.Options{}), d.Doctor(ctx)} {
			if err != nil {
				out.WriteString(err.Error())
			}
		}
		if ctx.Err() != nil {
			t.Error("it hangs")
		}
		for _, secret := range []string{telegramToken, telegramSecret, vkToken, vkSecret, trackerToken, trackerSecret, cloudToken, apiKey} {
			if strings.Contains(out.String(), secret) {
				t.Errorf("a secret is printed: %s", out.String())
			}
		}
	})
}
