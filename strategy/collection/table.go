package collection

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// table is a table of a TOML document. Most methods read the value of one key. If the value is
// wrong, they return no error, but record a mistake in the document.
type table struct {
	document *document
	path     string // path of the table, such as "seed.1"; "" for the root table
	values   map[string]any
	read     []string // keys that the methods have read
}

// value returns the value of a key, and marks the key as read (see end).
func (t *table) value(key string) (value any, found bool) {
	t.read = append(t.read, key)
	value, found = t.values[key]
	return value, found
}

// text passes the text under a key to the given function, unless the key is absent. An error that
// the function returns is recorded as a mistake.
func (t *table) text(key string, set func(string) error) {
	if value, found := t.value(key); found {
		t.set(key, value, set)
	}
}

// texts passes each text of the list under a key to the given function, and reports whether there
// is a list. An error that the function returns is recorded as a mistake.
func (t *table) texts(key string, set func(string) error) bool {
	value, found := t.value(key)
	if !found {
		return false
	}
	list, ok := value.([]any)
	if !ok {
		t.wrong(key, literal.Wrong(key, value, `a list of texts such as ["a", "b"]`))
	}
	for i, element := range list {
		t.set(fmt.Sprintf("%s.%d", key, i), element, set)
	}
	return ok
}

// set passes a value, which must be a text, to the given function. If the value is no text, or the
// function returns an error, set records a mistake. The parameter path is the path of the value
// within the table: "words", or "words.2" for an element of a list.
func (t *table) set(path string, value any, set func(string) error) {
	text, ok := value.(string)
	if !ok {
		t.wrong(path, literal.Wrong(join(t.path, path), value, "a text in quotes"))
	} else if err := set(text); err != nil {
		t.wrong(path, err)
	}
}

// number returns the whole number under a key, or the given default (other) if the key is absent. A
// number that is not within the given bounds is recorded as a mistake.
func (t *table) number(key string, other, least, most int64) int64 {
	value, found := t.value(key)
	if !found {
		return other
	}
	n, ok := value.(int64)
	if !ok || n < least || n > most {
		t.wrong(key, literal.Wrong(join(t.path, key), value, literal.Range(least, most)))
	}
	return n
}

// truth returns the boolean under a key, or false if the key is absent.
func (t *table) truth(key string) bool {
	value, found := t.value(key)
	truth, ok := value.(bool)
	if found && !ok {
		t.wrong(key, literal.Wrong(join(t.path, key), value, "true or false"))
	}
	return truth
}

// pages returns the number of pages under a key: Unlimited for "unlimited", and 0 if the
// key is absent.
func (t *table) pages(key string) int64 {
	value, found := t.value(key)
	n, _ := value.(int64)
	switch {
	case !found:
		return 0
	case value == "unlimited":
		return Unlimited
	case n < 1:
		t.wrong(key, literal.Wrong(join(t.path, key), value, `a number of pages, 1 or more, or "unlimited"`))
		return 0
	default:
		return n
	}
}

// share returns the number from 0 to 1 under a key, or the given default if the key is absent.
func (t *table) share(key string, other float32) float32 {
	value, found := t.value(key)
	if !found {
		return other
	}
	n, ok := value.(float64)
	if whole, isWhole := value.(int64); isWhole {
		n, ok = float64(whole), true
	}
	if !ok || !(n >= 0 && n <= 1) {
		t.wrong(key, literal.Wrong(join(t.path, key), value, "a number from 0 to 1"))
	}
	return float32(n)
}

// tables returns the tables of the list under a key, which a file writes as [[key]].
func (t *table) tables(key string) []*table {
	value, _ := t.value(key)
	list, ok := value.([]any)
	if value != nil && !ok {
		t.wrong(key, literal.Wrong(key, value, "tables, each under a line [["+key+"]]"))
	}
	var all []*table
	for i, element := range list {
		values, ok := element.(map[string]any)
		if !ok {
			t.wrong(fmt.Sprintf("%s.%d", key, i), literal.Wrong(key, element, "tables, each under a line [["+key+"]]"))
			continue
		}
		all = append(all, &table{document: t.document, path: join(t.path, fmt.Sprintf("%s.%d", key, i)), values: values})
	}
	return all
}

// table returns the table under a key, which a file writes as [key]; nil if there is
// none.
func (t *table) table(key string) *table {
	value, found := t.value(key)
	if !found {
		return nil
	}
	values, ok := value.(map[string]any)
	if !ok {
		t.wrong(key, literal.Wrong(key, value, "a table, under a line ["+key+"]"))
		return nil
	}
	return &table{document: t.document, path: join(t.path, key), values: values}
}

// end records a mistake for each key of the table that no other method has read: such a key
// is unknown. end must be called last.
func (t *table) end() {
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if !slices.Contains(t.read, key) {
			meant := ""
			if near := literal.Nearest(key, t.read); near != "" {
				meant = "; perhaps " + near + " is meant"
			}
			t.wrong(key, fmt.Errorf("%s: unknown, want one of %s%s", join(t.path, key), strings.Join(t.read, ", "), meant))
		}
	}
}

// wrong records a mistake in the value of a key, or in the table itself if key is "".
func (t *table) wrong(key string, err error) {
	t.document.wrong(strings.TrimSuffix(join(t.path, key), "."), err)
}
