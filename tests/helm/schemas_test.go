package helm

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

const chart = "../../infra/servers/chart"

// renderAll renders the chart of infra/servers with each of the values in testdata.
func renderAll(t *testing.T) map[string]Rendered {
	t.Helper()
	paths, err := filepath.Glob("testdata/values/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no values: %v", err)
	}
	all := make(map[string]Rendered)
	for _, path := range paths {
		values, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if all[filepath.Base(path)], err = Render(chart, "bucketsearch", string(values)); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	return all
}

// TestSchemas checks all objects against the schemas of their kinds, of Kubernetes and of KEDA. Fields that these do
// not have are errors. testdata/README.md says where the schemas are from.
func TestSchemas(t *testing.T) {
	t.Parallel()
	schemas := kubernetes(t)
	maps.Copy(schemas, keda(t))
	used := make(map[string]bool)
	for name, rendered := range renderAll(t) {
		for _, object := range rendered.Objects {
			kind := fmt.Sprintf("%v %v", object["apiVersion"], object["kind"])
			used[kind] = true
			if schema := schemas[kind]; schema == nil {
				t.Errorf("%s: there is no schema of %s", name, kind)
			} else if err := schema.Validate(object); err != nil {
				t.Errorf("%s: %s %s: %v", name, kind, nameOf(object), err)
			}
		}
	}
	for kind := range schemas {
		if !used[kind] {
			t.Errorf("no object is a %s, of which there is a schema", kind)
		}
	}
	bad := Object{"apiVersion": "v1", "kind": "Service", "spec": map[string]any{"port": 80.}}
	if err := schemas["v1 Service"].Validate(bad); err == nil {
		t.Errorf("a field that a Service does not have is no error: %v", bad)
	}
}

// kubernetes returns the schemas of kinds of Kubernetes, by version and kind, such as "apps/v1 Deployment".
func kubernetes(t *testing.T) map[string]*jsonschema.Resolved {
	t.Helper()
	text, err := os.ReadFile("testdata/kubernetes.json")
	if err != nil {
		t.Fatal(err)
	}
	var read map[string]map[string]any
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	schemas := make(map[string]*jsonschema.Resolved)
	for name, definition := range read["definitions"] {
		kinds, _ := definition.(map[string]any)["x-kubernetes-group-version-kind"].([]any)
		for _, each := range kinds {
			of := each.(map[string]any)
			version := strings.TrimPrefix(fmt.Sprintf("%v/%v", of["group"], of["version"]), "/")
			if strings.HasSuffix(name, fmt.Sprint(".", of["kind"])) && !strings.HasPrefix(name, "io.k8s.apimachinery") {
				schemas[version+" "+of["kind"].(string)] = resolve(t, map[string]any{"$ref": "#/definitions/" + name, "definitions": read["definitions"]})
			}
		}
	}
	return schemas
}

