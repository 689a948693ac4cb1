package platform_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func answerOf(h http.Handler, path string, header http.Header, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// raw sends bytes as they are: what a client of Go's would mend or refuse. 0: no answer.
func (w *world) raw(text string) (int, []byte) {
	w.t.Helper()
	// The gateway itself: what stands before it in tests mends much.
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.front.next(), "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	go func() { _, _ = io.WriteString(conn, text) }() // it may not be read to the end
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = res.Body.Close() }()
	body, _ := io.ReadAll(res.Body)
	return res.StatusCode, body
}

// bomb is a little that becomes much.
func bomb(size int) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(bytes.Repeat([]byte(" "), size))
	_ = z.Close()
	return b.String()
}

// TestAbuse: paths, headers and bodies that no honest caller sends are refused, tell
// nothing and change nothing, also from who has every credential.
func TestAbuse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, idle)
	w.key()
	tables, keys := w.tables(), w.keys()
	credentials := "X-API-Key: " + apiKey + "\r\nX-Telegram-Bot-Api-Secret-Token: " + secret + "\r\nX-Webhook-Secret: " + secret + "\r\nIdempotency-Key: 1\r\n"
	request := func(line, headers, body string) string {
		return line + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + credentials + headers + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)) + body
	}
	vk := func(more string) string { return `{"group_id":209,"secret":"` + secret + `",` + more + `}` }
	small := bomb(64 << 20)
	encoded := "Content-Encoding: gzip\r\nContent-Type: application/json\r\n"
	deep := strings.Repeat("[", 100_000)
	for name, tc := range map[string]struct {
		raw    string
		status int
	}{
		"up":                        {request("GET /v1/../etc/passwd", "", ""), 404},
		"up, encoded":               {request("GET /v1/%2e%2e/%2e%2e/etc/passwd", "", ""), 404},
		"up from the page":          {request("GET /console/../v1/jobs", "", ""), 404},
		"up, encoded, from there":   {request("GET /console/..%2fv1%2fjobs", "", ""), 404},
		"up, twice encoded":         {request("GET /console/%252e%252e/%252e%252e/app.js", "", ""), 404},
		"two slashes":               {request("GET /v1//jobs", "", ""), 404},
		"a slash in a number":       {request("GET /v1/jobs/1%2f", "", ""), 404},
		"a NUL":                     {request("GET /v1/jobs/1%00", "", ""), 404},
		"a NUL in a name":           {request("GET /v1/metrics/backlog%00", "", ""), 404},
		"a NUL in the page":         {request("GET /console/%00", "", ""), 404},
		"a sign":                    {request("GET /v1/jobs/+1", "", ""), 404},
		"a leading zero":            {request("GET /v1/jobs/01", "", ""), 404},
		"less than nothing":         {request("GET /v1/jobs/-1", "", ""), 404},
		"more than a number":        {request("GET /v1/jobs/9223372036854775808", "", ""), 404},
		"other digits":              {request("GET /v1/jobs/%EF%BC%91", "", ""), 404},
		"other bytes":               {request("GET /v1/metrics/%ff%fe", "", ""), 404},
		"a bad escape":              {request("GET /v1/jobs/%zz", "", ""), 400},
		"another case":              {request("POST /TELEGRAM", "", `{"update_id":1}`), 404},
		"a webhook with a tail":     {request("POST /telegram/", "", `{"update_id":1}`), 404},
		"a webhook with a NUL":      {request("POST /telegram%00", "", `{"update_id":1}`), 404},
		"a webhook with parameters": {request("POST /vk;x=1", "", vk(`"type":"confirmation"`)), 404},
		"an absolute address":       {request("GET http://internal.example/latest/meta-data", "", ""), 404},
		"a proxy's method":          {request("CONNECT internal.example:443", "", ""), 404},
		"a method of no kind":       {request("FROBNICATE /v1/jobs", "", ""), 405},
		"TRACE":                     {request("TRACE /v1/jobs", "", ""), 405},

		"a huge header":               {request("GET /v1/jobs", "X-Big: "+strings.Repeat("x", 2<<20)+"\r\n", ""), 431},
		"a huge address":              {request("GET /v1/jobs?x="+strings.Repeat("x", 2<<20), "", ""), 431},
		"very many headers":           {request("GET /v1/metrics/none", strings.Repeat("X-Many: 1\r\n", 10_000), ""), 404},
		"a header of other bytes":     {request("GET /v1/jobs/999", "X-Bytes: \xff\xfe\r\n", ""), 404},
		"a header without a name":     {request("GET /v1/jobs", ": x\r\n", ""), 400},
		"a header over two lines":     {request("GET /v1/jobs/999", "X-Fold: a\r\n b\r\n", ""), 404},
		"two lengths":                 {request("POST /telegram", "Content-Length: 5\r\n", `{"update_id":1}`), 400},
		"a length and chunks":         {request("POST /telegram", "Transfer-Encoding: chunked\r\n", "0\r\n\r\nGET /v1/jobs HTTP/1.1\r\n\r\n"), 200},
		"chunks of no kind":           {request("POST /telegram", "Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"), 501},
		"a method by a header":        {request("GET /v1/customers/1/erase", "X-HTTP-Method-Override: POST\r\nX-Method-Override: POST\r\nX-HTTP-Method: POST\r\n", ""), 405},
		"a method by a parameter":     {request("GET /v1/jobs/1/cancel?_method=POST", "", "_method=POST"), 405},
		"a path by a header":          {request("GET /v1/openapi.jso", "X-Original-URL: /v1/openapi.json\r\nX-Rewrite-URL: /v1/openapi.json\r\n", ""), 404},
		"a webhook's method likewise": {request("GET /tracker", "X-HTTP-Method-Override: POST\r\n", `{"key":"SUP-1"}`), 405},

		"a bomb for the API":         {request("POST /v1/broadcasts", encoded, small), 400},
		"a bomb for Telegram's":      {request("POST /telegram", encoded, small), 200},
		"a bomb for VK's":            {request("POST /vk", encoded, small), 200},
		"a bomb for Tracker's":       {request("POST /tracker", encoded, small), 400},
		"deep, for the API":          {request("POST /v1/jobs/replay", "", deep), 400},
		"deep, for Tracker's":        {request("POST /tracker", "", `{"key":`+deep[:20_000]), 400},
		"deep and whole":             {request("POST /tracker", "", `{"key":`+deep[:20_000]+strings.Repeat("]", 20_000)+"}"), 400},
		"deep, for VK's":             {request("POST /vk", "", vk(`"type":"message_new","object":`+deep)), 200},
		"a key twice":                {request("POST /v1/jobs/replay", "", `{"dry_run":true,"dry_run":false}`), 422},
		"a key in two cases":         {request("POST /v1/jobs/replay", "", `{"dry_run":true,"DRY_RUN":false}`), 422},
		"a secret twice":             {request("POST /vk", "", `{"type":"confirmation","group_id":209,"secret":"`+secret+`","secret":"x"}`), 403},
		"not UTF-8, for the API":     {request("POST /v1/jobs/replay", "", "{\"kind\":\"\xff\",\"dry_run\":false}"), 400},
		"UTF-16":                     {request("POST /v1/jobs/replay", "", "\xff\xfe{\x00}\x00"), 400},
		"a mark before it":           {request("POST /v1/jobs/replay", "", "\ufeff{}"), 400},
		"a form":                     {request("POST /v1/jobs/replay", "Content-Type: application/x-www-form-urlencoded\r\n", "dry_run=false"), 415},
		"a form of parts":            {request("POST /v1/jobs/replay", "Content-Type: multipart/form-data; boundary=x\r\n", "--x--"), 415},
		"another charset":            {request("POST /v1/jobs/replay", "Content-Type: application/json; charset=utf-7\r\n", "+AHs-"), 400},
		"numbers beyond":             {request("POST /v1/messages", "", `{"customer":1e400,"texts":{"ru":"x"}}`), 422},
		"half a number":              {request("POST /v1/messages", "", `{"customer":1.5,"texts":{"ru":"x"}}`), 422},
		"a prototype":                {request("POST /v1/jobs/replay", "", `{"__proto__":{"dry_run":false}}`), 422},
		"an update of other bytes":   {request("POST /telegram", "", "{\"update_id\":\"\xff\"}"), 200},
		"an update that ends at NUL": {request("POST /telegram", "", "{\"update_id\":1}\x00"), 200},
	} {
		status, body := w.raw(tc.raw)
		if status != tc.status {
			t.Errorf("%s: %d %.200s, want %d", name, status, body, tc.status)
		}
		w.discreet(name, body)
	}
	w.unchanged(tables, keys)
}
