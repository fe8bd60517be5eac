package rank

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/dictionary"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// words are English words, each with its German and French translation.
var words = [][3]string{
	{"house", "haus", "maison"}, {"cat", "katze", "chat"}, {"dog", "hund", "chien"}, {"water", "wasser", "eau"},
	{"bread", "brot", "pain"}, {"book", "buch", "livre"}, {"night", "nacht", "nuit"}, {"milk", "milch", "lait"},
	{"hand", "hand", "main"}, {"moon", "mond", "lune"}, {"king", "könig", "roi"}, {"sister", "schwester", "soeur"},
}

var names = [...]string{"en", "de", "fr"}

// translate stores pages in one language in a package and a segment of a partition. The pages have the
// numbers n for which from ≤ n < to. Pages with the same number in several languages are translations of
// each other.
func (w *world) translate(p layout.Partition, token uint64, language, from, to int) {
	w.t.Helper()
	var objects []webobject.Object
	var pages []*segments.Page
	for n := from; n < to; n++ {
		o := functionstest.Page(layout.Version{Epoch: 1, Token: token}, fmt.Sprintf("http://%s.example/%d", names[language], n))
		objects = append(objects, o)
		var lines []string
		for i := range 3 {
			lines = append(lines, words[(n+i*i)%len(words)][language]+" "+words[(5*n+7*i+1)%len(words)][language])
		}
		pages = append(pages, &segments.Page{Document: segment.Document{
			ID: layout.IdentityOf(o.URL), Version: o.Version, URL: o.URL, Site: names[language] + ".example", Lang: names[language],
			Title: fmt.Sprint("page ", n), Body: strings.Join(lines, "\n"), Translation: 1 + uint64(n)<<40,
		}})
	}
	pkg, outcomes := functionstest.Package(w.t, w.bucket, p, objects...)
	functionstest.Learn(w.t, w.bucket, p, book.Book{Outcomes: outcomes}, pkg)
	content, err := segments.Build(pages)
	w.check(err)
	own, err := partition.Open(w.t.Context(), w.bucket, p, w.Now)
	w.check(err)
	stored, err := own.PutSegment(w.t.Context(), content)
	w.check(err)
	w.check(own.Commit(w.t.Context(), func(e *partition.Edit) error {
		listed := e.Manifest().Package(pkg.Key)
		e.SetIndexed(listed.ID, true)
		return e.AddSegment(stored, manifest.Part{Package: listed.ID, Documents: len(pages)})
	}))
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// dictionaries returns the list of all dictionaries, which the manifest of the first partition has.
func (w *world) dictionaries() *manifest.Dictionaries {
	w.t.Helper()
	if d := functionstest.Manifest(w.t, w.bucket, 1).Dictionaries; d != nil {
		w.t.Errorf("the second partition lists dictionaries, too: %+v", d)
	}
	return functionstest.Manifest(w.t, w.bucket, 0).Dictionaries
}

// open opens the listed dictionary between two languages.
func (w *world) open(from, to string) *dictionary.Dictionary {
	w.t.Helper()
	listed := w.dictionaries().Between(from, to)
	if listed == nil {
		w.t.Fatalf("there is no dictionary from %s to %s", from, to)
	}
	content, err := w.bucket.Get(w.t.Context(), listed.Key, blob.Range{})
	w.check(err)
	d, err := partition.OpenDictionary(listed, content)
	w.check(err)
	return d
}

// bilingual stores 60 English pages in the first partition, their German translations in the second,
// and a few French ones.
func (w *world) bilingual() {
	w.t.Helper()
	w.translate(0, 1, 0, 0, 60)
	w.translate(1, 2, 1, 0, 60)
	w.translate(1, 3, 2, 0, leastPages-1)
}

// keysOf returns the keys of the listed dictionaries, sorted.
func keysOf(d *manifest.Dictionaries) (keys []string) {
	if d != nil {
		for _, one := range d.All {
			keys = append(keys, one.Key)
		}
	}
	slices.Sort(keys)
	return keys
}

// termOf returns the stemmed term by which the index finds a word of a language.
func termOf(language, word string) (term string) {
	analysis.For(language).Each(word, func(o analysis.Occurrence) bool {
		term = o.Term
		return false
	})
	return term
}

func TestDictionaries(t *testing.T) {
	w := newWorld(t)
	w.bilingual()
	w.run()
	all := w.dictionaries()
	if len(all.All) != 2 || all.Of == "" || all.Omitted != nil {
		t.Fatalf("dictionaries %+v, want those from English to German and back: there are few French pages", all)
	}
	there, back := w.open("en", "de"), w.open("de", "en")
	for _, word := range words {
		if word[0] == "hand" {
			continue // the same word
		}
		for _, d := range []struct {
			*dictionary.Dictionary
			from, to string
		}{{there, word[0], word[1]}, {back, word[1], word[0]}} {
			if found := d.Lookup(termOf(d.From, d.from)); len(found) == 0 || found[0].Term != termOf(d.To, d.to) {
				t.Errorf("%s is %v in %s, want %s", d.from, found, d.To, d.to)
			}
		}
	}
	if d := all.Between("en", "de"); d.Pages != 60 || d.Sentences < 60 || d.Terms != there.Terms() || d.Omitted != nil {
		t.Errorf("entry %+v", d)
	}

	reads := w.counts.Counts()
	w.run()
	if now := w.counts.Counts(); now.Get-reads.Get > 6 || now.Put > reads.Put {
		t.Errorf("%d GETs and %d PUTs to find nothing to do", now.Get-reads.Get, now.Put-reads.Put)
	}
}

// TestDictionariesLearntAgain checks that dictionaries are learnt again if more than a tenth of their
// pages are new, and stay if fewer are. The old dictionaries must be condemned, that is, listed to be
// deleted.
func TestDictionariesLearntAgain(t *testing.T) {
	w := newWorld(t)
	w.bilingual()
	w.run()
	first := w.dictionaries()
	w.translate(0, 4, 0, 60, 63)
	w.translate(1, 5, 1, 60, 63)
	w.run()
	second := w.dictionaries()
	if !slices.Equal(keysOf(first), keysOf(second)) || first.Of == second.Of {
		t.Errorf("with 3 more pages: %+v, want the same dictionaries as before, %+v, and another input", second, first)
	}
	w.translate(0, 6, 0, 63, 70)
	w.translate(1, 7, 1, 63, 70)
	w.run()
	third := functionstest.Manifest(t, w.bucket, 0)
	for _, key := range keysOf(second) {
		if slices.Contains(keysOf(third.Dictionaries), key) || !third.IsCondemned(key) {
			t.Errorf("with 10 more pages: %s is listed, or not condemned", key)
		}
	}
	if d := third.Dictionaries.Between("de", "en"); d == nil || d.Pages != 70 {
		t.Errorf("with 10 more pages: %+v", d)
	}
}

// TestForgottenDictionaries checks that a takedown of a site removes the dictionaries from the
// manifest and condemns them to be deleted, and that the next run learns nothing from the site's
// pages.
func TestForgottenDictionaries(t *testing.T) {
	w := newWorld(t)
	w.bilingual()
	w.run()
	_, err := takedown.Forget(t.Context(), w.bucket, takedown.Site("de.example", functionstest.Start))
	w.check(err)
	forgotten, err := takedown.Load(t.Context(), w.bucket)
	w.check(err)
	w.Settings.(*functionstest.Fixed).Takedowns = forgotten
	before := keysOf(w.dictionaries())
	functionstest.Edit(t, w.bucket, 0, func(e *partition.Edit) error {
		e.Forgot(1)
		return nil
	})
	m := functionstest.Manifest(t, w.bucket, 0)
	for _, key := range before {
		if !m.IsCondemned(key) {
			t.Errorf("%s is not condemned", key)
		}
	}
	if m.Dictionaries != nil {
		t.Errorf("dictionaries %+v after a takedown", m.Dictionaries)
	}
	w.run() // the second partition has not erased its pages yet
	if d := w.dictionaries(); d == nil || len(d.All) != 0 {
		t.Errorf("dictionaries %+v of a forgotten site", d)
	}
}

// TestDictionariesWithinLimits sets one limit for learning dictionaries at a time so low that it must
// leave out a part of the input. It checks that the manifest records which part was left out.
func TestDictionariesWithinLimits(t *testing.T) {
	for name, c := range map[string]struct {
		limit   func(*Limits)
		omitted string
		all     bool // whether the omission is recorded for the whole list, and not for one dictionary
	}{
		"documents":          {func(l *Limits) { l.Translated = 100 }, "documents beyond 100 that may be translations", true},
		"pairs of languages": {func(l *Limits) { l.Dictionaries = 1 }, "2 of 3 pairs of languages", true},
		"pages":              {func(l *Limits) { l.Pages = 25 }, "35 of 60 pages", false},
		"sentences of pages": {func(l *Limits) { l.Translation.Sentences = 2 }, "bytes at the ends of long pages", false},
		"work":               {func(l *Limits) { l.Work = 900 }, "pairs of sentences", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.limit(&w.Limits)
			w.translate(0, 1, 0, 0, 60)
			w.translate(1, 2, 1, 0, 60)
			w.translate(0, 3, 2, 0, 40)
			w.run()
			d := w.dictionaries()
			told := d.Omitted
			if !c.all {
				told = d.Between("en", "de").Omitted
			}
			if !slices.ContainsFunc(told, func(text string) bool { return strings.Contains(text, c.omitted) }) {
				t.Errorf("omitted %q, want %q", told, c.omitted)
			}
			if d.Between("en", "de") == nil {
				t.Errorf("no dictionary from English to German: %+v", d)
			}
		})
	}
}

