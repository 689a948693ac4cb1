package deploy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/functions/local/deploy"
	"supportbot/shared/messenger/telegram"
	sandboxtracker "supportbot/shared/sandbox/tracker"
	"supportbot/shared/tracker"
)

func wants(t *testing.T, said string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(said, part) {
			t.Errorf("%q is not said:\n%s", part, said)
		}
	}
}

func TestConnect_FreshAccount(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	out := r.mustConnect()
	at := r.vars["WEBHOOKS"]
	wants(t, out, "webhook: missing -> "+at+"/telegram (callback_query, edited_message, message, my_chat_member; 20 connections)",
		"commands in ru: missing -> /new новое обращение", "commands in en: missing -> /new a new request", "short description in all other languages",
		"callback server: missing -> "+at+"/vk (the secret as configured; ok)",
		"events of the callback server: missing -> message_allow, message_deny, message_edit, message_event, message_new, user_block, user_unblock; version 5.199", "messages and the bot's abilities: set again",
		"long poll: on -> off", "field supportMessenger of SUP: missing -> string", "trigger of SUP: missing -> calls "+at+"/tracker", "made.")
	wants(t, out, "statuses of SUP: without words: waitingSupplier")

	before := r.effects()
	out = r.mustConnect()
	if n := r.effects() - before; n != 0 || !strings.Contains(out, "Nothing had to be changed.") {
		t.Errorf("the second run made %d changes:\n%s", n, out)
	}
	out, err := r.doctor()
	if err != nil {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	wants(t, out, "/telegram takes the secret", "/vk takes the secret", "/tracker refuses calls without the secret", "/console answers and shows the page",
		"/v1/broadcasts answers and asks for a key", "queue tickets: 0 waiting", "serverless.request.count", "the quota could not be read: YC_TOKEN is not set", "0 failures")
}

func TestConnect_WhatIsSet(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.mustConnect()
	sent := map[string]map[string]string{}
	for _, log := range r.calls[:2] {
		for _, c := range log.Since(0) {
			params := map[string]string{}
			_ = json.Unmarshal(c.Params, &params)
			sent[c.Method] = params
		}
	}
	hook := sent["setWebhook"]
	if _, drops := hook["drop_pending_updates"]; drops {
		t.Error("what waits is dropped")
	}
	var allowed []string
	if err := json.Unmarshal([]byte(hook["allowed_updates"]), &allowed); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(telegram.Updates(), allowed); diff != "" {
		t.Errorf("allowed updates (-want +got):\n%s", diff)
	}
	if got := sent["groups.setCallbackSettings"]; got["message_new"] != "1" || got["user_block"] != "1" || got["api_version"] != "5.199" || got["message_reply"] == "1" {
		t.Errorf("events %v", got)
	}
	if got := sent["groups.setSettings"]; got["messages"] != "1" || got["bots_capabilities"] != "1" || got["bots_start_button"] != "1" {
		t.Errorf("abilities %v", got)
	}
	queue := r.ask(r.vars["TRACKER_API_URL"]+"/v3/queues/SUP/localFields", "", "GET")
	for _, f := range tracker.Fields {
		wants(t, queue, `"`+string(f)+`"`)
	}
	wants(t, queue, "Поддержка: мессенджер")
}

func TestConnect_DryRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before := r.effects()
	out, err := r.connect(deploy.Options{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if n := r.effects() - before; n != 0 {
		t.Errorf("a dry run made %d changes", n)
	}
	wants(t, out, "webhook: missing", "callback server: missing", "field supportRemark of SUP: missing", "trigger of SUP: missing", "Dry run: ", "none was.")
	r.mustConnect()
	out, err = r.connect(deploy.Options{DryRun: true, Force: true})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, out, "webhook: set again: its secret is not told", "messages and the bot's abilities: set again", "Dry run: 2 changes would be made")
}

// TestConnect_Rotation: the platform takes two secrets; connect tells the first of
// them, after it has seen that the platform takes it.
func TestConnect_Rotation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.mustConnect()
	r.vars["TELEGRAM_WEBHOOK_SECRET"] = "CANARY-new," + telegramSecret
	r.vars["VK_SECRET"] = "CANARYnew," + vkSecret
	r.vars["TRACKER_WEBHOOK_SECRET"] = "CANARY-newer," + trackerSecret
	before := r.effects()
	out, err := r.connect(deploy.Options{})
	if err == nil || r.effects() != before {
		t.Errorf("the services were told of secrets that the platform does not take: %v\n%s", err, out)
	}
	wants(t, err.Error(), "/telegram refuses secret 1 of 2", "/vk refuses secret 1 of 2", "/tracker refuses secret 1 of 2", "terraform")

	r.entry.set("/telegram", "CANARY-new", telegramSecret)
	r.entry.set("/vk", "CANARYnew", vkSecret)
	r.entry.set("/tracker", "CANARY-newer", trackerSecret)
	wants(t, r.mustConnect(), "webhook: ", "may be the one before", "another secret; ok) -> ", "with another secret -> ")

	for name, only := range map[string]string{"TELEGRAM_WEBHOOK_SECRET": "CANARY-new", "VK_SECRET": "CANARYnew", "TRACKER_WEBHOOK_SECRET": "CANARY-newer"} {
		r.vars[name] = only
	}
	r.entry.set("/telegram", "CANARY-new")
	r.entry.set("/vk", "CANARYnew")
	r.entry.set("/tracker", "CANARY-newer")
	wants(t, r.mustConnect(), "Nothing had to be changed.")
	if out, err := r.doctor(); err != nil {
		t.Errorf("doctor: %v\n%s", err, out)
	}
}