// keda returns the schema of a ScaledObject, as kubernetes does.
func keda(t *testing.T) map[string]*jsonschema.Resolved {
	t.Helper()
	text, err := os.ReadFile("testdata/keda.sh_scaledobjects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	resource, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	version := at[[]any](resource, "spec", "versions")[0].(Object)
	schema := at[Object](version, "schema", "openAPIV3Schema")
	properties := at[Object](schema, "properties")
	properties["metadata"] = Object{"type": "object"} // which Kubernetes knows
	delete(properties, "status")                      // which KEDA writes
	return map[string]*jsonschema.Resolved{"keda.sh/v1alpha1 ScaledObject": resolve(t, schema)}
}

// resolve returns a schema of Kubernetes, by which fields that it does not name are errors.
func resolve(t *testing.T, of Object) *jsonschema.Resolved {
	t.Helper()
	text, err := json.Marshal(strict(of))
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// strict returns a schema, or a part of one, in which objects have no other fields than those that are named. A
// field that may be a number or a text may be either.
func strict(part any) any {
	switch p := part.(type) {
	case []any:
		made := make([]any, len(p))
		for i, each := range p {
			made[i] = strict(each)
		}
		return made
	case Object:
		made := make(Object, len(p))
		for name, each := range p {
			made[name] = strict(each)
		}
		if _, names := p["properties"].(Object); names && p["additionalProperties"] == nil && p["type"] == "object" {
			made["additionalProperties"] = false
		}
		if p["format"] == "int-or-string" {
			made["type"] = []any{"integer", "string"}
		}
		return made
	}
	return part
}

// at returns the value at a path of names in an object; the zero value if there is none of this type.
func at[T any](object Object, path ...string) (value T) {
	var found any = object
	for _, name := range path {
		in, _ := found.(Object)
		found = in[name]
	}
	value, _ = found.(T)
	return value
}

// nameOf returns the name of an object.
func nameOf(object Object) string { return at[string](object, "metadata", "name") }

// TestReferences checks that objects name others that are there: pods their ServiceAccount, an Ingress its Service,
// and a ScaledObject its Deployment, whose number of pods nobody else sets; that what selects pods selects those of
// one Deployment; and that KEDA gets the metadata that its triggers know, finds Redis, and is told of both keys of
// every queue of the Deployment.
func TestReferences(t *testing.T) {
	t.Parallel()
	known := map[string][]string{ // fields with tags in redis_streams_scaler.go and redis_scaler.go of KEDA
		"redis-streams": {"address", "enableTLS", "username", "passwordFromEnv", "stream", "streamLength"},
		"redis":         {"address", "enableTLS", "username", "passwordFromEnv", "listName", "listLength"},
	}
	for name, rendered := range renderAll(t) {
		there := make(map[string]Object) // by kind and name
		var pods []Object                // labels
		for _, object := range rendered.Objects {
			id := fmt.Sprint(object["kind"], " ", nameOf(object))
			if there[id] != nil {
				t.Errorf("%s: two of %s", name, id)
			}
			there[id] = object
			if labels := at[Object](object, "spec", "template", "metadata", "labels"); labels != nil {
				if slices.ContainsFunc(pods, func(pod Object) bool { return maps.Equal(pod, labels) }) {
					t.Errorf("%s: pods of two kinds have the labels %v", name, labels)
				}
				pods = append(pods, labels)
			}
		}
		for id, object := range there {
			need := func(kind, named string) Object {
				if there[kind+" "+named] == nil {
					t.Errorf("%s: %s names a %s %q, which is not there", name, id, kind, named)
				}
				return there[kind+" "+named]
			}
			selector := at[Object](object, "spec", "selector")
			if labels := at[Object](selector, "matchLabels"); labels != nil {
				selector = labels
			}
			if selector != nil && !slices.ContainsFunc(pods, func(pod Object) bool { return maps.Equal(pod, selector) }) {
				t.Errorf("%s: %s selects no pods: %v", name, id, selector)
			}
			switch object["kind"] {
			case "Deployment":
				if account := at[string](object, "spec", "template", "spec", "serviceAccountName"); account != "" {
					need("ServiceAccount", account)
				}
			case "Ingress":
				paths := at[[]any](at[[]any](object, "spec", "rules")[0].(Object), "http", "paths")
				need("Service", at[string](paths[0].(Object), "backend", "service", "name"))
			case "ScaledObject":
				scaled := need("Deployment", at[string](object, "spec", "scaleTargetRef", "name"))
				if scaled == nil {
					continue
				}
				if replicas := at[Object](scaled, "spec")["replicas"]; replicas != nil {
					t.Errorf("%s: %s is scaled, and %v pods are set", name, id, replicas)
				}
				var keys []string
				for _, each := range at[[]any](object, "spec", "triggers") {
					trigger := each.(Object)
					metadata := at[Object](trigger, "metadata")
					for field := range metadata {
						if !slices.Contains(known[trigger["type"].(string)], field) {
							t.Errorf("%s: %s has a trigger with the unknown metadata %s", name, id, field)
						}
					}
					keys = append(keys, at[string](metadata, "stream")+at[string](metadata, "listName"))
					// KEDA runs in a namespace of its own, where the name of a Service alone is not known.
					address := at[string](metadata, "address")
					if service, inside := strings.CutSuffix(address, ".default.svc:6379"); inside {
						need("Service", service)
					} else if address != "redis.example.org:6379" {
						t.Errorf("%s: %s looks for Redis at %q", name, id, address)
					}
				}
				var want []string
				for function := range strings.SplitSeq(flag(scaled, "--functions="), ",") {
					want = append(want, "bucketsearch:queue:{"+function+"}", "bucketsearch:queue:{"+function+"}:delayed")
				}
				if !slices.Equal(keys, want) {
					t.Errorf("%s: %s looks at %q, want %q", name, id, keys, want)
				}
			}
		}
	}
}

// flag returns the value of a flag of the only container of a Deployment.
func flag(deployment Object, name string) string {
	container := at[[]any](deployment, "spec", "template", "spec", "containers")[0].(Object)
	for _, argument := range at[[]any](container, "args") {
		if value, is := strings.CutPrefix(argument.(string), name); is {
			return value
		}
	}
	return ""
}