// TestPairs checks the order of pairs of languages. The pairs with the language that has the most
// documents must come before all others. Apart from that, pairs with more pages come first, and of
// pairs with equally many those whose languages have more documents.
func TestPairs(t *testing.T) {
	found := translations{languages: []string{"de", "en", "fr", "it", "ja"}, documents: []uint64{80, 500, 90, 39, 1000}}
	add := func(groups int, languages ...uint16) {
		for range groups {
			group := uint64(len(found.pages) + 1)
			for _, language := range languages {
				found.pages = append(found.pages, translatedPage{group: group, language: language})
			}
		}
	}
	add(40, 0, 2)
	add(20, 0, 1)
	add(25, 1, 2)
	add(20, 1, 3)
	add(20, 0, 3)
	add(20, 2, 3)
	add(19, 1, 4)
	want := []languagePair{
		{[2]uint16{1, 2}, 25}, {[2]uint16{0, 1}, 20}, {[2]uint16{1, 3}, 20}, // with English
		{[2]uint16{0, 2}, 40}, {[2]uint16{2, 3}, 20}, {[2]uint16{0, 3}, 20},
	}
	if got := found.pairs(); !slices.Equal(got, want) {
		t.Errorf("pairs %v, want %v", got, want)
	}
}

// TestDictionariesFailAnywhere makes a run fail at one storage call, each call in turn. It checks
// that a second run, without a fault, always ends with the same two dictionaries.
func TestDictionariesFailAnywhere(t *testing.T) {
	var want []string
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		w := newWorld(t)
		w.bilingual()
		w.decide = decide
		_ = w.Run(t.Context())
		w.decide = nil
		w.run()
		var hashes []string
		for _, key := range keysOf(w.dictionaries()) {
			_, hash, _ := strings.Cut(key, "_")
			hashes = append(hashes, hash)
		}
		slices.Sort(hashes)
		if want == nil {
			want = hashes
		}
		if !slices.Equal(hashes, want) || len(hashes) != 2 {
			t.Errorf("dictionaries %v, want %v", hashes, want)
		}
	})
}