// TestConnect_WrongConfirmation: VK's own string is printed, and VK is not told of a
// server that would answer another one.
func TestConnect_WrongConfirmation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.vars["VK_CONFIRMATION"] = "guessed"
	out, err := r.connect(deploy.Options{})
	if err == nil {
		t.Fatalf("a wrong confirmation went by:\n%s", out)
	}
	wants(t, out, "VK_CONFIRMATION: guessed, not c0de", `vk_confirmation = "c0de"`, "callback server: not set", "events of the callback server: not set")
	if servers := r.ask(r.vars["VK_API_URL"]+"/method/groups.getCallbackServers?group_id=209&v=5.199&access_token="+vkToken, ""); !strings.Contains(servers, `"count":0`) {
		t.Errorf("VK has a server: %s", servers)
	}
}

// TestConnect_BrokenServer: VK has given up a server, or knows it by another address.
func TestConnect_BrokenServer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.entry.answer("/vk", 502)
	out, err := r.connect(deploy.Options{})
	if err == nil || !strings.Contains(err.Error(), "/vk answers a call without the secret with 502") {
		t.Errorf("got %v\n%s", err, out)
	}
	r.entry.answer("/vk", 200) // whoever that is, it is not the platform
	if out, err = r.connect(deploy.Options{}); err == nil || !strings.Contains(err.Error(), "/vk answers a call without the secret with 200") {
		t.Errorf("got %v\n%s", err, out)
	}
	wants(t, out, "long poll: not set")
	if poll := r.ask(r.vars["VK_API_URL"]+"/method/groups.getLongPollSettings?group_id=209&v=5.199&access_token="+vkToken, ""); !strings.Contains(poll, `"is_enabled":true`) {
		t.Errorf("VK brings what is written neither way: %s", poll)
	}
	r.entry.answer("", 0)
	r.vk.Connect(r.vars["WEBHOOKS"] + "/vk") // with a secret that the platform refuses
	out = r.mustConnect()
	wants(t, out, "callback server: "+r.vars["WEBHOOKS"]+"/vk (another secret; ", " -> "+r.vars["WEBHOOKS"]+"/vk (the secret as configured; ok)")
	wants(t, r.mustConnect(), "Nothing had to be changed.")
}

// TestConnect_Owner: what only the owner of a queue may do is done with the owner's
// token, and the trigger still leaves out what the robot does.
func TestConnect_Owner(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *sandboxtracker.Config) { c.Queues[0].Lead = "anna" })
	out, err := r.connect(deploy.Options{})
	if err == nil || !strings.Contains(err.Error(), "TRACKER_OWNER_TOKEN") {
		t.Fatalf("got %v\n%s", err, out)
	}
	r.vars["TRACKER_OWNER_TOKEN"] = ownerToken
	r.mustConnect()
	wants(t, r.mustConnect(), "Nothing had to be changed.")
	var all []struct{ Conditions json.RawMessage }
	if err := json.Unmarshal([]byte(r.ask(r.vars["TRACKER_API_URL"]+"/v3/queues/SUP/triggers", "", "GET", ownerToken)), &all); err != nil || len(all) != 1 {
		t.Fatalf("%d triggers, %v", len(all), err)
	}
	wants(t, string(all[0].Conditions), `{"type":"CommentAuthorNot","user":"1120000000000001"}`)
}

func TestConnect_BehindAFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.vars["TELEGRAM_TOKEN"] = "7000000001:CANARY-telegram-token-of-another"
	out, err := r.connect(deploy.Options{})
	if err == nil || !strings.Contains(err.Error(), "Telegram: TELEGRAM_TOKEN is not known to Telegram") {
		t.Errorf("got %v", err)
	}
	wants(t, out, "callback server: missing -> ", "trigger of SUP: missing -> ")
}

// TestConnect_WithoutEffect: what a service says is looked at.
func TestConnect_WithoutEffect(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.lies = "setWebhook"
	out, err := r.connect(deploy.Options{})
	if err == nil || !strings.Contains(err.Error(), "Telegram: webhook was set and is still missing") {
		t.Errorf("got %v\n%s", err, out)
	}
}

