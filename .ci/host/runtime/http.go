package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
)

// httpEvent is an event of API Gateway in its format 1.0.
type httpEvent struct {
	Path        string              `json:"path"`
	Method      string              `json:"httpMethod"`
	Headers     map[string]string   `json:"headers"`
	MultiHeader map[string][]string `json:"multiValueHeaders"`
	MultiQuery  url.Values          `json:"multiValueQueryStringParameters"`
	Body        string              `json:"body"`
	IsBase64    bool                `json:"isBase64Encoded"`
	Context     struct {
		RequestID string `json:"requestId"`
	} `json:"requestContext"`
}

type httpResponse struct {
	Status      int                 `json:"statusCode"`
	Headers     map[string]string   `json:"headers"`
	MultiHeader map[string][]string `json:"multiValueHeaders"`
	Body        string              `json:"body"`
	IsBase64    bool                `json:"isBase64Encoded"`
}

func serve(h http.Handler) handler {
	return func(ctx context.Context, event []byte) (json.RawMessage, error) {
		r, err := requestOf(ctx, event)
		if err != nil {
			return nil, err
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		out := httpResponse{
			Status: w.Code, Headers: map[string]string{}, MultiHeader: w.Result().Header,
			Body: base64.StdEncoding.EncodeToString(w.Body.Bytes()), IsBase64: true,
		}
		for name, values := range out.MultiHeader {
			out.Headers[name] = values[len(values)-1]
		}
		return json.Marshal(out)
	}
}

func requestOf(ctx context.Context, event []byte) (*http.Request, error) {
	var e httpEvent
	if err := json.Unmarshal(event, &e); err != nil {
		return nil, fmt.Errorf("decode HTTP event: %w", err)
	}
	body := e.Body
	if e.IsBase64 {
		b, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			return nil, fmt.Errorf("decode body: %w", err)
		}
		body = string(b)
	}
	u := url.URL{Path: e.Path, RawQuery: e.MultiQuery.Encode()}
	ctx = context.WithValue(ctx, "lambdaRuntimeRequestID", e.Context.RequestID) //nolint:staticcheck // see main
	r, err := http.NewRequestWithContext(ctx, e.Method, u.String(), strings.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	for name, value := range e.Headers {
		r.Header.Set(name, value)
	}
	for name, values := range e.MultiHeader {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	r.Host = r.Header.Get("Host")
	return r, nil
}
