package manifest

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

// TestForm checks the JSON of a delta and of its copy, the hint, byte by byte: other programs read it.
func TestForm(t *testing.T) {
	before := Manifest{
		Partition: 3, Generation: 7, Time: start, Next: 3, Learnt: "b@7", hash: "of seven", position: position{5, start, 900, 120},
		Packages: []Package{{ID: 1, Key: "p1"}, {ID: 2, Key: "p2", Pages: 9}},
		Segments: []Segment{{Key: "s", Documents: 4, Parts: []Part{{1, 4}}}},
		Closed:   []layout.Version{{Epoch: 1, Token: 2}},
	}
	after := before.Clone()
	after.Packages[1].Indexed = true
	after.Add(Package{Key: "p3"})
	after.Segments[0].Deletions = &Deletions{Key: "o", Bytes: 5, Documents: 1}
	after.Closed[0].Token = 3
	after.Generation, after.Parent = 8, before.hash
	stored, err := after.encode(&before)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := after.encodeCopy()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		stored []byte
		want   string
	}{
		"delta": {stored, `{"format":3,"log":{"checkpoint":5,"time":"2026-11-21T12:00:00Z","bytes":900,"deltas":120},` +
			`"partition":3,"generation":8,"time":"2026-11-21T12:00:00Z","parent":"of seven","next":4,` +
			`"packages":null,"books":null,"segments":null,"consumed":null,"learnt":"b@7",` +
			`"changes":{"packages":[{"at":1,"drop":1,"put":[{"id":2,"key":"p2","bytes":0,"pages":9,"indexed":true},{"id":3,"key":"p3","bytes":0,"pages":0}]}],` +
			`"segments":[{"at":0,"drop":1,"put":[{"key":"s","bytes":0,"tail":0,"documents":4,"parts":null,"deletions":{"key":"o","bytes":5,"documents":1}}]}],` +
			`"closed":[{"at":0,"drop":1,"put":["00000001-000000000003"]}]}}`},
		"hint": {copied, `{"format":3,"partition":3,"generation":8,"time":"2026-11-21T12:00:00Z","parent":"of seven","next":4,` +
			`"packages":[{"id":1,"key":"p1","bytes":0,"pages":0},{"id":2,"key":"p2","bytes":0,"pages":9,"indexed":true},{"id":3,"key":"p3","bytes":0,"pages":0}],` +
			`"books":null,"segments":[{"key":"s","bytes":0,"tail":0,"documents":4,"parts":[{"package":1,"documents":4}],"deletions":{"key":"o","bytes":5,"documents":1}}],` +
			`"consumed":null,"learnt":"b@7","closed":["00000001-000000000003"],` +
			`"copy":{"of":"` + layout.ContentHash(stored) + `","log":{"checkpoint":5,"time":"2026-11-21T12:00:00Z","bytes":900,"deltas":` + strconv.Itoa(120+len(stored)) + `}}}`},
	} {
		content, err := unseal(test.stored)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, string(content)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestSmall checks the form in which generations of a partition are stored as it grows and shrinks: whole and of
// format 2 while it is small, so that older programs can read it.
func TestSmall(t *testing.T) {
	defer func(former int) { Small = former }(Small)
	Small = 2 << 10
	m := Manifest{Partition: 3}
	var forms []string
	step := func(edit func()) {
		before := m.Clone()
		before.hash, before.position = m.hash, m.position
		edit()
		m.Generation, m.Parent = m.Generation+1, before.hash
		stored, err := m.encode(&before)
		if err != nil {
			t.Fatal(err)
		}
		content, err := unseal(stored)
		if err != nil {
			t.Fatal(err)
		}
		form := "whole, "
		if strings.HasPrefix(string(content), deltaBegin) {
			form = "delta, "
		}
		forms = append(forms, form+string(content[len(`{"`):len(`{"format":3`)]))
	}
	more := func(n int) func() {
		return func() {
			for range n {
				m.Add(Package{Key: layout.ContentHash([]byte(strconv.Itoa(int(m.Next))))})
			}
		}
	}
	step(more(1))
	step(more(5))
	step(more(200)) // large, and mostly new
	step(more(1))
	step(func() { m.Packages = m.Packages[:3] })
	step(more(1))
	step(func() { m.CondemnedLists = []CondemnedList{{Key: "l", Records: 300}} })
	want := []string{
		`whole, format":2`, `whole, format":2`, `whole, format":2`, `delta, format":3`, `delta, format":3`, `delta, format":3`, `delta, format":3`,
	}
	if diff := cmp.Diff(want, forms); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDeltaInOtherPrograms reads a delta that changes all lists as a program reads it that knows only whole
// generations: the program must see the format, and must not take the delta for damaged.
func TestDeltaInOtherPrograms(t *testing.T) {
	before := Manifest{Partition: 3, Generation: 7, Time: start}
	after := before.Clone()
	after.Generation = 8
	after.Packages, after.Books, after.Segments = []Package{{ID: 1}}, []Book{{Key: "b"}}, []Segment{{Key: "s"}}
	after.Consumed, after.Closed = []Consumed{{At: start}}, []layout.Version{{Epoch: 1}}
	after.Gone, after.Condemned = []Gone{{Masked: true}}, []Condemned{{Key: "c", At: start}}
	after.CondemnedLists, after.Dictionaries = []CondemnedList{{Key: "l"}}, &Dictionaries{All: []Dictionary{{Key: "d"}}}
	stored, err := after.store(deltaOf(&before, &after))
	if err != nil {
		t.Fatal(err)
	}
	content, err := unseal(stored)
	if err != nil {
		t.Fatal(err)
	}
	other := document{Manifest: new(Manifest)}
	if err := json.Unmarshal(content, &other); err != nil || other.Format != format || other.Generation != 8 {
		t.Errorf("format %d, generation %d, %v", other.Format, other.Generation, err)
	}
}