// TestConnect_LyingServices: whatever answers in the place of a service, it is named,
// and no secret is printed, not even one that it repeats.
func TestConnect_LyingServices(t *testing.T) {
	t.Parallel()
	lies := map[string]http.HandlerFunc{
		"a page":  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>welcome</html>") },
		"null":    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "null") },
		"an echo": echo,
	}
	for name, lie := range lies {
		for service, variable := range map[string]string{"Telegram": "TELEGRAM_API_URL", "VK": "VK_API_URL", "Tracker": "TRACKER_API_URL"} {
			t.Run(name+" for "+service, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.swift = true
				r.vars[variable] = r.serve(lie)
				if out, err := r.connect(deploy.Options{}); err == nil || !strings.Contains(err.Error(), service+": ") {
					t.Errorf("got %v\n%s", err, out)
				}
				if out, err := r.doctor(); !errors.Is(err, deploy.ErrUnwell) {
					t.Errorf("got %v\n%s", err, out)
				}
			})
		}
	}
}

// echo refuses a call in the forms of all three services and repeats it.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	said := fmt.Sprint(r.URL, r.Header, string(body))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"ok": false, "error_code": 400, "description": said, "errorMessages": []string{said}, "error": map[string]any{"error_code": 100, "error_msg": said},
	})
}

func TestNew_WhatIsMissing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{"WEBHOOKS", "TELEGRAM_WEBHOOK_SECRET", "VK_CONFIRMATION", "TRACKER_QUEUE", "TRACKER_WEBHOOK_SECRET"} {
		delete(r.vars, name)
	}
	_, err := r.connect(deploy.Options{})
	if err == nil {
		t.Fatal("nothing is missing")
	}
	wants(t, err.Error(), "WEBHOOKS is not set", "TELEGRAM_WEBHOOK_SECRET is not set", "VK_CONFIRMATION is not set", "TRACKER_QUEUE is not set", "TRACKER_WEBHOOK_SECRET is not set")
	for _, address := range []string{"d5d.apigw.yandexcloud.net", "http://example.com", "https://"} {
		r.vars["WEBHOOKS"] = address
		if _, err := r.connect(deploy.Options{}); err == nil || !strings.Contains(err.Error(), "WEBHOOKS is not an address") {
			t.Errorf("%s: got %v", address, err)
		}
	}
}

func TestFromTerraform(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "my.auto.tfvars")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`
# telegram_token = "old"
folder_id = "b1gfolder"
telegram_token          = "1:a" # the bot's
zones = ["a", "b"]
settings = {
  TIME_ZONE = "Asia/Omsk"
  "CATALOGUE" = "{\"statuses\":{}}"
}
`)
	unset := func(string) bool { return false }
	got, err := deploy.FromTerraform(dir, unset)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"FOLDER_ID": "b1gfolder", "YC_FOLDER_ID": "b1gfolder", "TELEGRAM_TOKEN": "1:a", "TIME_ZONE": "Asia/Omsk", "CATALOGUE": `{"statuses":{}}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// However Terraform lets one write it.
	write(`/* vk_secret = "old" */
// vk_secret = "older"
vk_group_id = 209
telegram_token = "1:\"a\" # = $${b}" # c = "d"
"tracker_queue" : "SUP"
zones = [
  "x = y",
]
settings = { "TIME_ZONE" : "Asia/Omsk", DATABASE_MAX_CONNS=8 }
`)
	if got, err = deploy.FromTerraform(dir, unset); err != nil {
		t.Fatal(err)
	}
	want = map[string]string{"VK_GROUP_ID": "209", "TELEGRAM_TOKEN": `1:"a" # = ${b}`, "TRACKER_QUEUE": "SUP", "TIME_ZONE": "Asia/Omsk", "DATABASE_MAX_CONNS": "8"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	write("settings = {\n  CATALOGUE = <<-END\n    TIME_ZONE = \"no\"\n    END\n}\ntracker_queue = \"SUP\"\n")
	if got, err = deploy.FromTerraform(dir, func(name string) bool { return name == "CATALOGUE" }); err != nil || !maps.Equal(got, map[string]string{"TRACKER_QUEUE": "SUP"}) {
		t.Errorf("beside a document: got %v, %v", got, err)
	}
	write("settings = {\n  CATALOGUE = file(\"catalogue.json\")\n}\n")
	if _, err := deploy.FromTerraform(dir, unset); err == nil || !strings.Contains(err.Error(), "CATALOGUE of my.auto.tfvars") {
		t.Errorf("got %v", err)
	}
	if _, err := deploy.FromTerraform(dir, func(name string) bool { return name == "CATALOGUE" }); err != nil {
		t.Errorf("with the variable set: %v", err)
	}
	if got, err := deploy.FromTerraform(filepath.Join(dir, "none"), unset); err != nil || len(got) != 0 {
		t.Errorf("without a folder: %v, %v", got, err)
	}
}
