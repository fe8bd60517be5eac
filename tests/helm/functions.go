package helm

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// functions returns the functions of templates that Go does not have, and that Helm adds. They do as those of Helm
// with the same names for the types that are given here. The templates are those which include can execute.
func functions(templates *template.Template) template.FuncMap {
	return template.FuncMap{
		"add":     func(a, b any) int { return number(a) + number(b) },
		"concat":  slices.Concat[[]any],
		"default": func(otherwise, value any) any { return either(value, otherwise) },
		"div":     func(a, b any) int { return number(a) / number(b) },
		"fail":    func(message string) (string, error) { return "", errors.New(message) },
		"has":     func(one any, list []any) bool { return slices.Contains(list, one) },
		"include": func(name string, of any) (string, error) { return execute(templates, name, of) },
		"int":     number,
		"join":    join,
		"list":    func(values ...any) []any { return values },
		"max":     func(a, b any) int { return max(number(a), number(b)) },
		"mul":     func(a, b any) int { return number(a) * number(b) },
		"nindent": func(columns int, text string) string {
			margin := "\n" + strings.Repeat(" ", columns)
			return margin + strings.ReplaceAll(text, "\n", margin)
		},
		"quote": func(value any) string { return strconv.Quote(fmt.Sprint(value)) },
		"required": func(message string, value any) (any, error) {
			if value == nil || value == "" {
				return nil, errors.New(message)
			}
			return value, nil
		},
		"toJson": func(value any) (string, error) {
			text, err := json.Marshal(value)
			return string(text), err
		},
	}
}

// number returns a number as an int; 0 for what is none.
func number(value any) int {
	switch n := value.(type) {
	case int:
		return n
	case float64:
		return int(n)
	}
	return 0
}

// either returns a value, or the other one if it is nil, "", 0, false or an empty list or map.
func either(value, otherwise any) any {
	if truth, _ := template.IsTrue(value); truth {
		return value
	}
	return otherwise
}

// join returns the texts of values with a separator between them.
func join(separator string, values []any) string {
	var texts []string
	for _, value := range values {
		texts = append(texts, fmt.Sprint(value))
	}
	return strings.Join(texts, separator)
}
