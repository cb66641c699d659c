package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/darrm/darrm/serve/openapi"
)

func load(t testing.TB, b []byte) (*openapi3.T, error) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(b)
	if err != nil {
		return nil, err
	}
	return doc, doc.Validate(context.Background(), openapi3.EnableExamplesValidation())
}

// The document is valid OpenAPI, its examples are valid by its schemas, and the validator that
// says so sees what is wrong.
func TestDocumentIsValid(t *testing.T) {
	if _, err := load(t, openapi.JSON); err != nil {
		t.Fatal(err)
	}
	for old, broken := range map[string]string{
		`"openapi": "3.0.3"`:             `"version": "3.0.3"`,
		`"#/components/schemas/Amount"`:  `"#/components/schemas/Nothing"`,
		`"request_id": "march-1"`:        `"request": "march-1"`,
		`"operationId": "health"`:        `"operationId": "budget"`,
		`"pattern": "^[0-9a-f]{64}$"`:    `"pattern": "^[0-9a-f"`,
		`"description": "Malformed JSON`: `"descripshun": "Malformed JSON`,
		`"type": "object"`:               `"type": "objekt"`,
	} {
		if !bytes.Contains(openapi.JSON, []byte(old)) {
			t.Fatalf("the document has no %s", old)
		}
		if _, err := load(t, bytes.Replace(openapi.JSON, []byte(old), []byte(broken), 1)); err == nil {
			t.Errorf("a document with %s for %s is valid", broken, old)
		}
	}
}

// Every way to end has a description, every path its failures, and only /healthz is open to
// everybody.
func TestEveryPathSaysHowItFails(t *testing.T) {
	doc, err := load(t, openapi.JSON)
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, o := range item.Operations() {
			if open := o.Security != nil; open != (path == "/healthz") {
				t.Errorf("%s %s: asks for no token: %v", method, path, open)
			}
			for _, status := range []int{200, 405, 431, 500, 503} {
				if o.Responses.Status(status) == nil {
					t.Errorf("%s %s: no %d", method, path, status)
				}
			}
			if path != "/healthz" && (o.Responses.Status(401) == nil || o.Responses.Status(403) == nil) {
				t.Errorf("%s %s: no 401 or 403", method, path)
			}
			for _, status := range []int{408, 409, 413, 415, 429} { // of a body, and of what is paid
				if there := o.Responses.Status(status) != nil; there != (path == "/v1/answers") {
					t.Errorf("%s %s: %d is there: %t", method, path, status, there)
				}
			}
		}
	}
}

// What has the promise of the interface is closed: a field that the document does not know would
// be one that nobody looked at.
func TestAnswersAreClosed(t *testing.T) {
	doc, err := load(t, openapi.JSON)
	if err != nil {
		t.Fatal(err)
	}
	const good = `{"request_id":"r","label":"yes","class":1,"replayed":false,"receipt":{"ledger":"` +
		"0123456789abcdef0123456789abcdef" + `","seq":1,"hash":"` +
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" +
		`"},"promise":{"epsilon":0.3,"delta":1e-5,"of":"this answer","teachers":"fresh","affected":1},"remaining":{"epsilon":1,"delta":0}}`
	visit := func(text string) error {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return doc.Components.Schemas["Answer"].Value.VisitJSON(v)
	}
	if err := visit(good); err != nil {
		t.Fatal(err)
	}
	for old, broken := range map[string]string{
		`"replayed":false`: `"replayed":false,"votes":[1]`,
		`"seq":1`:          `"seq":0`,
		`"class":1`:        `"class":-1`,
		`"epsilon":0.3`:    `"epsilon":-0.3`,
		`"fresh"`:          `"stale"`,
		`"hash":"0`:        `"hash":"x`,
		`"epsilon":1`:      `"epsilon":"1"`,
		`"label":"yes",`:   ``,
	} {
		if err := visit(strings.Replace(good, old, broken, 1)); err == nil {
			t.Errorf("an answer with %s for %s is valid", broken, old)
		}
	}
}
