package platform_test

import (
	"io"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"supportbot/functions/local/reproduce"
	"supportbot/shared/broadcast"
	"supportbot/shared/env"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring"
)

// TestTerraform_Variables: the deployment gives each function the secrets that it
// reads and no others, and all functions the rest that has to be set.
func TestTerraform_Variables(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(root + "/terraform/functions.tf")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	everywhere := regexp.MustCompile(`(?m)^\s+([A-Z][A-Z0-9_]+)\s*=`).FindAllStringSubmatch(text, -1)
	given, read := map[string]bool{"CONSOLE_URL": true}, map[string]bool{"GODEBUG": true} // which Go itself reads
	for _, m := range everywhere {
		given[m[1]] = true
	}
	for name, build := range wirings {
		e := &environment{asked: map[string]bool{}}
		if err := build(wiring.Runtime{Env: env.NewReaderFrom(e.lookup), Log: slog.New(slog.NewTextHandler(io.Discard, nil))}); err != nil {
			t.Errorf("%s is not built, so not all is read: %v", name, err)
		}
		maps.Copy(read, e.asked)
		has := secretsOf(t, text, name)
		for secret := range isSecret {
			switch {
			case e.asked[secret] && !slices.Contains(has, secret) && !optionalIn(name, secret):
				t.Errorf("%s reads %s, and Terraform does not give it", name, secret)
			case !e.asked[secret] && slices.Contains(has, secret):
				t.Errorf("Terraform gives %s the secret %s, which it does not read", name, secret)
			}
		}
	}
	for _, name := range []string{"QUEUE_URL_TICKETS", "QUEUE_URL_DELIVERIES", "QUEUE_URL_BROADCASTS", "VK_GROUP_ID", "TRACKER_ORG_ID", "TRACKER_CLOUD_ORG_ID", "TRACKER_QUEUE", "REDIS_CA", "CLICKHOUSE_CLUSTER"} {
		if !given[name] {
			t.Errorf("Terraform gives nobody %s", name)
		}
	}
	for name := range given {
		if !read[name] {
			t.Errorf("Terraform gives the functions %s, which none of them reads", name)
		}
	}
}

// TestTerraform_Example: whatever the example and make secrets name is a variable.
func TestTerraform_Example(t *testing.T) {
	t.Parallel()
	declared := map[string]string{}
	for _, file := range []string{"variables.tf", "services.variables.tf"} {
		maps.Copy(declared, matches(t, file, `(?m)^variable "(\w+)" (\{)`))
	}
	named := matches(t, "example.tfvars", `(?m)^(?:# )?([a-z_]+)\s+(=) `)
	makefile, err := os.ReadFile(root + "/Makefile")
	if err != nil {
		t.Fatal(err)
	}
	secrets := regexp.MustCompile(`for name in ([a-z_ ]+); do`).FindSubmatch(makefile)
	if secrets == nil {
		t.Fatal("make secrets is written in another way")
	}
	for _, name := range append(slices.Collect(maps.Keys(named)), strings.Fields(string(secrets[1]))...) {
		if declared[name] == "" {
			t.Errorf("%s is no variable of Terraform", name)
		}
	}
}

// TestTerraform_Routes: queues and paths lead to the functions that the rest of the
// code takes them for.
func TestTerraform_Routes(t *testing.T) {
	t.Parallel()
	queues := matches(t, "queues.tf", `(?m)^\s+(\w+)\s+= \{ function = "([a-z-]+)"`)
	names := slices.Sorted(maps.Keys(queues))
	if want := slices.Sorted(slices.Values([]string{ticket.QueueTickets, ticket.QueueDeliveries, broadcast.Queue})); !slices.Equal(names, want) {
		t.Errorf("Terraform makes the queues %v, want %v", names, want)
	}
	for queue, function := range queues {
		recognizes(t, `{"messages":[{"details":{"queue_id":"yrn:yc:ymq:ru-central1:b1g:support-`+queue+`"}}]}`, function)
	}
	for path, function := range matches(t, "gateway.tf", `"(/\w+)" = \{ post = local\.behind\["([a-z-]+)"\]`) {
		recognizes(t, `{"version":"1.0","httpMethod":"POST","path":"`+path+`"}`, function)
	}
	for path := range matches(t, "gateway.tf", `"(/[^"]+)"\s+= \{ (get|x-yc-apigateway-any-method) `) {
		recognizes(t, `{"version":"1.0","httpMethod":"GET","path":"`+strings.Replace(path, "{path+}", "x", 1)+`"}`, "notification-api")
	}
}

// matches reads pairs from a file of Terraform's.
func matches(t *testing.T, file, expression string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(root + "/terraform/" + file)
	if err != nil {
		t.Fatal(err)
	}
	pairs := map[string]string{}
	for _, m := range regexp.MustCompile(expression).FindAllStringSubmatch(string(raw), -1) {
		pairs[m[1]] = m[2]
	}
	if len(pairs) < 3 {
		t.Errorf("%s is written in another way: only %v was found", file, pairs)
	}
	return pairs
}

func recognizes(t *testing.T, event, function string) {
	t.Helper()
	if e, err := reproduce.Recognize([]byte(event), ""); err != nil || e.Function != function {
		t.Errorf("%s is for %q (%v), and Terraform brings it to %s", event, e.Function, err, function)
	}
}

var isSecret = map[string]bool{
	"DATABASE_URL": true, "REDIS_URL": true, "CLICKHOUSE_URL": true, "QUEUE_ACCESS_KEY": true, "QUEUE_SECRET_KEY": true,
	"TELEGRAM_TOKEN": true, "TELEGRAM_WEBHOOK_SECRET": true, "VK_TOKEN": true, "VK_SECRET": true, "VK_CONFIRMATION": true,
	"TRACKER_TOKEN": true, "TRACKER_WEBHOOK_SECRET": true,
}

// optionalIn: the secrets that webhooks and workers know how to do without. Those
// who only send take no updates.
func optionalIn(function, secret string) bool {
	return secret == "TELEGRAM_WEBHOOK_SECRET" && function != "telegram-webhook"
}

// secretsOf reads the secrets of a function in the map of functions.tf.
func secretsOf(t *testing.T, text, function string) []string {
	t.Helper()
	at := strings.Index(text, "\n    "+function+" = {")
	if at < 0 {
		t.Errorf("%s is not in the map of functions", function)
		return nil
	}
	_, rest, _ := strings.Cut(text[at:], "secrets = ")
	line, _, _ := strings.Cut(rest, "\n")
	for range 3 { // lists of lists
		for _, m := range regexp.MustCompile(`(?m)^  (\w+)\s+= (.*)$`).FindAllStringSubmatch(text, -1) {
			line = strings.ReplaceAll(line, "local."+m[1], m[2])
		}
	}
	var all []string
	for _, m := range regexp.MustCompile(`"(?:MIGRATE_|DRAIN_)?([A-Z][A-Z0-9_]+)"`).FindAllStringSubmatch(line, -1) {
		all = append(all, m[1])
	}
	return all
}
