package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
)

// spec is openapi.json, as the tests read it.
type spec struct {
	Paths map[string]map[string]struct {
		Parameters  []map[string]any
		RequestBody struct {
			Content map[string]struct{ Schema, Example any }
		}
		Responses map[string]response
		Examples  []struct{ Request string } `json:"x-examples"`
	}
	Components struct {
		Parameters map[string]map[string]any
		Responses  map[string]response
		Schemas    map[string]map[string]any
	}
}

type response struct {
	Ref     string `json:"$ref"`
	Content map[string]struct{ Schema any }
}

func readSpec(t testing.TB) *spec {
	t.Helper()
	content, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var s spec
	if err := json.Unmarshal(content, &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// parametersOf returns the parameters in the address of an operation, by their names.
func (s *spec) parametersOf(path, method string) map[string]map[string]any {
	all := map[string]map[string]any{}
	for _, p := range s.Paths[path][method].Parameters {
		if ref, isRef := p["$ref"].(string); isRef {
			p = s.Components.Parameters[strings.TrimPrefix(ref, "#/components/parameters/")]
		}
		if p["in"] == "query" {
			all[p["name"].(string)] = p
		}
	}
	return all
}

// check returns an error if a JSON value does not match a schema (JSON Schema 2020-12). It supports only the
// keywords that openapi.json uses, and fails for others. Unlike the standard, it refuses members of an
// object that the schema does not name. The parameter at is the place of the value, for the error.
func (s *spec) check(schema, value any, at string) error {
	rules, isObject := schema.(map[string]any)
	if !isObject {
		return fmt.Errorf("%s: the schema is %v", at, schema)
	}
	for keyword, rule := range rules {
		if err := s.checkKeyword(rules, keyword, rule, value, at); err != nil {
			return err
		}
	}
	if object, isObject := value.(map[string]any); isObject && rules["$ref"] == nil {
		return s.checkMembers(rules, object, at)
	}
	return nil
}

func (s *spec) checkKeyword(rules map[string]any, keyword string, rule, value any, at string) error {
	text, _ := value.(string)
	number, isNumber := value.(float64)
	list, isList := value.([]any)
	switch keyword {
	case "description", "default", "example", "properties", "required", "additionalProperties":
	case "$ref":
		name := strings.TrimPrefix(rule.(string), "#/components/schemas/")
		return s.check(s.Components.Schemas[name], value, at)
	case "type":
		types, several := rule.([]any)
		if !several {
			types = []any{rule}
		}
		if !slices.ContainsFunc(types, func(name any) bool { return hasType(value, name.(string)) }) {
			return fmt.Errorf("%s: %v is no %v", at, value, rule)
		}
	case "enum":
		if !slices.Contains(rule.([]any), value) {
			return fmt.Errorf("%s: %v is none of %v", at, value, rule)
		}
	case "minimum":
		if isNumber && number < rule.(float64) {
			return fmt.Errorf("%s: %v is below %v", at, value, rule)
		}
	case "maximum":
		if isNumber && number > rule.(float64) {
			return fmt.Errorf("%s: %v is above %v", at, value, rule)
		}
	case "minLength":
		if len(text) < int(rule.(float64)) {
			return fmt.Errorf("%s: %q is too short", at, text)
		}
	case "minItems":
		if isList && len(list) < int(rule.(float64)) {
			return fmt.Errorf("%s: %d elements", at, len(list))
		}
	case "maxItems":
		if isList && len(list) > int(rule.(float64)) {
			return fmt.Errorf("%s: %d elements", at, len(list))
		}
	case "items":
		for i, element := range list {
			if err := s.check(rule, element, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case "format":
		_, err := time.Parse(time.RFC3339, text)
		if rule == "uri" {
			_, err = url.ParseRequestURI(text)
		}
		if err != nil {
			return fmt.Errorf("%s: %q is no %v", at, text, rule)
		}
	default:
		return fmt.Errorf("%s: the keyword %s is unknown to this test", at, keyword)
	}
	return nil
}

func (s *spec) checkMembers(rules, object map[string]any, at string) error {
	known, _ := rules["properties"].(map[string]any)
	required, _ := rules["required"].([]any)
	for _, name := range required {
		if _, found := object[name.(string)]; !found {
			return fmt.Errorf("%s: there is no %v", at, name)
		}
	}
	for name, member := range object {
		schema := known[name]
		if schema == nil {
			schema = rules["additionalProperties"]
		}
		if schema == true {
			continue
		}
		if schema == nil {
			return fmt.Errorf("%s: the member %s is not described", at, name)
		}
		if err := s.check(schema, member, at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func hasType(value any, name string) bool {
	switch value := value.(type) {
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case float64:
		return name == "number" || name == "integer" && value == math.Trunc(value)
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

// described compares the members that a Go type has in JSON with those that a schema describes, and
// goes on with the types of the members.
func (s *spec) described(t *testing.T, of reflect.Type, name string, seen map[string]bool) {
	t.Helper()
	if seen[name] {
		return
	}
	seen[name] = true
	schema := s.Components.Schemas[name]
	known, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	fields := querytest.Members(of)
	for member := range known {
		if _, found := fields[member]; !found {
			t.Errorf("%s describes the member %s, which %v does not have", name, member, of)
		}
	}
	for member, field := range fields {
		rules, found := known[member].(map[string]any)
		if !found {
			t.Errorf("%s does not describe the member %s of %v; add it to openapi.json", name, member, of)
			continue
		}
		_, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if always := options == ""; always != slices.Contains(required, any(member)) {
			t.Errorf("%s.%s: required is %v, but %v has it always: %v", name, member, !always, of, always)
		}
		inner := field.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice || inner.Kind() == reflect.Map {
			inner = inner.Elem()
			if next, found := rules["items"].(map[string]any); found {
				rules = next
			} else if next, found := rules["additionalProperties"].(map[string]any); found {
				rules = next
			}
		}
		ref, _ := rules["$ref"].(string)
		if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[time.Time]() {
			s.described(t, inner, strings.TrimPrefix(ref, "#/components/schemas/"), seen)
		}
	}
}
