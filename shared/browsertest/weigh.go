package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"
)

// Weight is what a page costs a browser that has nothing of it yet.
type Weight struct {
	Files int           `json:"files"` // with the page itself, without answers of an API
	Sent  int64         `json:"sent"`  // bytes of their bodies as they came, compressed or not
	Whole int64         `json:"whole"` // unpacked
	Ready time.Duration `json:"ready"` // from the begin of the navigation
}

// weighMost only ends what hangs.
const weighMost = 5 * time.Minute

// Weigh opens an address with an empty cache, and waits until ready, an expression in
// JavaScript, is true. files is how the addresses of the page's own files begin.
func Weigh(ctx context.Context, address, files, ready string) (w Weight, err error) {
	ctx, cancel := context.WithTimeout(ctx, weighMost)
	defer cancel()
	out, err := Run(ctx, filepath.Join(tools(), "weigh.mjs"), map[string]string{"page": address, "files": files, "ready": ready})
	if err != nil {
		return w, fmt.Errorf("weigh the page: %w: %s", err, out)
	}
	if err := json.Unmarshal(out, &w); err != nil {
		return w, fmt.Errorf("weigh the page: %w: %s", err, out)
	}
	w.Ready *= time.Millisecond
	return w, nil
}
