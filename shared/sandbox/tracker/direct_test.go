package tracker_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
)

// searchDirectly calls the handler without a network.
func searchDirectly(h http.Handler, query string) int {
	body, _ := json.Marshal(map[string]string{"query": query})
	r := httptest.NewRequest(http.MethodPost, "/v3/issues/_search", bytes.NewReader(body))
	r.Header.Set("Authorization", "OAuth secret")
	r.Header.Set("X-Org-ID", "77")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}
