package host

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"time"

	"supportbot/shared/queue"
)

// object is JSON.
type object = map[string]any

// HTTPEvent makes of a request the event that API Gateway makes in its format 1.0:
// the body in base64 unless it is JSON.
func HTTPEvent(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	header := r.Header.Clone()
	header.Set("Host", r.Host)
	ip, _, _ := net.SplitHostPort(r.RemoteAddr)
	now := time.Now()
	e := object{
		"version": "1.0", "resource": r.URL.Path, "path": r.URL.Path, "httpMethod": r.Method,
		"headers": lastOf(header), "multiValueHeaders": header,
		"queryStringParameters": lastOf(r.URL.Query()), "multiValueQueryStringParameters": r.URL.Query(),
		"requestContext": object{
			"identity": object{"sourceIp": ip, "userAgent": r.UserAgent()}, "httpMethod": r.Method,
			"requestId": fmt.Sprintf("host-%d", now.UnixNano()), "requestTimeEpoch": now.Unix(),
		},
		"body": string(body), "isBase64Encoded": false,
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		e["body"], e["isBase64Encoded"] = base64.StdEncoding.EncodeToString(body), true
	}
	return json.Marshal(e)
}

func lastOf(multi map[string][]string) map[string]string {
	single := map[string]string{}
	for name, values := range multi {
		single[name] = values[len(values)-1]
	}
	return single
}

// QueueEvent makes of messages the event of a Message Queue trigger.
func QueueEvent(name string, messages ...queue.Message) ([]byte, error) {
	var list []object
	for _, m := range messages {
		list = append(list, object{
			"event_metadata": metadata(m.ID, "yandex.cloud.events.messagequeue.QueueMessage"),
			"details": object{
				"queue_id": "yrn:yc:ymq:ru-central1:b1glocal:" + name,
				"message": object{
					"message_id": m.ID, "body": m.Body,
					"attributes": object{
						"ApproximateReceiveCount": fmt.Sprint(m.Receives), "SentTimestamp": fmt.Sprint(m.SentAt.UnixMilli()),
					},
				},
			},
		})
	}
	return json.Marshal(object{"messages": list})
}

// TimerEvent makes the event of a timer.
func TimerEvent() ([]byte, error) {
	return json.Marshal(object{"messages": []object{{
		"event_metadata": metadata("a1slocal", "yandex.cloud.events.serverless.triggers.TimerMessage"),
		"details":        object{"trigger_id": "a1slocal", "payload": ""},
	}}})
}

func metadata(id, kind string) object {
	return object{
		"event_id": id, "event_type": kind, "created_at": time.Now().UTC().Format(time.RFC3339Nano),
		"tracing_context": nil, "cloud_id": "b1glocal", "folder_id": "b1glocal",
	}
}

// ServeHTTP stands for the gateway before an HTTP function.
func (p *Process) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	event, err := HTTPEvent(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a, err := p.Call(event)
	if err == nil && a.Error != nil {
		err = a.Error
	}
	var out struct {
		Status      int                 `json:"statusCode"`
		MultiHeader map[string][]string `json:"multiValueHeaders"`
		Body        []byte              `json:"body"` // the host always gives base64
	}
	if err == nil {
		err = json.Unmarshal(a.Result, &out)
	}
	if err != nil {
		w.Header().Set("X-Function-Error", "true")
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	for name, values := range out.MultiHeader {
		w.Header()[name] = values
	}
	w.WriteHeader(out.Status)
	_, _ = w.Write(out.Body)
}
