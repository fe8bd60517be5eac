package querytest

import (
	"reflect"
	"strings"
)

// Members returns the fields of a struct type, with those of embedded structs, by the names that they have
// in JSON.
func Members(of reflect.Type) map[string]reflect.StructField {
	fields := make(map[string]reflect.StructField)
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			for inner, f := range Members(field.Type) {
				if _, hidden := fields[inner]; !hidden {
					fields[inner] = f
				}
			}
		case field.IsExported() && name != "-":
			fields[name] = field
		}
	}
	return fields
}
