package deploy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"supportbot/functions/local/deploy"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	sandboxtracker "supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
	"supportbot/shared/spec"
)

// Secrets, none of which may be printed.
const (
	telegramToken  = "7000000001:CANARY-telegram-token-of-thirty"
	telegramSecret = "CANARY-telegram-secret"
	vkToken        = "CANARY-vk-token"
	vkSecret       = "CANARYvksecret"
	trackerToken   = "CANARY-tracker-token"
	ownerToken     = "CANARY-owner-token"
	trackerSecret  = "CANARY-tracker-secret"
	cloudToken     = "CANARY-cloud-token"
	apiKey         = "CANARY-api-key"
	confirmation   = "c0de"
)

// rig is a deployment on fresh accounts: nobody has set up anything.
type rig struct {
	t        *testing.T
	telegram *telegram.Server
	vk       *vk.Server
	tracker  *sandboxtracker.Server
	calls    [3]*fault.Log
	entry    *entry
	queues   *queues
	vars     map[string]string
	now      func() time.Time
	swift    bool          // calls are not judged: others do what these do
	reach    time.Duration // of what is asked of one database
	lies     string        // a method that is answered and not done
	cloud    string        // address of the cloud's API
	later    atomic.Int64  // how far Telegram's clock is ahead, nanoseconds
}

func newRig(t *testing.T, change ...func(*sandboxtracker.Config)) *rig {
	t.Helper()
	r := &rig{t: t, calls: [3]*fault.Log{{}, {}, {}}, entry: &entry{}, queues: newQueues(), now: time.Now}
	r.entry.secrets = map[string][]string{"/telegram": {telegramSecret}, "/vk": {vkSecret}, "/tracker": {trackerSecret}}
	r.telegram = telegram.New(telegram.Config{Token: telegramToken, Calls: r.calls[0], Now: func() time.Time { return time.Now().Add(time.Duration(r.later.Load())) }})
	r.vk = vk.New(vk.Config{Token: vkToken, GroupID: 209, Secret: "unused", Confirmation: confirmation, Calls: r.calls[1], PerSecond: -1})
	c := sandboxtracker.Config{
		Token: trackerToken, OrgID: "77", Calls: r.calls[2], Queues: []sandboxtracker.Queue{sandboxtracker.DefaultQueue("SUP")},
		Agents: []sandboxtracker.User{{ID: "1120000000000101", Login: "anna", Name: "Анна", Token: ownerToken}},
	}
	for _, f := range change {
		f(&c)
	}
	r.tracker = sandboxtracker.New(c)
	t.Cleanup(func() { r.telegram.Close(); r.vk.Close(); r.tracker.Close() })
	at := r.serve(r.entry)
	r.vars = map[string]string{
		"WEBHOOKS": at, "CONSOLE": at + "/console",
		"TELEGRAM_TOKEN": telegramToken, "TELEGRAM_WEBHOOK_SECRET": telegramSecret, "TELEGRAM_API_URL": r.serve(r.telegram),
		"VK_TOKEN": vkToken, "VK_GROUP_ID": "209", "VK_SECRET": vkSecret, "VK_CONFIRMATION": confirmation, "VK_API_URL": r.serve(r.vk),
		"TRACKER_TOKEN": trackerToken, "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP", "TRACKER_WEBHOOK_SECRET": trackerSecret, "TRACKER_API_URL": r.serve(r.tracker),
		"QUEUE_ENDPOINT": r.serve(r.queues), "YC_MESSAGE_QUEUE_ACCESS_KEY": "key", "YC_MESSAGE_QUEUE_SECRET_KEY": "CANARY-queue-key",
		"QUEUE_URL_TICKETS": "https://q/tickets", "QUEUE_URL_DELIVERIES": "https://q/deliveries", "QUEUE_URL_BROADCASTS": "https://q/broadcasts",
	}
	r.ask(r.vars["VK_API_URL"]+"/method/groups.setSettings?group_id=209&messages=0&bots_capabilities=0&bots_start_button=0&v=5.199&access_token="+vkToken, "")
	return r
}

