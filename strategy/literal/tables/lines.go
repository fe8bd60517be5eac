// Package tables reads TOML files that persons write, such as that of a collection. All mistakes in a
// file are reported together, each with its line.
package tables

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Document is a TOML file with the position of each value in it: an offset in bytes. It
// collects the mistakes that are found in the file.
type Document struct {
	name     string
	content  []byte
	offsets  map[string]int // offset of each value by its path: "delay", "seeds.0", "seed.1.url"
	problems []problem
}

// problem is a mistake in a file.
type problem struct {
	offset int // offset of the wrong value in the file, in bytes; -1: the whole file
	err    error
}

// Parse parses a TOML file, and returns it together with its root table. It fails
// only if the file is not TOML.
func Parse(name string, content []byte) (*Document, *Table, error) {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	var values map[string]any
	if err := toml.Unmarshal(content, &values); err != nil {
		return nil, nil, notTOML(name, content, err)
	}
	d := &Document{name: name, content: content, offsets: map[string]int{}}
	d.locate()
	return d, &Table{document: d, values: values}, nil
}

// notTOML returns the error for a file that is not TOML. It names the line.
func notTOML(name string, content []byte, err error) error {
	line, text := 1, ""
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ = at.Position()
		if lines := bytes.Split(content, []byte("\n")); line <= len(lines) {
			text = string(bytes.TrimSpace(lines[line-1]))
		}
	}
	reason := strings.TrimPrefix(err.Error(), "toml: ")
	return fmt.Errorf(`%s:%d: the line %.100q is no TOML (%s); write it like delay = "2s", with texts in quotes`, name, line, text, reason)
}

// locate finds the offset of each value in the file, and sets d.offsets. The content must
// be valid TOML.
func (d *Document) locate() {
	var parser unstable.Parser
	parser.Reset(d.content)
	tables := map[string]int{} // number of tables with the same name: [[seed]]
	prefix := ""
	for parser.NextExpression() {
		switch node := parser.Expression(); node.Kind {
		case unstable.ArrayTable:
			path, at := keyOf(node)
			prefix = join(path, strconv.Itoa(tables[path]))
			tables[path]++
			d.offsets[path], d.offsets[prefix] = at, at
		case unstable.Table:
			var at int
			prefix, at = keyOf(node)
			d.offsets[prefix] = at
		case unstable.KeyValue:
			d.note(prefix, node)
		}
	}
}

// note records the offsets of a node "key = value" and of all values within that value
// (the elements of a list, the keys of a table). prefix is the path of the node's table,
// such as "topic".
func (d *Document) note(prefix string, node *unstable.Node) {
	key, at := keyOf(node)
	path := join(prefix, key)
	d.offsets[path] = at
	d.noteParts(path, at, node.Value())
}

// noteParts records the offset of each element of a value, which is a list or an inline table. The
// parser gives no offset for some elements. Such an element gets the offset of the element before it
// or, if it is the first, the offset of the whole value (the parameter at).
func (d *Document) noteParts(path string, at int, value *unstable.Node) {
	parts := value.Children()
	for i := 0; parts.Next(); i++ {
		switch part := parts.Node(); {
		case part.Kind == unstable.Comment:
			i--
		case part.Kind == unstable.KeyValue:
			d.note(path, part)
		default:
			if part.Raw.Length > 0 {
				at = int(part.Raw.Offset)
			}
			element := join(path, strconv.Itoa(i))
			d.offsets[element] = at
			d.noteParts(element, at, part)
		}
	}
}

// keyOf returns the dotted key of a node, such as topic.words, and the offset of the key in the
// file.
func keyOf(node *unstable.Node) (key string, at int) {
	at = -1
	for parts := node.Key(); parts.Next(); {
		part := parts.Node()
		key = join(key, string(part.Data))
		if at < 0 {
			at = int(part.Raw.Offset)
		}
	}
	return key, at
}

// join returns the full path of a key in a table: "topic" and "words" make "topic.words".
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// Wrong records a mistake in a value. The path, such as "topic.words", tells which value it is.
func (d *Document) Wrong(path string, err error) {
	offset, known := d.offsets[path]
	if !known {
		offset = -1
	}
	d.problems = append(d.problems, problem{offset, err})
}

// MaxReported is the maximum number of mistakes that an error lists.
const MaxReported = 20

// Err returns an error that lists the mistakes, one a line, in the order of the file;
// nil if there is none.
func (d *Document) Err() error {
	slices.SortStableFunc(d.problems, func(a, b problem) int { return cmp.Compare(a.offset, b.offset) })
	var all []error
	for i, p := range d.problems {
		if i == MaxReported {
			all = append(all, fmt.Errorf("%s: and %d mistakes more", d.name, len(d.problems)-MaxReported))
			break
		}
		if p.offset < 0 {
			all = append(all, fmt.Errorf("%s: %w", d.name, p.err))
			continue
		}
		line := 1 + bytes.Count(d.content[:p.offset], []byte("\n"))
		all = append(all, fmt.Errorf("%s:%d: %w", d.name, line, p.err))
	}
	return errors.Join(all...)
}
