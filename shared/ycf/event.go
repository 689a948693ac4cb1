package ycf

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Formats in which API Gateway calls a function (payload_format_version).
const (
	// FormatDirect is a call of the function's own address, which has no path.
	FormatDirect = ""
	Format01     = "0.1" // the gateway's default
	Format10     = "1.0"
)

// httpEvent is an HTTP call as the cloud passes it to a function. A field that a
// format does not have is left out. Path is the path of the gateway's
// specification ("/v1/{path+}") in format 0.1, which has the actual one in URL,
// and the actual path in 1.0, which has the specification's in Resource.
type httpEvent struct {
	Version     string              `json:"version,omitempty"`
	Resource    string              `json:"resource,omitempty"`
	URL         string              `json:"url,omitempty"`
	Path        string              `json:"path"`
	Method      string              `json:"httpMethod"`
	Headers     map[string]string   `json:"headers"`
	MultiHeader map[string][]string `json:"multiValueHeaders"`
	Query       map[string]string   `json:"queryStringParameters"`
	MultiQuery  map[string][]string `json:"multiValueQueryStringParameters"`
	Context     requestContext      `json:"requestContext"`

	PathParams      map[string]string   `json:"pathParams,omitempty"` // 0.1
	Params          map[string]string   `json:"params,omitempty"`
	MultiParams     map[string][]string `json:"multiValueParams,omitempty"`
	PathParameters  map[string]string   `json:"pathParameters,omitempty"` // 1.0
	Parameters      map[string]string   `json:"parameters,omitempty"`
	MultiParameters map[string][]string `json:"multiValueParameters,omitempty"`

	// Body is a string and never []byte, which encoding/json would take for base64.
	Body     string `json:"body"`
	IsBase64 bool   `json:"isBase64Encoded"`
}

type requestContext struct {
	Identity struct {
		SourceIP  string `json:"sourceIp"`
		UserAgent string `json:"userAgent"`
	} `json:"identity"`
	Method    string `json:"httpMethod"`
	RequestID string `json:"requestId"`
	Time      string `json:"requestTime"`
	TimeEpoch int64  `json:"requestTimeEpoch"`
}

// removedFromRequest never reaches a function ("Invoking a function").
var removedFromRequest = []string{
	"Expect", "Te", "Trailer", "Upgrade", "Proxy-Authenticate", "Authorization", "Connection", "Content-Md5",
	"Max-Forwards", "Server", "Transfer-Encoding", "Www-Authenticate", "Cookie",
}

// header gives the event's headers; one that came several times is whole only in
// multiValueHeaders.
func (e *httpEvent) header() http.Header {
	h := make(http.Header, len(e.Headers))
	for name, value := range e.Headers {
		h.Set(name, value)
	}
	for name := range e.MultiHeader {
		h.Del(name)
	}
	for _, name := range slices.Sorted(maps.Keys(e.MultiHeader)) {
		for _, value := range e.MultiHeader[name] {
			h.Add(name, value)
		}
	}
	for _, name := range removedFromRequest {
		h.Del(name)
	}
	return h
}

// url gives the actual path and query.
func (e *httpEvent) url() (*url.URL, error) {
	path := e.Path
	switch {
	case e.Version == Format10:
	case e.URL != "":
		path = e.URL
	default:
		for name, value := range e.PathParams {
			path = strings.NewReplacer("{"+name+"}", value, "{"+name+"+}", value).Replace(path)
		}
	}
	path, query, _ := strings.Cut(path, "?")
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	unescaped, err := url.PathUnescape(path)
	if err != nil {
		return nil, errors.New("the path is not escaped as it should be")
	}
	u := &url.URL{Path: unescaped, RawPath: path, RawQuery: query}
	values := url.Values{}
	for name, value := range e.Query {
		values[name] = []string{value}
	}
	for name, all := range e.MultiQuery {
		values[name] = all
	}
	if len(values) > 0 {
		u.RawQuery = values.Encode()
	}
	return u, nil
}

func (e *httpEvent) body() ([]byte, error) { return decodeBody(e.Body, e.IsBase64) }

func decodeBody(body string, isBase64 bool) ([]byte, error) {
	if !isBase64 {
		return []byte(body), nil
	}
	b, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		return nil, fmt.Errorf("decode body: %w", err)
	}
	return b, nil
}

// encodeBody gives text as it is and everything else in base64: JSON has no
// other way to carry bytes.
func encodeBody(body []byte, asText bool) (string, bool) {
	if asText && utf8.Valid(body) {
		return string(body), false
	}
	return base64.StdEncoding.EncodeToString(body), true
}

// last gives single values for those who look there: the last of each.
func last(multi map[string][]string) map[string]string {
	single := make(map[string]string, len(multi))
	for name, values := range multi {
		if len(values) > 0 {
			single[name] = values[len(values)-1]
		}
	}
	return single
}
