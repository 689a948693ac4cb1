package notification_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// document is openapi.json, by which the calls of a test are judged. OpenAPI 3.1's
// schemas are those of JSON Schema 2020-12.
type document struct {
	root     map[string]any
	compiler *jsonschema.Compiler

	mu   sync.Mutex
	seen map[string]bool // "<operation> <status>"
}

// at is where the document is for the compiler.
const at = "https://test.invalid/openapi.json"

func readDocument(t *testing.T) *document {
	t.Helper()
	raw, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	d := &document{root: root.(map[string]any), compiler: jsonschema.NewCompiler(), seen: map[string]bool{}}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	if err := d.compiler.AddResource(at, root); err != nil {
		t.Fatal(err)
	}
	return d
}

// operation is one operation of the document.
type operation struct {
	method, path, pointer string
	spec                  map[string]any
}

func (o operation) id() string { id, _ := o.spec["operationId"].(string); return id }
func (o operation) statuses() []string {
	return slices.Sorted(maps.Keys(o.spec["responses"].(map[string]any)))
}

// query gives the names of the parameters, sorted.
func (o operation) query() (names []string) {
	for _, p := range list(o.spec["parameters"]) {
		if p := p.(map[string]any); p["in"] == "query" {
			names = append(names, p["name"].(string))
		}
	}
	slices.Sort(names)
	return names
}

func (d *document) operations() (all []operation) {
	for path, item := range d.root["paths"].(map[string]any) {
		for method, spec := range item.(map[string]any) {
			all = append(all, operation{
				strings.ToUpper(method), path, "/paths/" + escape(path) + "/" + method, spec.(map[string]any),
			})
		}
	}
	slices.SortFunc(all, func(x, y operation) int { return strings.Compare(x.pointer, y.pointer) })
	return all
}

func escape(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }

// find gives the operation of a request; ok is false where there is none.
func (d *document) find(method, path string) (operation, bool) {
	for _, o := range d.operations() {
		want, have := strings.Split(o.path, "/"), strings.Split(path, "/")
		if o.method == method && slices.EqualFunc(want, have, func(w, h string) bool {
			n, err := strconv.ParseInt(h, 10, 64)
			return w == h || w == "{id}" && err == nil && n > 0 || w == "{name}" && h != ""
		}) {
			return o, true
		}
	}
	return operation{}, false
}

// check holds JSON against the schema at a pointer.
func (d *document) check(pointer string, raw []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	schema, err := d.compiler.Compile(at + "#" + strings.ReplaceAll(strings.ReplaceAll(pointer, "{", "%7B"), "}", "%7D"))
	if err != nil {
		return fmt.Errorf("schema %s: %w", pointer, err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

// judge: what is answered is documented, and what was done had been asked for as it
// is documented.
func (d *document) judge(t *testing.T, r *http.Request, body []byte, got reply) {
	t.Helper()
	o, ok := d.find(r.Method, r.URL.Path)
	if !ok {
		if got.status != http.StatusNotFound && got.status != http.StatusMethodNotAllowed {
			t.Errorf("%s %s is not documented and gives %d", r.Method, r.URL.Path, got.status)
		}
		if err := d.check("/components/schemas/Problem", got.body); err != nil {
			t.Errorf("%s %s: %d %s: %v", r.Method, r.URL.Path, got.status, got.body, err)
		}
		return
	}
	status := strconv.Itoa(got.status)
	d.mu.Lock()
	d.seen[o.id()+" "+status] = true
	d.mu.Unlock()
	answer, ok := o.spec["responses"].(map[string]any)[status].(map[string]any)
	if !ok {
		t.Errorf("%s: status %s is not documented: %s", o.id(), status, got.body)
		return
	}
	d.judgeAnswer(t, o, answer, got)
	if err := d.request(o, r, body); err != nil && got.status < 300 {
		t.Errorf("%s did what is not documented: %v: %s", o.id(), err, body)
	}
}

func (d *document) judgeAnswer(t *testing.T, o operation, answer map[string]any, got reply) {
	t.Helper()
	headers, _ := answer["headers"].(map[string]any)
	for name := range headers {
		if got.header.Get(name) == "" {
			t.Errorf("%s %d: no header %s", o.id(), got.status, name)
		}
	}
	content, _ := answer["content"].(map[string]any)
	if content == nil {
		if len(got.body) > 0 {
			t.Errorf("%s %d: an undocumented body %s", o.id(), got.status, got.body)
		}
		return
	}
	kind, _, err := mime.ParseMediaType(got.header.Get("Content-Type"))
	if _, ok := content[kind]; err != nil || !ok {
		t.Errorf("%s %d: content type %q is not documented", o.id(), got.status, got.header.Get("Content-Type"))
		return
	}
	pointer := fmt.Sprintf("%s/responses/%d/content/%s/schema", o.pointer, got.status, escape(kind))
	body := got.body
	if !strings.HasSuffix(kind, "json") {
		body, _ = json.Marshal(string(body)) // as the schema sees it
	}
	if err := d.check(pointer, body); err != nil {
		t.Errorf("%s %d: %v: %s", o.id(), got.status, err, got.body)
	}
}

// request says what of a request is not as documented.
func (d *document) request(o operation, r *http.Request, body []byte) error {
	if in, ok := o.spec["requestBody"].(map[string]any); ok && (len(body) > 0 || in["required"] == true) {
		if err := d.check(o.pointer+"/requestBody/content/application~1json/schema", body); err != nil {
			return err
		}
	} else if !ok && len(body) > 0 {
		return fmt.Errorf("there is a body")
	}
	list, _ := o.spec["parameters"].([]any)
	given := r.URL.Query()
	for i, p := range list {
		param := p.(map[string]any)
		name := param["name"].(string)
		var value string
		var has bool
		switch param["in"] {
		case "query":
			value, has = given.Get(name), given.Has(name)
			given.Del(name)
		case "header":
			value = r.Header.Get(name)
			has = value != ""
		default: // the path, which has been matched
			continue
		}
		if !has && param["required"] != true {
			continue
		}
		raw, _ := json.Marshal(value)
		if param["schema"].(map[string]any)["type"] == "integer" {
			raw = []byte(value)
		}
		if err := d.check(fmt.Sprintf("%s/parameters/%d/schema", o.pointer, i), raw); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(given) > 0 {
		return fmt.Errorf("parameters %v", given)
	}
	return nil
}
