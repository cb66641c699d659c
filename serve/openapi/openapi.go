// Package openapi holds the document that describes the interface of a server of private answers to
// programs, OpenAPI 3.0.3. The handler's tests validate it, and every response against it.
package openapi

import _ "embed"

// JSON is the document.
//
//go:embed openapi.json
var JSON []byte
