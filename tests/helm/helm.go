// Package helm renders charts of Helm as Helm does, as far as the chart of infra/servers needs it. Helm's own engine
// brings the client of Kubernetes with it, which takes minutes to compile. These differ from Helm:
//
//   - Templates have only the functions of the table functions; a chart that uses others is refused.
//   - Values of subcharts, files of the chart, and the cluster are not there.
//   - A number is a float64 wherever its value came from, as in Helm for a file of values.
package helm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"
)

// Object is an object of Kubernetes, as JSON decodes it.
type Object = map[string]any

// Rendered is what a chart makes of values.
type Rendered struct {
	Objects []Object
	Notes   string // NOTES.txt, which is shown to the user
}

// Render renders the chart in a directory, for a release with the given name. The values, in YAML, are those that a
// user gives: they are checked by the chart's schema and laid over its own values. It fails as Helm does: for values
// that the schema forbids, and where the chart calls fail or required.
func Render(dir, release, values string) (r Rendered, err error) {
	all, err := merge(dir, values)
	if err != nil {
		return r, err
	}
	root := template.New("").Option("missingkey=zero")
	root.Funcs(functions(root))
	paths, err := filepath.Glob(filepath.Join(dir, "templates", "*"))
	if err != nil || len(paths) == 0 {
		return r, fmt.Errorf("no templates in %s: %w", dir, err)
	}
	if _, err := root.ParseFiles(paths...); err != nil {
		return r, err
	}
	given := map[string]any{"Values": all, "Release": map[string]any{"Name": release, "Namespace": "default"}}
	for _, path := range paths {
		name := filepath.Base(path)
		if strings.HasPrefix(name, "_") {
			continue
		}
		text, err := execute(root, name, given)
		if err != nil {
			return r, err
		}
		if name == "NOTES.txt" {
			r.Notes = text
			continue
		}
		objects, err := decode(text)
		if err != nil {
			return r, fmt.Errorf("%s makes no YAML: %w\n%s", name, err, text)
		}
		r.Objects = append(r.Objects, objects...)
	}
	return r, nil
}

// merge returns the values of the chart in a directory with those of a user over them. A null of the user removes a
// value of the chart.
func merge(dir, values string) (map[string]any, error) {
	own, err := os.ReadFile(filepath.Join(dir, "values.yaml"))
	if err != nil {
		return nil, err
	}
	under, err := parse(own)
	if err != nil {
		return nil, err
	}
	over, err := parse([]byte(values))
	if err != nil {
		return nil, err
	}
	lay(under, over)
	text, err := os.ReadFile(filepath.Join(dir, "values.schema.json"))
	if err != nil {
		return nil, err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, err
	}
	return under, resolved.Validate(under)
}

// lay lays values over others.
func lay(under, over map[string]any) {
	for name, value := range over {
		below, isMap := under[name].(map[string]any)
		above, both := value.(map[string]any)
		switch {
		case value == nil:
			delete(under, name)
		case isMap && both:
			lay(below, above)
		default:
			under[name] = value
		}
	}
}

// parse returns a document of YAML as JSON would decode it.
func parse(text []byte) (map[string]any, error) {
	objects, err := decode(string(text))
	if err != nil || len(objects) == 0 {
		return map[string]any{}, err
	}
	return objects[0], nil
}

// decode returns the documents of YAML that are not empty, as JSON would decode them.
func decode(text string) (objects []Object, err error) {
	for documents := yaml.NewDecoder(strings.NewReader(text)); ; {
		var document, object Object
		if err := documents.Decode(&document); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		as, err := json.Marshal(document)
		if err == nil {
			err = json.Unmarshal(as, &object)
		}
		if err != nil {
			return nil, err
		}
		if object != nil {
			objects = append(objects, object)
		}
	}
}

// execute returns what the template with the name makes of a value.
func execute(root *template.Template, name string, of any) (string, error) {
	var made bytes.Buffer
	err := root.ExecuteTemplate(&made, name, of)
	return strings.ReplaceAll(made.String(), "<no value>", ""), err
}
