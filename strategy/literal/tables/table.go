package tables

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// Table is a table of a TOML document. Most methods read the value of one key. If the value is
// wrong, they return no error, but record a mistake in the document.
type Table struct {
	document *Document
	path     string // path of the table, such as "seed.1"; "" for the root table
	values   map[string]any
	read     []string // keys that the methods have read
}

// Value returns the value of a key, and marks the key as read (see End).
func (t *Table) Value(key string) (value any, found bool) {
	t.read = append(t.read, key)
	value, found = t.values[key]
	return value, found
}

// Text passes the text under a key to the given function, unless the key is absent. An error that
// the function returns is recorded as a mistake.
func (t *Table) Text(key string, set func(string) error) {
	if value, found := t.Value(key); found {
		t.set(key, value, set)
	}
}

// Texts passes each text of the list under a key to the given function, and reports whether there
// is a list. An error that the function returns is recorded as a mistake.
func (t *Table) Texts(key string, set func(string) error) bool {
	value, found := t.Value(key)
	if !found {
		return false
	}
	list, ok := value.([]any)
	if !ok {
		t.Wrong(key, literal.Wrong(key, value, `a list of texts such as ["a", "b"]`))
	}
	for i, element := range list {
		t.set(fmt.Sprintf("%s.%d", key, i), element, set)
	}
	return ok
}

// set passes a value, which must be a text, to the given function. If the value is no text, or the
// function returns an error, set records a mistake. The parameter path is the path of the value
// within the table: "words", or "words.2" for an element of a list.
func (t *Table) set(path string, value any, set func(string) error) {
	text, ok := value.(string)
	if !ok {
		t.Wrong(path, literal.Wrong(t.Name(path), value, "a text in quotes"))
	} else if err := set(text); err != nil {
		t.Wrong(path, err)
	}
}

// Number returns the whole number under a key, or the parameter other if the key is absent. The number
// must be between least and most, both included; otherwise Number records a mistake.
func (t *Table) Number(key string, other, least, most int64) int64 {
	value, found := t.Value(key)
	if !found {
		return other
	}
	n, ok := value.(int64)
	if !ok || n < least || n > most {
		t.Wrong(key, literal.Wrong(t.Name(key), value, literal.Range(least, most)))
	}
	return n
}

// Truth returns the boolean under a key, or false if the key is absent.
func (t *Table) Truth(key string) bool {
	value, found := t.Value(key)
	truth, ok := value.(bool)
	if found && !ok {
		t.Wrong(key, literal.Wrong(t.Name(key), value, "true or false"))
	}
	return truth
}

// Share returns the number from 0 to 1 under a key, or the given default if the key is absent.
func (t *Table) Share(key string, other float32) float32 {
	value, found := t.Value(key)
	if !found {
		return other
	}
	n, ok := value.(float64)
	if whole, isWhole := value.(int64); isWhole {
		n, ok = float64(whole), true
	}
	if !ok || !(n >= 0 && n <= 1) {
		t.Wrong(key, literal.Wrong(t.Name(key), value, "a number from 0 to 1"))
	}
	return float32(n)
}

// Tables returns the tables of the list under a key, which a file writes as [[key]].
func (t *Table) Tables(key string) []*Table {
	value, _ := t.Value(key)
	list, ok := value.([]any)
	if value != nil && !ok {
		t.Wrong(key, literal.Wrong(key, value, "tables, each under a line [["+key+"]]"))
	}
	var all []*Table
	for i, element := range list {
		values, ok := element.(map[string]any)
		if !ok {
			t.Wrong(fmt.Sprintf("%s.%d", key, i), literal.Wrong(key, element, "tables, each under a line [["+key+"]]"))
			continue
		}
		all = append(all, &Table{document: t.document, path: join(t.path, fmt.Sprintf("%s.%d", key, i)), values: values})
	}
	return all
}

// Table returns the table under a key, which a file writes as [key]; nil if there is
// none.
func (t *Table) Table(key string) *Table {
	value, found := t.Value(key)
	if !found {
		return nil
	}
	values, ok := value.(map[string]any)
	if !ok {
		t.Wrong(key, literal.Wrong(key, value, "a table, under a line ["+key+"]"))
		return nil
	}
	return &Table{document: t.document, path: t.Name(key), values: values}
}

// End records a mistake for each key of the table that no other method has read: such a key
// is unknown. End must be called last.
func (t *Table) End() {
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if !slices.Contains(t.read, key) {
			meant := ""
			if near := literal.Nearest(key, t.read); near != "" {
				meant = "; perhaps " + near + " is meant"
			}
			t.Wrong(key, fmt.Errorf("%s: unknown, want one of %s%s", t.Name(key), strings.Join(t.read, ", "), meant))
		}
	}
}

// Name returns the full path of a key in the document, such as seed.1.url, by which errors name it.
func (t *Table) Name(key string) string { return join(t.path, key) }

// Has reports whether the table has a key.
func (t *Table) Has(key string) bool { return t.values[key] != nil }

// IsSound reports whether no mistake was recorded in the document so far.
func (t *Table) IsSound() bool { return len(t.document.problems) == 0 }

// Wrong records a mistake in the value of a key, or in the table itself if key is "".
func (t *Table) Wrong(key string, err error) {
	t.document.Wrong(strings.TrimSuffix(join(t.path, key), "."), err)
}
