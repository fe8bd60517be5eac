package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/layout/dictionary"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// bilingual publishes English and German pages, and a dictionary from English to German. It returns
// the key of the dictionary.
func (s *store) bilingual() string {
	s.T.Helper()
	var pages []querytest.Page
	for n := range 12 {
		pages = append(pages,
			querytest.Page{URL: fmt.Sprintf("http://a.example/en/%d", n), Title: fmt.Sprint("Home ", n), Body: "The house is white and stands there.", Lang: "en"},
			querytest.Page{URL: fmt.Sprintf("http://a.example/de/%d", n), Title: fmt.Sprint("Heim ", n), Body: "Das Haus ist weiß und steht dort.", Lang: "de"})
	}
	s.Publish(pages...)
	content, err := dictionary.Encode("en", "de", []dictionary.Entry{{Term: "hous", Translations: []dictionary.Translation{{Term: "haus", Probability: 1}}}})
	s.Check(err)
	p, err := partition.Open(s.T.Context(), s.Bucket, 0, s.Clock.Now)
	s.Check(err)
	s.Check(p.Commit(s.T.Context(), func(e *partition.Edit) error {
		return e.SetDictionary(s.T.Context(), manifest.Dictionary{From: "en", To: "de", Terms: 1}, content)
	}))
	return p.Manifest().Dictionaries.All[0].Key
}

// TestAcross finds German pages by English queries. It checks that the results tell how they were
// found, on the first page of results and on further ones.
func TestAcross(t *testing.T) {
	s := newStore(t, 1)
	s.bilingual()
	h := handlerOf(s.engine(s.Bucket))
	var answer engine.Answer
	s.Check(json.Unmarshal(querytest.AskJSON(h, "/search?q=house&across=de&n=100").Body.Bytes(), &answer))
	found := make(map[string]int)
	for _, r := range answer.Results {
		found[r.Lang+r.Across]++
	}
	if found["en"] != 12 || found["dede"] != 12 || answer.Total != 24 || len(answer.Notes) > 0 {
		t.Errorf("found %v of %d, notes %q", found, answer.Total, answer.Notes)
	}
	if want := (engine.Translation{From: "en", To: "de", Words: []engine.TranslatedWord{{Word: "house", As: []string{"haus"}}}}); len(answer.Translated) != 1 || fmt.Sprint(answer.Translated[0]) != fmt.Sprint(want) {
		t.Errorf("translated %v, want %v", answer.Translated, want)
	}
	page := querytest.Ask(h, "GET", "/search?q=house&across=de&lang=de", "Accept: text/html").Body.String()
	for _, want := range []string{
		"found by translation into German", "Translated from English to German: <i>house</i> → haus.", `<input type="hidden" name="across" value="de">`,
		`href="/search?across=de&amp;from=10&amp;lang=de&amp;q=house"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of results lacks %q:\n%s", want, page)
		}
	}
	s.Check(json.Unmarshal(querytest.AskJSON(h, "/search?q=house&across=fr").Body.Bytes(), &answer))
	if !slices.ContainsFunc(answer.Notes, func(note string) bool { return strings.Contains(note, "no dictionary from en to fr") }) {
		t.Errorf("notes %q without a dictionary", answer.Notes)
	}
	for address, want := range map[string]string{
		"/search?q=house&across=german":                     "across",
		"/search?q=house&across=de,fr,it,es,pt,pl,cs,sk,sl": "at most 8 languages",
		"/search?q=house&across=de&from=991":                "990",
		"/search?q=house&across=de&across=fr&from=10000":    "990",
	} {
		if w := querytest.AskJSON(h, address); w.Code != 400 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want a sentence with %q", address, w.Code, w.Body, want)
		}
	}
}

// TestDamagedDictionary damages or deletes the dictionary. It checks that pages are found by the
// untranslated words of the query. The log, and a note in the answer, must report the damage.
func TestDamagedDictionary(t *testing.T) {
	for name, harm := range map[string]func(s *store, key string){
		"deleted": func(s *store, key string) { s.Check(s.Bucket.Delete(s.T.Context(), key)) },
		"another": func(s *store, key string) {
			content, err := dictionary.Encode("en", "de", []dictionary.Entry{{Term: "hous", Translations: []dictionary.Translation{{Term: "hund", Probability: 1}}}})
			s.Check(err)
			s.Check(s.Bucket.Delete(s.T.Context(), key))
			s.Check(s.Bucket.Create(s.T.Context(), key, content))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, 1)
			harm(s, s.bilingual())
			var log bytes.Buffer
			h := handlerOf(s.logging(s.Bucket, &log))
			var answer engine.Answer
			s.Check(json.Unmarshal(querytest.AskJSON(h, "/search?q=house&across=de").Body.Bytes(), &answer))
			if answer.Total != 12 || len(answer.Notes) != 1 || !strings.Contains(answer.Notes[0], "cannot be read") {
				t.Errorf("%d pages, notes %q", answer.Total, answer.Notes)
			}
			if !strings.Contains(log.String(), "a query is not translated") {
				t.Errorf("log:\n%s", log.String())
			}
		})
	}
}