func (r *rig) serve(h http.Handler) string {
	r.t.Helper()
	s := httptest.NewServer(h)
	r.t.Cleanup(s.Close)
	return s.URL
}

// ask makes a call of a fake's API as somebody else would. how is the method, POST by
// default, and the token, that of the robot.
func (r *rig) ask(address, body string, how ...string) string {
	r.t.Helper()
	how = append(how, []string{http.MethodPost, trackerToken}[len(how):]...)
	method, token := how[0], how[1]
	req, err := http.NewRequestWithContext(r.context(), method, address, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "OAuth "+token)
	req.Header.Set("X-Org-ID", "77")
	req.Header.Set("Content-Type", "application/json")
	if strings.HasPrefix(address, r.vars["VK_API_URL"]) {
		req.Header.Del("Authorization")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 || bytes.Contains(raw, []byte(`"error_code"`)) {
		r.t.Fatalf("%s %s: %d %s %v", method, address, res.StatusCode, raw, err)
	}
	return string(raw)
}

func (r *rig) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	r.t.Cleanup(cancel)
	return ctx
}

// open makes what is tested, with the variables as they are.
func (r *rig) open(out io.Writer) (*deploy.Deployment, error) {
	vars := maps.Clone(r.vars)
	cfg := deploy.Config{
		Out: out, Now: r.now, Gap: time.Nanosecond, Reach: r.reach,
		Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
	}
	if !r.swift {
		cfg.Transport = &judge{t: r.t, lies: r.lies}
	}
	if r.cloud != "" {
		cfg.CloudAPI = func(service string) string { return r.cloud + "/" + service }
	}
	return deploy.New(cfg)
}

// run runs a command and gives what it printed; nothing of it may be a secret.
func (r *rig) run(do func(*deploy.Deployment) error) (string, error) {
	r.t.Helper()
	var out bytes.Buffer
	d, err := r.open(&out)
	if err == nil {
		err = do(d)
	}
	said := out.String()
	if err != nil {
		said += err.Error()
	}
	if strings.Contains(strings.ToUpper(said), "CANARY") {
		r.t.Errorf("a secret is printed: %s", said)
	}
	return out.String(), err
}

func (r *rig) connect(o deploy.Options) (string, error) {
	r.t.Helper()
	return r.run(func(d *deploy.Deployment) error { return d.Connect(r.context(), o) })
}

func (r *rig) mustConnect() string {
	r.t.Helper()
	out, err := r.connect(deploy.Options{})
	if err != nil {
		r.t.Fatalf("connect: %v\n%s", err, out)
	}
	return out
}

func (r *rig) doctor() (string, error) {
	r.t.Helper()
	return r.run(func(d *deploy.Deployment) error { return d.Doctor(r.context()) })
}

// effects counts the calls that changed something at one of the services. What they
// told the platform meanwhile does not count.
func (r *rig) effects() (n int) {
	for _, log := range r.calls {
		for _, c := range log.Since(0) {
			if c.Effect && c.Method != telegram.WebhookMethod && c.Method != vk.CallbackMethod && c.Method != "trigger" {
				n++
			}
		}
	}
	return n
}

// entry is both gateways of a platform that has no databases: it lets in whoever has
// one of the secrets.
type entry struct {
	mu      sync.Mutex
	secrets map[string][]string
	status  map[string]int    // instead of what would be right
	told    map[string]string // by the API, by path, to who has its key
}

func (e *entry) tell(path, answer string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.told == nil {
		e.told = map[string]string{}
	}
	e.told[path] = answer
}

func (e *entry) set(path string, secrets ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.secrets[path] = secrets
}

func (e *entry) answer(path string, status int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.status = map[string]int{path: status}
}

