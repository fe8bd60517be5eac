package segment

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
)

// The names of the columns of strings. Each has a set of strings for each document.
const (
	Sites       = "site"
	Languages   = "language"
	Types       = "type"
	Collections = "collections"
	Packages    = "package"

	// LanguageSources has the values of Document.LangSource; segments of older programs have no
	// such column
	LanguageSources = "language source"
)

// StringColumn is a column that has a set of strings for each document; in most
// columns, a set of one string.
type StringColumn struct {
	Values []string   // all strings of the column, sorted, each once
	Sets   [][]uint32 // the different sets, each as ascending indexes in Values
	Of     []uint32   // for each document, the index of its set in Sets
}

// Get returns the strings of a document.
func (c *StringColumn) Get(doc uint32) []string { return c.set(c.Of[doc]) }

// one returns the string of a document, if each set of the column is a single string.
func (c *StringColumn) one(doc uint32) string {
	if set := c.Sets[c.Of[doc]]; len(set) > 0 {
		return c.Values[set[0]]
	}
	return ""
}

// set returns the strings of the n-th set of the column.
func (c *StringColumn) set(n uint32) []string {
	var values []string
	for _, v := range c.Sets[n] {
		values = append(values, c.Values[v])
	}
	return values
}

// Strings reads the column of strings with the given name, with one call of Source.Read. Segments of
// older programs have no column LanguageSources. For them, Strings returns it with an empty string
// for each document.
func (s *Segment) Strings(ctx context.Context, column string) (*StringColumn, error) {
	if column == LanguageSources && !s.hasColumn(column) {
		return &StringColumn{Values: []string{""}, Sets: [][]uint32{{0}}, Of: make([]uint32, s.tail.documents)}, nil
	}
	content, err := s.column(ctx, column, stringsKind)
	if err != nil {
		return nil, err
	}
	p := parser{data: content}
	c := p.strings(int(s.tail.documents))
	if p.failed || p.left() > 0 {
		return nil, s.wrap(damaged("column %s does not hold what it tells of", column))
	}
	return c, nil
}

// stringWriter collects the values of a column of strings, document by document.
type stringWriter struct {
	sets map[string]uint32 // number of each set, from 0; a key holds the strings of a set, each after its size
	of   []uint64          // for each document, the number of its set
	key  []byte            // memory for keys, which add reuses
}

// add adds the strings of the next document; they must be sorted and all different.
func (w *stringWriter) add(values ...string) {
	w.key = w.key[:0]
	for _, v := range values {
		w.key = appendText(w.key, v)
	}
	n, found := w.sets[string(w.key)]
	if !found {
		if w.sets == nil {
			w.sets = map[string]uint32{}
		}
		n = uint32(len(w.sets))
		w.sets[string(w.key)] = n
	}
	w.of = append(w.of, uint64(n))
}

// appendTo appends the column:
//
//	strings      number of strings; then the strings, sorted
//	sets         number of sets; then the sets, sorted. A set is the number of its strings, and for
//	             each string its index among the strings
//	documents    for each document the index of its set among the sets (see appendNumbers)
func (w *stringWriter) appendTo(b []byte) []byte {
	keys := slices.Collect(maps.Keys(w.sets))
	sets := make(map[string][]string, len(keys))
	index := map[string]uint64{}
	for _, key := range keys {
		for p := (parser{data: []byte(key)}); p.left() > 0; {
			v := p.text()
			sets[key] = append(sets[key], v)
			index[v] = 0
		}
	}
	values := slices.Sorted(maps.Keys(index))
	b = binary.AppendUvarint(b, uint64(len(values)))
	for i, v := range values {
		index[v] = uint64(i)
		b = appendText(b, v)
	}
	slices.SortFunc(keys, func(x, y string) int { return slices.Compare(sets[x], sets[y]) })
	number := make([]uint64, len(keys))
	b = binary.AppendUvarint(b, uint64(len(keys)))
	for i, key := range keys {
		number[w.sets[key]] = uint64(i)
		b = binary.AppendUvarint(b, uint64(len(sets[key])))
		for _, v := range sets[key] {
			b = binary.AppendUvarint(b, index[v])
		}
	}
	of := make([]uint64, len(w.of))
	for doc, n := range w.of {
		of[doc] = number[n]
	}
	return appendNumbers(b, of)
}

// names returns all strings of a column in which every document has exactly one string. The slice
// w.of has a number for each document: it is the index of the document's string in the result.
func (w *stringWriter) names() []string {
	names := make([]string, len(w.sets))
	for key, n := range w.sets {
		p := parser{data: []byte(key)}
		names[n] = p.text()
	}
	return names
}

// languages returns the sorted names of all languages of the documents, and for each document the
// index of its language among these names, if w is the column Languages.
func (w *stringWriter) languages() (names []string, of []uint16) {
	unsorted := w.names()
	names = slices.Sorted(slices.Values(unsorted))
	number := make([]uint16, len(names)) // by the column's number
	for i, name := range unsorted {
		number[i] = uint16(slices.Index(names, name))
	}
	of = make([]uint16, len(w.of))
	for doc, n := range w.of {
		of[doc] = number[n]
	}
	return names, of
}

// parts returns the parts of the segment, if w is the column Packages: one Part for each
// unbroken sequence of documents from the same package.
func (w *stringWriter) parts() []Part {
	names := w.names()
	var parts []Part
	for _, n := range w.of {
		if last := len(parts) - 1; last >= 0 && parts[last].Package == names[n] {
			parts[last].Documents++
		} else {
			parts = append(parts, Part{Package: names[n], Documents: 1})
		}
	}
	return parts
}

// strings reads the column of n documents that stringWriter.appendTo wrote.
func (p *parser) strings(n int) *StringColumn {
	c := new(StringColumn)
	c.Values = make([]string, p.count(1))
	for i := range c.Values {
		c.Values[i] = p.text()
	}
	c.Sets = make([][]uint32, p.count(1))
	for i := range c.Sets {
		c.Sets[i] = make([]uint32, p.count(1))
		for j := range c.Sets[i] {
			v := p.number(MaxDocuments)
			if v >= uint64(len(c.Values)) {
				p.fail()
				return c
			}
			c.Sets[i][j] = uint32(v)
		}
	}
	of := p.numbers(n)
	c.Of = make([]uint32, len(of))
	for doc, set := range of {
		if set >= uint64(len(c.Sets)) {
			p.fail()
			return c
		}
		c.Of[doc] = uint32(set)
	}
	return c
}
