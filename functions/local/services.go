package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"supportbot/shared/sandbox"
)

// variables are settings that the local run found for itself; the environment
// goes before them.
type variables map[string]string

func (v variables) get(name string) (string, bool) {
	if s, ok := os.LookupEnv(name); ok && s != "" {
		return s, true
	}
	s, ok := v[name]
	return s, ok
}

func (v variables) or(name, fallback string) string {
	if s, ok := v.get(name); ok && s != "" {
		return s
	}
	return fallback
}

// service is an outside service that has a stand-in.
type service struct {
	name  string
	token string   // the variable that chooses the real one
	needs []string // variables that it needs besides; of names joined by "or" one
	takes []string // variables that it takes besides
}

// services are those whose variables mean nothing, or harm, to a stand-in.
func services() []service {
	return []service{
		{name: "Telegram", token: "TELEGRAM_TOKEN", takes: []string{"TELEGRAM_API_URL"}},
		{name: "VK", token: "VK_TOKEN", needs: []string{"VK_GROUP_ID"}, takes: []string{"VK_API_URL", "VK_SECRET", "VK_CONFIRMATION"}},
		{
			name: "Tracker", token: "TRACKER_TOKEN", needs: []string{"TRACKER_QUEUE", "TRACKER_ORG_ID or TRACKER_CLOUD_ORG_ID"},
			takes: []string{"TRACKER_API_URL", "TRACKER_TOKEN_TYPE"},
		},
	}
}

// complete finds all services that the environment names by half: only a person
// knows whether the real one is meant.
func complete(getenv func(string) string) error {
	set := func(name string) bool { return getenv(name) != "" }
	var problems []error
	for _, s := range services() {
		for _, need := range s.needs {
			if set(s.token) && !slices.ContainsFunc(strings.Split(need, " or "), set) {
				problems = append(problems, fmt.Errorf("%s is set, and %s is not: your %s needs both", s.token, need, s.name))
			}
		}
		for _, name := range strings.Split(strings.Join(append(s.needs, s.takes...), " or "), " or ") {
			if !set(s.token) && set(name) {
				problems = append(problems, fmt.Errorf("%s is set, and %s is not: set both for your own %s, or neither for the sandbox's", name, s.token, s.name))
			}
		}
	}
	return errors.Join(problems...)
}

// openServices starts a stand-in for each service whose token is not set.
func openServices(vars variables) (*sandbox.Running, error) {
	if err := complete(os.Getenv); err != nil {
		return nil, err
	}
	listen := func(name string) string {
		if os.Getenv(name) != "" {
			return sandbox.Off
		}
		return "127.0.0.1:0"
	}
	cfg := sandbox.ServersConfig{Telegram: listen("TELEGRAM_TOKEN"), VK: listen("VK_TOKEN"), Tracker: listen("TRACKER_TOKEN")}
	r, err := sandbox.Servers(cfg)
	if err != nil {
		return nil, err
	}
	r.Register = registering(vars)
	for _, v := range r.Variables() {
		vars[v.Name] = v.Value
	}
	for _, name := range []string{"TELEGRAM_WEBHOOK_SECRET", "TRACKER_WEBHOOK_SECRET", "VK_SECRET", "VK_CONFIRMATION"} {
		if vars.or(name, "") == "" {
			vars[name] = secret()
		}
	}
	if r.History == nil {
		return r, nil
	}
	if vars.or(trackerRate, "") == "" {
		vars[trackerRate] = standInRate
	}
	if err := offerHistory(vars.get, r.History); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// standIns makes the environment choose every stand-in and embedded database.
func standIns() {
	names := []string{"DATABASE_URL", "REDIS_URL", "CLICKHOUSE_URL", "QUEUE_ENDPOINT"}
	for _, s := range services() {
		names = append(append(names, s.token), s.takes...)
		for _, need := range s.needs {
			names = append(names, strings.Split(need, " or ")...)
		}
	}
	for _, name := range names {
		_ = os.Unsetenv(name)
	}
}

func secret() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
