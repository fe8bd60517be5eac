package verify

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

func flip(content []byte) []byte {
	content[len(content)/2] ^= 1
	return content
}

// TestDamage does harm of every kind; each is told in a line of its own, which
// holds all the words that are given.
func TestDamage(t *testing.T) {
	for name, test := range map[string]struct {
		harm func(w *world)
		want []string
	}{
		"byte of a package flipped": {
			func(w *world) { w.change(w.packages[1].Key, flip) },
			[]string{"package packages/0000/2_0_20261121220000000_1.spf is damaged"},
		},
		"package deleted": {
			func(w *world) { w.delete(w.packages[1].Key) },
			[]string{"package packages/0000/2_0_20261121220000000_1.spf cannot be read"},
		},
		"page that is booked and not there": {
			func(w *world) { w.delete(w.packages[1].Key) },
			[]string{site + "2 is stored in", "and is not there"},
		},
		"pages miscounted": {
			func(w *world) { w.commit(func(m *manifest.Manifest) { m.Packages[0].Pages++ }) },
			[]string{"2_0_20261121220000000.spf holds 1 pages, and the manifest says 2"},
		},
		"segment deleted": {
			func(w *world) { w.delete(w.segments[1]) },
			[]string{"segment segments/0000/", "cannot be read"},
		},
		"byte of a segment flipped": {
			func(w *world) { w.change(w.segments[0], flip) },
			[]string{"segment segments/0000/", "checksum"},
		},
		"documents miscounted": {
			func(w *world) { w.commit(func(m *manifest.Manifest) { m.Segments[0].Documents++ }) },
			[]string{"holds 1 documents, and the manifest says 2"},
		},
		"book lost": {
			func(w *world) { w.delete(functionstest.Keys(w.t, w.bucket, layout.Books)[0]) },
			[]string{"cannot read book books/0000/"},
		},
		"book damaged": {
			func(w *world) { w.change(functionstest.Keys(w.t, w.bucket, layout.Books)[0], flip) },
			[]string{"book is damaged"},
		},
		"older generation edited": {
			func(w *world) { w.change(layout.ManifestKey(0, 2), edit) },
			[]string{"generation 3 does not follow from generation 2"},
		},
		"newest generation edited": {
			func(w *world) { w.change(layout.ManifestKey(0, 4), edit) },
			[]string{"the hint is no copy of generation 4"},
		},
		"generation lost": {
			func(w *world) { w.delete(layout.ManifestKey(0, 2)) },
			[]string{"generation 2 cannot be read"},
		},
		"package without a book": {
			func(w *world) {
				pkg, _ := functionstest.Package(w.t, w.bucket, 0, functionstest.Page(batch, site+"extra"))
				w.commit(func(m *manifest.Manifest) { m.Add(pkg) })
			},
			[]string{site + "extra stands in packages/", "and no outcome says so"},
		},
		"package not indexed": {
			func(w *world) { w.learn([]string{site + "1"}) },
			[]string{"package packages/0000/2_0_20261121220000000_2.spf is not indexed"},
		},
		"package indexed twice": {
			func(w *world) { w.index(1, w.packages[1].Key) },
			[]string{"package packages/0000/2_0_20261121220000000_1.spf is indexed 2 times"},
		},
		"page indexed twice": {
			func(w *world) { w.index(1, w.packages[1].Key) },
			[]string{site + "2 in", "is indexed twice"},
		},
		"page not indexed": {
			func(w *world) {
				w.commit(func(m *manifest.Manifest) { m.Segments = m.Segments[:1] })
				w.index(1, w.packages[1].Key, site+"2")
			},
			[]string{"2_0_20261121220000000_1.spf is indexed without 1 of its pages"},
		},
		"document of no page": {
			func(w *world) { w.commit(func(m *manifest.Manifest) { m.Packages = m.Packages[:1] }) },
			[]string{site + "2 is said to stand in", "and is not there"},
		},
		"URL from nowhere": {
			func(w *world) { w.learn([]string{"http://b.example/"}) },
			[]string{"http://b.example/ has an outcome, yet no seed or link leads to it"},
		},
		"spool damaged": {
			func(w *world) { functionstest.Put(w.t, w.bucket, layout.SpoolKey(0, batch), []byte("?")) },
			[]string{layout.SpoolKey(0, batch), "damaged"},
		},
		"spool of another": {
			func(w *world) { functionstest.Put(w.t, w.bucket, "spool/0000/notes.txt", nil) },
			[]string{"spool/0000/notes.txt"},
		},
		"URL too many in the frontier": {
			func(w *world) {
				entry := frontier.Entry{URL: site + "extra", ID: layout.IdentityOf(site + "extra"), Host: "a.example"}
				if _, err := w.front.Admit(w.t.Context(), functionstest.Start, []frontier.Entry{entry}); err != nil {
					w.t.Fatal(err)
				}
			},
			[]string{layout.IdentityOf(site+"extra").String() + " waits in the frontier, and is not pending in the books"},
		},
		"URL missing in the frontier": {
			func(w *world) {
				if err := w.front.Reset(w.t.Context()); err != nil {
					w.t.Fatal(err)
				}
			},
			[]string{site + "waits is pending in the books, and not in the frontier"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.harm(w)
			problems := w.verify().Problems
			if !slices.ContainsFunc(problems, func(line string) bool {
				return !slices.ContainsFunc(test.want, func(words string) bool { return !strings.Contains(line, words) })
			}) {
				t.Errorf("no line holds %q:\n%s", test.want, strings.Join(problems, "\n"))
			}
		})
	}
}

// edit changes a generation, which still reads as one.
func edit(content []byte) []byte {
	return bytes.Replace(content, []byte(`"pages":1`), []byte(`"pages":7`), 1)
}
