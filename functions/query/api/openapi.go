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

// guidePage is the page for people at /v1/, made from openAPI.
var guidePage = func() []byte {
	var d description
	if err := json.Unmarshal(openAPI, &d); err != nil {
		panic(fmt.Sprintf("openapi.json: %v", err))
	}
	var page bytes.Buffer
	about := struct {
		Description string
		Operations  []operation
	}{d.Info.Description, d.operations()}
	if err := template.Must(template.New("").Parse(guideTemplate)).Execute(&page, about); err != nil {
		panic(fmt.Sprintf("guide.html: %v", err))
	}
	return page.Bytes()
}()

// describe answers with openAPI.
func (a *api) describe(w http.ResponseWriter, r *http.Request, _ url.Values) error {
	write(w, r, "application/json", openAPI, openAPI)
	return nil
}

// guide answers with guidePage.
func (a *api) guide(w http.ResponseWriter, r *http.Request, _ url.Values) error {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'")
	write(w, r, "text/html; charset=utf-8", guidePage, guidePage)
	return nil
}