// TestDictionariesOfDamagedTexts damages a segment in one place: the texts of its pages cannot be
// read, but the columns, which say what pages there are, can. Dictionaries are then learnt without
// these texts. The test checks that they are learnt again once the texts are mended.
func TestDictionariesOfDamagedTexts(t *testing.T) {
	w := newWorld(t)
	w.translate(0, 1, 0, 0, 60)
	w.translate(1, 2, 1, 0, 30)
	w.translate(1, 3, 1, 30, 60)
	key := functionstest.Manifest(t, w.bucket, 1).Segments[1].Key
	content, err := w.bucket.Get(t.Context(), key, blob.Range{})
	w.check(err)
	damaged := slices.Clone(content)
	damaged[16] ^= 1 // the texts come first in a segment
	put := func(content []byte) {
		w.check(w.bucket.Delete(t.Context(), key))
		functionstest.Put(t, w.bucket, key, content)
	}
	put(damaged)
	w.run()
	first := w.dictionaries()
	if first.Of != "" || len(first.All) != 2 {
		t.Fatalf("with damaged texts: %+v", first)
	}
	put(content)
	w.run()
	if d := w.dictionaries(); d.Of == "" || d.Between("en", "de").Sentences <= first.Between("en", "de").Sentences {
		t.Errorf("after a repair: %+v, before it %+v", d, first)
	}
}

// TestDictionariesOfDamage checks that no dictionary is learnt while a segment is lost. When the segment
// is back, dictionaries must be learnt. A dictionary that a repair of the bucket has dropped must be
// learnt again.
func TestDictionariesOfDamage(t *testing.T) {
	w := newWorld(t)
	w.bilingual()
	lost := functionstest.Manifest(t, w.bucket, 1).Segments[0].Key
	content, err := w.bucket.Get(t.Context(), lost, blob.Range{})
	w.check(err)
	w.check(w.bucket.Delete(t.Context(), lost))
	w.run()
	if d := w.dictionaries(); d != nil && (d.Of != "" || len(d.All) > 0) {
		t.Errorf("without the German pages: %+v", d)
	}
	functionstest.Put(t, w.bucket, lost, content)
	w.run()
	key := w.dictionaries().Between("de", "en").Key
	functionstest.Edit(t, w.bucket, 0, func(e *partition.Edit) error {
		e.DropRanks(key)
		return nil
	})
	if d := w.dictionaries(); d.Of != "" || len(d.All) != 1 {
		t.Errorf("without a dictionary: %+v", d)
	}
	w.run()
	if d := w.dictionaries(); d.Of == "" || len(d.All) != 2 {
		t.Errorf("after a repair: %+v", d)
	}
}
