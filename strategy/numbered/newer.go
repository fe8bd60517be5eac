package numbered

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// former is implemented by documents with fields that have other names in older formats.
type former interface {
	// Former returns the older names as paths, such as "limits.storage_bytes".
	Former() []string
}

// unknown returns the paths of the fields in the JSON of a document that neither its type T nor its older
// formats have, each once and sorted.
func unknown[T Document](object []byte) ([]string, error) {
	var value any
	if err := json.Unmarshal(object, &value); err != nil {
		return nil, err
	}
	var document T
	found := make(map[string]bool)
	findUnknown(value, reflect.TypeOf(document), "", found)
	if f, has := any(document).(former); has {
		for _, path := range f.Former() {
			delete(found, path)
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// findUnknown adds to found the paths of the fields in a JSON value that the type t lacks. The parameter path is
// that of the value, "" for the document. The elements of a list have the path of the list.
func findUnknown(value any, t reflect.Type, path string, found map[string]bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch value := value.(type) {
	case []any:
		if t.Kind() == reflect.Slice {
			for _, element := range value {
				findUnknown(element, t.Elem(), path, found)
			}
		}
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return
		}
		for name, member := range value {
			at := strings.TrimPrefix(path+"."+name, ".")
			if of, known := typeOfField(t, name); known {
				findUnknown(member, of, at, found)
			} else {
				found[at] = true
			}
		}
	}
}

// typeOfField returns the type of the field into which encoding/json decodes the member with this name.
func typeOfField(t reflect.Type, name string) (reflect.Type, bool) {
	for _, f := range reflect.VisibleFields(t) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && !f.Anonymous && (strings.EqualFold(tag, name) || tag == "" && strings.EqualFold(f.Name, name)) {
			return f.Type, true
		}
	}
	return nil, false
}

// ignoring returns a sentence on fields that were ignored in the version with the given key.
func ignoring(key string, fields []string) string {
	return fmt.Sprintf("%s has fields that this program does not know, and ignores: %s; use the newer program that wrote it", key, strings.Join(fields, ", "))
}
