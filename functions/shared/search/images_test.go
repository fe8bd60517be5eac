package search

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// pictures returns a page with images.
func pictures(url, lang, title, body string, images ...segment.Image) segment.Document {
	d := page(url, body)
	d.Lang, d.Title, d.Images = lang, title, images
	return d
}

func gallery() []segment.Document {
	const at = "http://i/"
	cat := segment.Image{URL: at + "a.png", Alt: "A sleeping cat", Around: "Animals at home"}
	return []segment.Document{
		pictures("http://a/cats", "en", "Cats", "Our animals.", cat,
			segment.Image{URL: at + "b.png", Alt: "A dog", Caption: "The dog barks at a red door"},
			segment.Image{URL: at + "foxHunting_3.png"}, segment.Image{URL: at + "f.png", Alt: "An e-mail arrives"}, segment.Image{URL: at + "g.png", Alt: "Email"}),
		pictures("http://a/copy", "en", "Other", "Our animals again.", segment.Image{URL: at + "a.png", Alt: "cat"}),
		pictures("http://a/words", "en", "Sleeping cats", "A cat sleeps beside a door, and so does the dog."),
		pictures("http://b/katzen", "de", "Katzen", "Unsere Tiere.", segment.Image{URL: at + "c.png", Alt: "Schlafende Katzen", Caption: "Die Häuser der Katzen"}),
		pictures("http://c/ja", "ja", "動物", "動物の話。", segment.Image{URL: at + "d.png", Alt: "東京の猫"}),
		pictures("http://c/ru", "ru", "Звери", "О зверях.", segment.Image{URL: at + "e.png", Caption: "Спящие кошки"}),
	}
}

// namesOf returns, for each image of a result, its file name, and the number of other pages that show
// it.
func namesOf(r Result) (names []string) {
	for _, hit := range r.Hits {
		name := strings.TrimPrefix(hit.Image.URL, "http://i/")
		if n := len(hit.Image.Also); n > 0 {
			name += fmt.Sprintf(" and %d", n)
		}
		names = append(names, name)
	}
	return names
}

func TestImages(t *testing.T) {
	docs := gallery()
	for name, ix := range map[string]*Index{"one segment": indexOf(t, docs), "three": indexOf(t, docs[:1], docs[1:4], docs[4:])} {
		for query, want := range map[string][]string{
			"cat type:image":                  {"a.png and 1"},
			"type:IMAGE sleeping cats":        {"a.png and 1"},
			"animal type:image":               {"a.png"}, // the words around on one of its pages
			"hunting type:image":              {"foxHunting_3.png"},
			"email type:image":                {"g.png", "f.png"},
			"e-mail type:image":               {"f.png", "g.png", "e.png"}, // e.png by its name
			"dog cat type:image":              {"b.png", "a.png and 1"},
			"+dog cat type:image":             {"b.png"},
			"cat dog -barks type:image":       {"a.png and 1"},
			`"red door" type:image`:           {"b.png"},
			`"door red" type:image`:           {"b.png"}, // they stand together nowhere: the words alone
			`"door red"~2 type:image`:         {"b.png"},
			`dog cat -"red door" type:image`:  {"a.png and 1"},
			"haus type:image":                 {"c.png"},
			"haus type:image lang:en":         nil,
			"猫 type:image":                    {"d.png"},
			"東京 type:image":                   {"d.png"},
			"кошка type:image":                {"e.png"},
			"tür type:image":                  nil,
			"type:image":                      nil,
			"cat site:example.org type:image": {"a.png and 1"},
		} {
			r := find(t, ix, Query{Text: query, Size: 10, Fold: true, Explain: true})
			if d := cmp.Diff(want, namesOf(r)); d != "" || r.Total != len(want) || !r.Exact {
				t.Errorf("%s, %s: total %d, exact %v (-want +got)\n%s", name, query, r.Total, r.Exact, d)
			}
			for _, hit := range r.Hits {
				if e := hit.Explanation; math.Abs(e.Value-hit.Score) > 1e-9 || !adds(e) {
					t.Errorf("%s, %s: score %g is explained by %+v", name, query, hit.Score, e)
				}
			}
		}
	}
	r := find(t, indexOf(t, docs), Query{Text: "cat", Type: []string{"image"}, Size: 10})
	hit := r.Hits[0]
	if hit.URL != "http://a/cats" || hit.Title != "Cats" || hit.Body != "" || hit.Images != nil || !slices.Equal(hit.Image.Also, []string{"http://a/copy"}) {
		t.Errorf("hit %+v", hit)
	}
	if d := cmp.Diff([]Fragment{{"A sleeping ", false}, {"cat", true}}, hit.Image.Marked); d != "" {
		t.Errorf("marked (-want +got)\n%s", d)
	}
	second := find(t, indexOf(t, docs), Query{Text: "dog cat type:image", From: 1, Size: 1})
	if d := cmp.Diff([]string{"a.png and 1"}, namesOf(second)); d != "" || second.Total != 2 {
		t.Errorf("second page: total %d (-want +got)\n%s", second.Total, d)
	}
}

