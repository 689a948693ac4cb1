package notification

import (
	"context"
	_ "embed" // the document
	"encoding/json"
)

//go:embed openapi.json
var openapi []byte

// document serves the description of the API (OpenAPI 3.1).
func (a *API) document(context.Context, *call) (any, error) { return json.RawMessage(openapi), nil }
