package compat

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
)

// parameters are the parameters of a search: the members of an object of JSON.
type parameters map[string]json.RawMessage

// fromAddress reads parameters that are written as in the address of a page:
// query=a%20b&facets=%5B%22lang%22%5D. A value that is valid JSON, such as 5, true or ["lang"], is read as
// JSON; all others are texts. The parameters that texts names are always texts.
func fromAddress(query string, texts ...string) (parameters, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, request.Wrong("The parameters are malformed; a percent sign is written %%25 in them.")
	}
	p := make(parameters)
	for name, all := range values {
		value := all[0]
		if !slices.Contains(texts, name) && json.Valid([]byte(value)) {
			p[name] = json.RawMessage(value)
		} else {
			p[name], _ = json.Marshal(value) // a text can always be written
		}
	}
	return p, nil
}

// has reports whether a parameter is there, and is not null.
func (p parameters) has(name string) bool {
	raw, found := p[name]
	return found && string(raw) != "null"
}

// text returns a parameter that is a text. If the parameter is missing, the result is otherwise.
func (p parameters) text(name, otherwise string) (string, error) {
	if !p.has(name) {
		return otherwise, nil
	}
	var value string
	if err := json.Unmarshal(p[name], &value); err != nil {
		return "", request.WrongIn(name, "%s is %.60s; write a text.", name, p[name])
	}
	return value, nil
}

// number returns a parameter that is a whole number of at least 0, possibly in quotes. If the parameter is
// missing, n is otherwise. If its value is greater than most, n is most, and cut is true.
func (p parameters) number(name string, otherwise, most int) (n int, cut bool, err error) {
	if !p.has(name) {
		return otherwise, false, nil
	}
	text := strings.Trim(string(p[name]), `"`)
	value, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, false, request.WrongIn(name, "%s is %.60s; write a whole number from 0 to %d.", name, text, most)
	}
	return min(int(value), most), int(value) > most, nil
}

// list returns a parameter that is a list of texts, or a single text whose elements are separated by commas
// or spaces.
func (p parameters) list(name string) ([]string, error) {
	if !p.has(name) {
		return nil, nil
	}
	var all []string
	if json.Unmarshal(p[name], &all) == nil {
		return all, nil
	}
	text, err := p.text(name, "")
	if err != nil {
		return nil, request.WrongIn(name, "%s is %.60s; write a list of texts.", name, p[name])
	}
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }), nil
}

// nested returns a parameter that is a filter: a list of conditions, all of which must hold. Instead of a
// condition, an element may be a list of conditions, of which one must hold. Each element of all has these
// conditions. A single text is a list of one condition.
func (p parameters) nested(name string) (all [][]string, err error) {
	if !p.has(name) {
		return nil, nil
	}
	var elements []json.RawMessage
	if json.Unmarshal(p[name], &elements) != nil {
		elements = []json.RawMessage{p[name]}
	}
	for _, element := range elements {
		var texts []string
		if json.Unmarshal(element, &texts) != nil {
			texts = make([]string, 1)
			if err := json.Unmarshal(element, &texts[0]); err != nil {
				return nil, request.WrongIn(name, "%s has %.60s; write a text, or a list of texts.", name, element)
			}
		}
		if len(texts) > 0 {
			all = append(all, texts)
		}
	}
	return all, nil
}

// others returns those of the given names that the parameters have, sorted.
func (p parameters) others(names ...string) (there []string) {
	for _, name := range names {
		if p.has(name) {
			there = append(there, name)
		}
	}
	slices.Sort(there)
	return there
}
