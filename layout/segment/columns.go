package segment

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// The columns, in the order in which they lie.
var (
	numberColumns = [...]string{Dates, TitleLengths, HeadingsLengths, AddressLengths, BodyLengths,
		TitleHashes, TextHashes, Simhashes, Epochs, Tokens, Offsets, Lengths}
	stringColumns = [...]string{Sites, Languages, Types, Collections, Packages}
)

// The places of columns that the tail is made of.
const (
	titleLengths   = 1 // in numberColumns, followed by those of the other fields
	languageColumn = 1 // in stringColumns
	packageColumn  = 4
)

// columnWriter gathers the columns of all documents, and what the tail tells
// of them.
type columnWriter struct {
	documents  uint32
	identities []byte
	sketches   []byte
	numbers    [len(numberColumns)][]uint64
	strings    [len(stringColumns)]stringWriter
}

func (w *columnWriter) add(d *Document, lengths *[postings.Fields]uint32) {
	w.documents++
	w.identities = append(w.identities, d.ID[:]...)
	w.sketches = appendSketch(w.sketches, &d.Sketch)
	for i, n := range [len(numberColumns)]uint64{uint64(d.Fetched.UnixMilli()),
		uint64(lengths[Title]), uint64(lengths[Headings]), uint64(lengths[Address]), uint64(lengths[Body]),
		d.TitleHash, d.TextHash, d.Simhash, d.Version.Epoch, d.Version.Token, uint64(d.Offset), uint64(d.Length)} {
		w.numbers[i] = append(w.numbers[i], n)
	}
	for i, s := range [len(stringColumns)]string{d.Site, d.Lang, d.MIME, "", d.Package} {
		if stringColumns[i] == Collections {
			w.strings[i].add(d.Collections...)
		} else {
			w.strings[i].add(s)
		}
	}
}

// writeTo writes all columns, and describes the documents in the tail.
func (w *columnWriter) writeTo(o *object, analysis map[string]uint32) {
	o.writeColumn(identities, rowsKind, w.identities)
	for i, name := range stringColumns {
		o.writeColumn(name, stringsKind, w.strings[i].appendTo(nil))
	}
	for i, name := range numberColumns {
		o.writeColumn(name, numbersKind, appendNumbers(nil, w.numbers[i]))
	}
	o.writeColumn(sketches, rowsKind, w.sketches)

	o.documents = w.documents
	for f := range o.fields {
		for _, n := range w.numbers[titleLengths+f] {
			o.fields[f].Length += n
			if n > 0 {
				o.fields[f].Documents++
			}
		}
	}
	counts := w.strings[languageColumn].counts()
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		o.languages = append(o.languages, language{name: name, documents: counts[name], analysis: analysis[name]})
	}
	o.parts = w.strings[packageColumn].parts()
}

// hashes returns a hash of each document, which depends on its identity alone.
func (w *columnWriter) hashes() []uint32 {
	hashes := make([]uint32, w.documents)
	for i := range hashes {
		hashes[i] = hashOf(w.identities[i*len(layout.Identity{}):])
	}
	return hashes
}

func hashOf(identity []byte) uint32 { return binary.BigEndian.Uint32(identity) }

// names returns the string of each set, in a column of single strings.
func (w *stringWriter) names() []string {
	names := make([]string, len(w.sets))
	for key, n := range w.sets {
		p := parser{data: []byte(key)}
		names[n] = p.text()
	}
	return names
}

// counts returns how many documents have each string, in a column of single
// strings.
func (w *stringWriter) counts() map[string]uint32 {
	names, counts := w.names(), map[string]uint32{}
	for _, n := range w.of {
		counts[names[n]]++
	}
	return counts
}

// parts returns the runs of documents that have the same string, in a column of
// single strings.
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
