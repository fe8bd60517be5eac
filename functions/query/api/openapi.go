package api

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
)

// openAPI is the description of the API (OpenAPI 3.1). The tests of this package hold it to what the
// API really takes and answers.
//
//go:embed openapi.json
var openAPI []byte

//go:embed guide.html
var guideTemplate string

// description has the parts of openAPI that the guide shows.
type description struct {
	Info       struct{ Description string }
	Paths      map[string]map[string]operation // by path, then by method in lower case
	Components struct {
		Parameters map[string]parameter
	}
}

// operation is what the API does for a method of a path.
type operation struct {
	Summary, Description string
	Parameters           []parameter
	RequestBody          struct {
		Content map[string]struct{ Example json.RawMessage } // by media type
	}
	Examples []struct{ Request, Says string } `json:"x-examples"`

	Method, Path string // where the operation is, set by operations
}

// parameter is a parameter of an operation, or a reference to one in Components.
type parameter struct {
	Ref               string `json:"$ref"`
	Name, Description string
	Required          bool
	Schema            struct {
		Default any
		Enum    []string
		Items   struct{ Enum []string }
	}
}

// operations returns the operations in the order of openAPI, with the parameters to which they refer.
func (d *description) operations() (all []operation) {
	place := func(path string) int { return bytes.Index(openAPI, []byte(`"`+path+`": {`)) }
	paths := slices.SortedFunc(maps.Keys(d.Paths), func(a, b string) int { return place(a) - place(b) })
	for _, path := range paths {
		for method, o := range d.Paths[path] {
			o.Method, o.Path = strings.ToUpper(method), path
			for i, p := range o.Parameters {
				if name, isRef := strings.CutPrefix(p.Ref, "#/components/parameters/"); isRef {
					o.Parameters[i] = d.Components.Parameters[name]
				}
			}
			all = append(all, o)
		}
	}
	return all
}

// guideData is the data of guideTemplate.
type guideData struct {
	Description string
	Operations  []operation
	Origin      string // scheme and host of this server, as the reader has reached it
}

// guidePage returns the page for people at /v1/, made from openAPI, for a reader who has reached this
// server at the origin.
var guidePage = func() func(origin string) ([]byte, error) {
	var d description
	if err := json.Unmarshal(openAPI, &d); err != nil {
		panic(fmt.Sprintf("openapi.json: %v", err))
	}
	page, operations := template.Must(template.New("").Parse(guideTemplate)), d.operations()
	return func(origin string) ([]byte, error) {
		var content bytes.Buffer
		if err := page.Execute(&content, guideData{d.Info.Description, operations, origin}); err != nil {
			return nil, fmt.Errorf("guide.html: %w", err)
		}
		return content.Bytes(), nil
	}
}()

// describe answers with openAPI.
func (a *api) describe(w http.ResponseWriter, r *http.Request, _ url.Values) error {
	write(w, r, "application/json", openAPI, openAPI)
	return nil
}

// guide answers with the page of guidePage.
func (a *api) guide(w http.ResponseWriter, r *http.Request, _ url.Values) error {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'")
	page, err := guidePage(request.Origin(r))
	if err != nil {
		return err
	}
	write(w, r, "text/html; charset=utf-8", page, page)
	return nil
}
