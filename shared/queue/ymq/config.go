package ymq

import (
	"errors"
	"net/url"
	"strings"

	"supportbot/shared/env"
)

// Config says where the queues are.
type Config struct {
	Endpoint  string // https://message-queue.api.cloud.yandex.net
	Region    string
	AccessKey env.Secret // a service account's static key
	SecretKey env.Secret
	// URLs are the queues' addresses by their names. They are taken as they are: a
	// queue that was made anew has another one.
	URLs map[string]string
}

const (
	defaultEndpoint = "https://message-queue.api.cloud.yandex.net"
	defaultRegion   = "ru-central1"
)

// ConfigFrom reads QUEUE_ENDPOINT, QUEUE_REGION, QUEUE_ACCESS_KEY,
// QUEUE_SECRET_KEY and the URL of each queue: of "tickets" QUEUE_URL_TICKETS, of
// "dead-letters" QUEUE_URL_DEAD_LETTERS.
func ConfigFrom(r *env.Reader, queues ...string) Config {
	c := Config{
		Endpoint:  r.String("QUEUE_ENDPOINT", defaultEndpoint),
		Region:    r.String("QUEUE_REGION", defaultRegion),
		AccessKey: r.RequiredSecret("QUEUE_ACCESS_KEY"),
		SecretKey: r.RequiredSecret("QUEUE_SECRET_KEY"),
		URLs:      make(map[string]string, len(queues)),
	}
	for _, name := range queues {
		c.URLs[name] = r.Required(urlVariable(name))
	}
	return c
}

func urlVariable(name string) string {
	return "QUEUE_URL_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

func (c *Config) validate() error {
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return errors.New("the queue's endpoint has to be an address like " + defaultEndpoint)
	}
	return nil
}