// adds reports whether the values of an explanation add up. The value of each node must be the sum of
// its parts' values, or this sum times Weights.AllWords, the factor for having all words.
func adds(e *Explanation) bool {
	sum := 0.0
	for i := range e.Parts {
		if !adds(&e.Parts[i]) {
			return false
		}
		sum += e.Parts[i].Value
	}
	return len(e.Parts) == 0 || math.Abs(sum-e.Value) < 1e-9 || math.Abs(standard.AllWords*sum-e.Value) < 1e-9
}

// TestImagesOfDeletedPages checks that an image on a deleted page and on another page is found only on
// the other page, and that an image with a hidden address is not found.
func TestImagesOfDeletedPages(t *testing.T) {
	docs := gallery()
	dead := map[layout.Identity]bool{docs[0].ID: true}
	r := find(t, indexWithout(t, dead, docs), Query{Text: "cat dog type:image", Size: 10})
	if d := cmp.Diff([]string{"a.png"}, namesOf(r)); d != "" || r.Hits[0].URL != "http://a/copy" {
		t.Errorf("without the first page (-want +got)\n%s", d)
	}
	r = find(t, indexOf(t, docs), Query{Text: "cat dog type:image", Size: 10, Hidden: func(address string) bool { return address == "http://i/a.png" }})
	if d := cmp.Diff([]string{"b.png"}, namesOf(r)); d != "" {
		t.Errorf("without an image (-want +got)\n%s", d)
	}
}

// TestImagesDisturbNoPages searches pages with and without images, and checks that results and scores
// are the same.
func TestImagesDisturbNoPages(t *testing.T) {
	with := gallery()
	without := slices.Clone(with)
	for i := range without {
		without[i].Images = nil
	}
	a, b := indexOf(t, with), indexOf(t, without)
	for _, query := range []string{"cat", "dog door", "sleep* animals", "animls~", "動", "動物", "katzen tiere", `"our animals"`, "barks", "東", "-cat dog", "type:html dog"} {
		q := Query{Text: query, Size: 10, Fold: true, Explain: true, Facets: []string{Lang, Type}}
		if d := cmp.Diff(find(t, b, q), find(t, a, q)); d != "" {
			t.Errorf("%s (-without +with images)\n%s", query, d)
		}
	}
}

// TestManyPagesOfImages checks that a search for the first images examines only the leastImagePages best
// pages, and that a search for images far down also finds those on further pages.
func TestManyPagesOfImages(t *testing.T) {
	var docs []segment.Document
	for i := range leastImagePages + 50 {
		alt := "cat"
		if i < leastImagePages {
			alt = "cat, and a cat"
		}
		docs = append(docs, pictures(fmt.Sprintf("http://a/%d", i), "en", "Cats", "Words.", segment.Image{URL: fmt.Sprintf("http://i/%d.png", i), Alt: alt}))
	}
	ix := indexOf(t, docs)
	r := find(t, ix, Query{Text: "cat type:image", Size: 10})
	if r.Total != leastImagePages || r.Exact || len(r.Hits) != 10 {
		t.Errorf("total %d, exact %v", r.Total, r.Exact)
	}
	r = find(t, ix, Query{Text: "cat type:image", From: leastImagePages + 40, Size: 20})
	if r.Total != len(docs) || !r.Exact || len(r.Hits) != 10 {
		t.Errorf("far down: total %d, exact %v, %d hits", r.Total, r.Exact, len(r.Hits))
	}
}
