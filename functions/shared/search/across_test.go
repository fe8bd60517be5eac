package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/dictionary"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// toGerman returns a dictionary from English to German.
func toGerman(t *testing.T) *dictionary.Dictionary {
	t.Helper()
	content, err := dictionary.Encode("en", "de", []dictionary.Entry{
		{Term: "dog", Translations: []dictionary.Translation{{Term: "hund", Probability: 0.9}}},
		{Term: "hous", Translations: []dictionary.Translation{{Term: "haus", Probability: 0.7}, {Term: "gebaud", Probability: 0.2}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := dictionary.Open(content)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// bilingual returns an index of English and German pages, and the value of Query.Across with which
// English queries are searched in German, too.
func bilingual(t *testing.T) (*Index, Across) {
	var docs []segment.Document
	for i, of := range []struct{ lang, words string }{
		{"en", "the house of the dog and the garden"}, {"en", "the house and the car of the people"}, {"en", "the garden and the people"},
		{"de", "das Haus und der Hund und der Garten"}, {"de", "das Gebäude und die Leute"}, {"de", "der Garten in Weimar und die Leute"}, {"de", "die Leute und das Auto"},
	} {
		d := page(fmt.Sprintf("http://a.example/%d", i), of.words)
		d.Lang = of.lang
		docs = append(docs, d)
	}
	known := toGerman(t)
	return indexOf(t, docs[:3], docs[3:]), Across{Into: []string{"de"}, Open: func(_ context.Context, from, to string) (*dictionary.Dictionary, error) {
		switch {
		case from == "en" && to == "de":
			return known, nil
		case to == "fr":
			return nil, dictionary.ErrDamaged
		}
		return nil, nil
	}}
}

// numbersOf returns the numbers of the pages found, sorted. A page that was found by a translated
// query has the language after its number, as in "3de".
func numbersOf(r Result) string {
	var all []string
	for _, hit := range r.Hits {
		all = append(all, strings.TrimPrefix(hit.URL, "http://a.example/")+hit.Across)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestAcross(t *testing.T) {
	ix, across := bilingual(t)
	for query, want := range map[string]string{
		"the house":            "0 1 2 3de 4de", // the is not in the dictionary: it stands as it is, on no German page
		"the house of the dog": "0 1 2 3de 4de",
		"+house the people":    "0 1 3de 4de",
		"the house -dog":       "1 2 4de",
		"the house Weimar":     "0 1 2 3de 4de 5de",
		"the house lang:en":    "0 1 2 3de 4de",
		"the house lang:de":    "3de 4de",
		"the house lang:de-AT": "3de 4de",
		"\"house of\"":         "0 3de 4de", // in German the words need not stand together
		"the hous*":            "0 1 2",
	} {
		r := find(t, ix, Query{Text: query, Size: 10, Across: across})
		if got := numbersOf(r); got != want {
			t.Errorf("%s: found %s, want %s; notes %q", query, got, want, r.Notes)
		}
		if r.Total != len(r.Hits) || !r.Exact {
			t.Errorf("%s: %d hits, total %d, exact %t", query, len(r.Hits), r.Total, r.Exact)
		}
		for _, hit := range r.Hits {
			if hit.Across != "" && hit.Across != hit.Lang {
				t.Errorf("%s is in %s, not in %s", hit.URL, hit.Lang, hit.Across)
			}
		}
	}
}

// TestAcrossPages checks that the pages of hits, one after another, have the same hits as one page with
// all hits.
func TestAcrossPages(t *testing.T) {
	ix, across := bilingual(t)
	q := Query{Text: "the house of the dog", Size: 10, Across: across, Facets: []string{Lang}}
	all := find(t, ix, q)
	if want := []Count{{"en", 3}, {"de", 2}}; !slices.Equal(all.Facets[0].Values, want) {
		t.Errorf("facets %v, want %v", all.Facets[0].Values, want)
	}
	q.Size = 2
	var paged []string
	for q.From = 0; q.From < all.Total; q.From += q.Size {
		for _, hit := range find(t, ix, q).Hits {
			paged = append(paged, hit.URL)
		}
	}
	var whole []string
	for _, hit := range all.Hits {
		whole = append(whole, hit.URL)
	}
	if !slices.Equal(paged, whole) {
		t.Errorf("page by page %q, at once %q", paged, whole)
	}
	q.From = MaxAcrossHits
	if _, err := ix.Search(t.Context(), q); err == nil {
		t.Error("hits so far down were returned")
	}
}

// TestAcrossNotes checks that, if a query cannot be translated into a language, the result's notes say
// why, and the search goes on without the translation.
func TestAcrossNotes(t *testing.T) {
	ix, across := bilingual(t)
	plain := find(t, ix, Query{Text: "the house of Weimar", Size: 10})
	many := []string{"de"}
	for c := range 10 {
		many = append(many, string(rune('a'+c))+"x")
	}
	for note, into := range map[string][]string{
		"no dictionary from en to nl":             {"nl"},
		"dictionary from en to fr cannot be read": {"fr"},
		"taken as one in the language en":         {"EN"},
		"first 8 languages":                       many,
	} {
		across.Into = into
		r := find(t, ix, Query{Text: "the house of Weimar", Size: 10, Across: across})
		if !strings.Contains(strings.Join(r.Notes, "\n"), note) {
			t.Errorf("across %q: notes %q, want %q", into, r.Notes, note)
		}
		if into[0] != "de" && (r.Total != plain.Total || len(r.Translated) > 0) {
			t.Errorf("across %q: total %d, want %d", into, r.Total, plain.Total)
		}
	}
	across.Into, across.Open = []string{"de"}, func(ctx context.Context, _, _ string) (*dictionary.Dictionary, error) {
		if _, limited := ctx.Deadline(); !limited {
			return nil, errors.New("nothing limits the time")
		}
		return nil, fmt.Errorf("slow: %w", context.DeadlineExceeded)
	}
	if r := find(t, ix, Query{Text: "the house", Size: 10, Across: across}); !strings.Contains(strings.Join(r.Notes, ""), "not read in time") {
		t.Errorf("notes of a slow dictionary: %q", r.Notes)
	}
}

// TestAcrossTold checks that the result and the explanations of scores have the translations by
// which a word was searched.
func TestAcrossTold(t *testing.T) {
	ix, across := bilingual(t)
	r := find(t, ix, Query{Text: "the house", Size: 10, Across: across, Explain: true})
	if len(r.Translated) != 1 || r.Translated[0].From != "en" || r.Translated[0].To != "de" || len(r.Translated[0].Words) != 2 {
		t.Fatalf("%+v", r.Translated)
	}
	if the, house := r.Translated[0].Words[0], r.Translated[0].Words[1]; the.As != nil || len(house.As) != 2 || house.As[0].Term != "haus" || house.Word != "house" {
		t.Errorf("%+v", r.Translated[0].Words)
	}
	for _, hit := range r.Hits {
		if told := fmt.Sprintf("%+v", *hit.Explanation); strings.Contains(told, "house → haus 0.7, gebaud 0.2") != (hit.Across != "") {
			t.Errorf("%s is explained by %s", hit.URL, told)
		}
		if difference := hit.Explanation.Value - hit.Score; difference > 1e-9 || difference < -1e-9 {
			t.Errorf("%s has the score %g and the explanation %g", hit.URL, hit.Score, hit.Explanation.Value)
		}
	}
}
