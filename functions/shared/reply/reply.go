// Package reply writes JSON for programs, the same for commands and for HTTP:
//
//	keys      snake_case; those of measures of the first n results may end in @n, such as ndcg@10
//	lists     [] when empty; there is no null
//	numbers   at most six digits after the point; below 1, six significant digits
//	times     RFC 3339 in UTC
//	durations a number of seconds or milliseconds, which the key names: _seconds, _ms
//
// Marshal refuses a type if some of its values cannot be written in this form, even if the given value
// can. So the first test that writes any value of such a type shows the mistake.
package reply

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Marshal returns the value, without changing it, as JSON in the form of this package, with a line
// feed at its end. If indented is true, the JSON is indented for persons. Marshal fails if the type
// of the value does not allow this form.
func Marshal(value any, indented bool) ([]byte, error) {
	if err := check(reflect.TypeOf(value)); err != nil {
		return nil, err
	}
	written := copyOf(reflect.ValueOf(value))
	normalize(written)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if indented {
		encoder.SetIndent("", "  ")
	}
	if err := encoder.Encode(written.Interface()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// normalize changes v, a shallow copy of a value, to the form in which it is written as JSON: nil lists
// become empty ones, numbers are rounded, times are in UTC. Lists, maps and values behind pointers also
// belong to the original value, so normalize copies them before it changes them. It does not change an
// empty field with omitempty or omitzero, which the JSON leaves out.
func normalize(v reflect.Value) {
	if t, isTime := v.Interface().(time.Time); isTime {
		v.Set(reflect.ValueOf(t.UTC()))
		return
	}
	if v.Kind() != reflect.Pointer && writesItself(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		v.SetFloat(round(v.Float()))
	case reflect.Struct:
		normalizeFields(v)
	case reflect.Slice:
		into := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(into, v)
		v.Set(into)
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			normalize(v.Index(i))
		}
	case reflect.Map:
		into := reflect.MakeMapWithSize(v.Type(), v.Len())
		for each := v.MapRange(); each.Next(); {
			value := copyOf(each.Value())
			normalize(value)
			into.SetMapIndex(each.Key(), value)
		}
		v.Set(into)
	case reflect.Pointer:
		if !v.IsNil() {
			into := copyOf(v.Elem())
			normalize(into)
			v.Set(into.Addr())
		}
	}
}

func normalizeFields(v reflect.Value) {
	for i := range v.NumField() {
		switch field := v.Type().Field(i); {
		case field.Anonymous && field.Type.Kind() == reflect.Struct:
			normalizeFields(v.Field(i))
		case field.IsExported() && !(mayLack(field) && v.Field(i).IsZero()):
			normalize(v.Field(i))
		}
	}
}

// copyOf returns a shallow copy of a value. The fields of the copy can be set by reflection.
func copyOf(v reflect.Value) reflect.Value {
	into := reflect.New(v.Type()).Elem()
	into.Set(v)
	return into
}

// round rounds a number to six digits after the point, or to six significant digits if
// it is below 1.
func round(n float64) float64 {
	format, behind := byte('f'), 6
	if math.Abs(n) < 1 {
		format, behind = 'e', 5
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(n, format, behind, 64), 64)
	if err != nil {
		return n
	}
	return rounded
}

var (
	checked sync.Map // result of inspect for each reflect.Type: an error, or nil
	snake   = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*(@[0-9]+)?$`)
)

func check(t reflect.Type) error {
	if known, found := checked.Load(t); found {
		err, _ := known.(error)
		return err
	}
	err := inspect(t, map[reflect.Type]bool{})
	checked.Store(t, err)
	return err
}

// inspect returns an error if a value of the type could break the rules of this package, for
// instance by a key that is not in snake_case. The parameter seen holds the types that inspect has
// visited already, since a type may contain itself.
func inspect(t reflect.Type, seen map[reflect.Type]bool) error {
	if t == reflect.TypeFor[time.Duration]() {
		return errors.New("a time.Duration would be written in nanoseconds; give seconds, under a key that ends in _seconds")
	}
	if seen[t] || writesItself(t) {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Pointer, reflect.Map:
		return inspect(t.Elem(), seen)
	case reflect.Interface, reflect.Func, reflect.Chan:
		return fmt.Errorf("%v can be anything; give it a type of its own", t)
	case reflect.Struct:
	default:
		return nil
	}
	for i := range t.NumField() {
		field := t.Field(i)
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case !field.IsExported() && !field.Anonymous || key == "-":
			continue
		case field.Anonymous && key == "": // its fields are those of t
		case !snake.MatchString(key):
			return fmt.Errorf("%v.%s has the key %q; want one in snake_case", t, field.Name, key)
		case field.Type.Kind() == reflect.Pointer && !mayLack(field):
			return fmt.Errorf("%v.%s would be null; leave it out when it is (omitempty)", t, field.Name)
		}
		if err := inspect(field.Type, seen); err != nil {
			return err
		}
	}
	return nil
}

// mayLack reports whether the JSON leaves out the field if it is empty (omitempty or omitzero).
func mayLack(field reflect.StructField) bool {
	_, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	return strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func writesItself(t reflect.Type) bool { return t.Implements(marshaler) || t.Implements(textMarshaler) }