func (e *entry) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	var event struct {
		Secret, Type string
		ID           string `json:"id"`
	}
	_ = json.Unmarshal(body, &event)
	in := slices.Contains(e.secrets[r.URL.Path], event.Secret+r.Header.Get("X-Telegram-Bot-Api-Secret-Token")+r.Header.Get("X-Webhook-Secret"))
	switch {
	case e.status[r.URL.Path] != 0:
		w.WriteHeader(e.status[r.URL.Path])
	case r.URL.Path == "/console":
	case e.told[r.URL.Path] != "" && r.Header.Get("X-API-Key") == apiKey:
		_, _ = io.WriteString(w, e.told[r.URL.Path])
	case strings.HasPrefix(r.URL.Path, "/v1/"):
		w.WriteHeader(http.StatusUnauthorized)
	case e.secrets[r.URL.Path] == nil:
		w.WriteHeader(http.StatusNotFound)
	case !in:
		w.WriteHeader(http.StatusForbidden)
	case r.URL.Path == "/vk" && event.Type == "confirmation":
		_, _ = io.WriteString(w, confirmation)
	case r.URL.Path == "/tracker" && event.ID == "":
		w.WriteHeader(http.StatusBadRequest)
	default:
		_, _ = io.WriteString(w, "ok")
	}
}

// queues is Message Queue as far as depths go.
type queues struct {
	mu      sync.Mutex
	waiting map[string]string
}

func newQueues() *queues { return &queues{waiting: map[string]string{}} }

func (q *queues) set(name, waiting string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting[name] = waiting
}

func (q *queues) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var in struct{ QueueUrl, QueueName string }
	_ = json.NewDecoder(r.Body).Decode(&in)
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetQueueUrl") {
		_ = json.NewEncoder(w).Encode(map[string]string{"QueueUrl": "https://q/" + in.QueueName})
		return
	}
	name := strings.TrimPrefix(in.QueueUrl, "https://q/")
	attributes := map[string]string{"ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesNotVisible": "0"}
	if n := q.waiting[name]; n != "" {
		attributes["ApproximateNumberOfMessages"] = n
	}
	if !strings.HasSuffix(name, "-dead") {
		attributes["RedrivePolicy"] = `{"deadLetterTargetArn":"yrn:yc:ymq:ru-central1:b1g:` + name + `-dead","maxReceiveCount":5}`
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"Attributes": attributes})
}

// judge holds every call of Telegram and VK, and its answer, against their
// specifications.
type judge struct {
	t    *testing.T
	lies string // a method of Telegram's that is answered and not done
}

var specs struct {
	once     sync.Once
	telegram *spec.TelegramSpec
	vk       *spec.VKSpec
	err      error
}

func (j *judge) load() {
	specs.once.Do(func() {
		if dir, ok := spec.Dir(j.t, "telegram"); ok {
			specs.telegram, specs.err = spec.Telegram(dir)
		}
		if dir, ok := spec.Dir(j.t, "vk"); ok && specs.err == nil {
			specs.vk, specs.err = spec.VK(dir)
		}
	})
	if specs.err != nil {
		j.t.Fatal(specs.err)
	}
}

func (j *judge) RoundTrip(r *http.Request) (*http.Response, error) {
	j.load()
	if j.lies != "" && strings.HasSuffix(r.URL.Path, "/"+j.lies) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"ok":true,"result":true}`)), Request: r}, nil
	}
	var form url.Values
	if r.Body != nil {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		form, _ = url.ParseQuery(string(raw)) // of bodies that are none nothing is asked
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(raw))
	path := r.URL.Path
	if method, ok := strings.CutPrefix(path, "/method/"); ok && specs.vk != nil {
		j.judged(method, specs.vk.Request(method, form), specs.vk.Answer(method, raw))
	}
	if _, method, ok := strings.Cut(strings.TrimPrefix(path, "/bot"), "/"); ok && strings.HasPrefix(path, "/bot") && specs.telegram != nil {
		params := map[string]string{}
		for name := range form {
			params[name] = form.Get(name)
		}
		j.judged(method, specs.telegram.Request(method, params, nil), specs.telegram.Answer(method, raw))
	}
	return res, nil
}

func (j *judge) judged(method string, problems ...error) {
	for _, err := range problems {
		if err != nil {
			j.t.Errorf("%s: %v", method, err)
		}
	}
}
