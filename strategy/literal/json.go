package literal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
)

// JSON decodes a file that consists of one JSON document into *value. It refuses unknown
// fields, because their author expects an effect. Errors name the line.
func JSON(content []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(value)
	at := decoder.InputOffset()
	if err == nil {
		if _, err = decoder.Token(); err == io.EOF {
			return nil
		}
		err, at = errors.New("there is more after the document"), decoder.InputOffset()
	}
	if len(bytes.TrimSpace(content)) == 0 {
		return errors.New("it is empty; write a document of JSON")
	}
	sentence, at := explain(content, err, at)
	return fmt.Errorf("line %d: %s", 1+bytes.Count(content[:at], []byte("\n")), sentence)
}

// explain returns a sentence that says what is wrong with a JSON text, and the offset of the mistake
// in bytes. The parameter err is the error of decoding the text, and at is the offset at which the
// decoder stopped.
func explain(content []byte, err error, at int64) (string, int64) {
	const early = "it is not JSON: it ends too early"
	syntax, isSyntax := errors.AsType[*json.SyntaxError](err)
	mismatch, isMismatch := errors.AsType[*json.UnmarshalTypeError](err)
	moment, isMoment := errors.AsType[*time.ParseError](err)
	field, isField := strings.CutPrefix(err.Error(), "json: unknown field ")
	end := int64(len(content))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), isSyntax && syntax.Offset > end:
		return early, end
	case isSyntax:
		return fmt.Sprintf("it is not JSON: there is a %q that does not belong there", content[max(syntax.Offset-1, 0)]), syntax.Offset
	case isMismatch:
		name := mismatch.Field
		if name == "" {
			name = "the document"
		}
		return Wrong(name, kindOf(mismatch.Value), exampleOf(mismatch.Type)).Error(), mismatch.Offset
	case isMoment:
		return Wrong("a time", strings.Trim(moment.Value, `"`), "one such as 2026-11-21T09:30:00Z").Error(), at
	case isField:
		return "there is no field " + field, at
	}
	return err.Error(), at
}

// kind is a description of a JSON value, such as "a text". The function Wrong puts no quotes
// around a kind.
type kind string

// kindOf returns the description of a wrong JSON value for people. The argument is the description in
// an error of encoding/json: "string" becomes "a text", and "number 5" becomes "the number 5".
func kindOf(found string) kind {
	switch name, number, _ := strings.Cut(found, " "); name {
	case "string":
		return "a text"
	case "array":
		return "a list"
	case "bool":
		return "true or false"
	case "number":
		if number != "" {
			return kind("the number " + number)
		}
		return "a number"
	}
	return "an object"
}

// exampleOf returns a description of the JSON value for a Go type, with an example where
// it helps.
func exampleOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return `a list, such as ["a", "b"]`
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text in quotes"
	case reflect.Struct, reflect.Map, reflect.Pointer:
		return `an object, such as {"name": "value"}`
	}
	return "a whole number"
}
