package ymq_test

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"supportbot/shared/env"
	"supportbot/shared/queue/queuetest"
	"supportbot/shared/queue/ymq"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	address, api := admin(t)
	var serial atomic.Int64
	queuetest.Run(t, func(tb testing.TB, o queuetest.Options) queuetest.Rig {
		name := "q" + strconv.FormatInt(serial.Add(1), 10)
		attributes := map[string]string{"VisibilityTimeout": strconv.Itoa(int(o.Visibility.Seconds()))}
		cfg := config(address)
		if o.MaxReceives > 0 {
			url, arn := createQueue(tb, api, name+"-dead", nil)
			cfg.URLs["dead"] = url
			attributes["RedrivePolicy"] = redrive(tb, arn, o.MaxReceives)
		}
		cfg.URLs["q"], _ = createQueue(tb, api, name, attributes)
		// A queue that was deleted behind our back: its URL is still configured.
		cfg.URLs["missing"] = cfg.URLs["q"] + "-missing"
		c := open(tb, cfg)
		return queuetest.Rig{Publisher: c, Source: c, Queue: "q", Dead: "dead"}
	})
}

func config(endpoint string) ymq.Config {
	return ymq.Config{
		Endpoint: endpoint, Region: "ru-central1", AccessKey: env.NewSecret("key"), SecretKey: env.NewSecret("secret"), URLs: map[string]string{},
	}
}

func open(tb testing.TB, cfg ymq.Config) *ymq.Client {
	tb.Helper()
	c, err := ymq.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestNew_Endpoint(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"", "message-queue.api.cloud.yandex.net", "ftp://x", "http://", "://"} {
		if _, err := ymq.New(config(endpoint)); err == nil {
			t.Errorf("New with endpoint %q: no error", endpoint)
		}
	}
}

func TestReceive_SendersAttributes(t *testing.T) {
	t.Parallel()
	address, api := admin(t)
	url, _ := createQueue(t, api, "attributes", nil)
	kind, value, body := "String", "x", "{}"
	_, err := api.SendMessage(context.Background(), &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body,
		MessageAttributes: map[string]types.MessageAttributeValue{"kind": {DataType: &kind, StringValue: &value}}})
	if err != nil {
		t.Fatal(err)
	}
	cfg := config(address)
	cfg.URLs["q"] = url
	got, err := open(t, cfg).Receive(context.Background(), "q", 1, 0)
	if err != nil || len(got) != 1 {
		t.Fatalf("Receive: got %v, %v", got, err)
	}
	if diff := cmp.Diff(map[string]string{"kind": "x"}, got[0].Attributes); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
}

func TestConfigFrom(t *testing.T) {
	t.Parallel()
	vars := map[string]string{
		"QUEUE_ACCESS_KEY": "key", "QUEUE_SECRET_KEY": "secret",
		"QUEUE_URL_TICKETS": "https://q/tickets", "QUEUE_URL_DEAD_LETTERS": "https://q/dead",
	}
	lookup := func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	r := env.NewReaderFrom(lookup)
	got := ymq.ConfigFrom(r, "tickets", "dead-letters")
	want := ymq.Config{
		Endpoint: "https://message-queue.api.cloud.yandex.net", Region: "ru-central1", AccessKey: env.NewSecret("key"), SecretKey: env.NewSecret("secret"),
		URLs: map[string]string{"tickets": "https://q/tickets", "dead-letters": "https://q/dead"},
	}
	if diff := cmp.Diff(want, got); diff != "" || r.Err() != nil {
		t.Errorf("error %v, config (-want +got):\n%s", r.Err(), diff)
	}

	r = env.NewReaderFrom(func(string) (string, bool) { return "", false })
	ymq.ConfigFrom(r, "tickets", "dead-letters")
	for _, name := range []string{"QUEUE_ACCESS_KEY", "QUEUE_SECRET_KEY", "QUEUE_URL_TICKETS", "QUEUE_URL_DEAD_LETTERS"} {
		if r.Err() == nil || !strings.Contains(r.Err().Error(), name) {
			t.Errorf("problems: got %v, want also %s", r.Err(), name)
		}
	}
}
