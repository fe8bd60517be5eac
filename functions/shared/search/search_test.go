package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestScoresByHand compares scores with those computed by hand: there are three documents, two of
// them have "ka", and the average body has two words.
func TestScoresByHand(t *testing.T) {
	ix := indexOf(t, []segment.Document{page("a", "ka lo"), page("b", "ka ka mi"), page("c", "mi")})
	weight := math.Log(1 + 1.5/2.5)
	score := func(frequency float64) float64 { return weight * 2.5 * frequency / (1.5 + frequency) }
	want := map[string]float64{
		"a": score(1 / (0.4 + 0.6*2/2)),
		"b": score(2 / (0.4 + 0.6*3/2)),
	}
	for _, hit := range find(t, ix, Query{Text: "ka", Size: 10}).Hits {
		if math.Abs(hit.Score-want[hit.URL]) > 1e-12 {
			t.Errorf("%s scores %v, want %v", hit.URL, hit.Score, want[hit.URL])
		}
		delete(want, hit.URL)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}

func TestQueryLanguage(t *testing.T) {
	os := page("http://site/library/os.path.html", "Joining paths, portably.")
	os.Title = "Common pathname manipulations"
	german := page("http://de/", "Die Häuser der Stadt")
	german.Lang = "de"
	pdf := page("http://pdf/", "a paper on foxhounds")
	pdf.MIME, pdf.Site, pdf.Collections, pdf.Date = "application/pdf", "papers.example", []string{"Papers"}, noon.AddDate(1, 0, 0)
	ix := indexOf(t, []segment.Document{
		dated("http://1/", "the red fox jumps", "2026-01-01"),
		dated("http://2/", "a fox is red; the dog sleeps", "2026-12-31"),
		page("http://3/", "the dog barks"),
		page("http://4/", "大型搜索引擎在东京运行"),
		page("http://5/", "京都的大学"),
	}, []segment.Document{
		page("http://6/", "Crème brûlée & Müller’s naïve café"),
		page("http://7/", "ภาษาไทยง่าย"),
		os, german, pdf,
	})
	tests := []struct {
		text string
		want []string
	}{
		{"red fox", []string{"http://1/", "http://2/"}}, // next to each other first
		{`"red fox"`, []string{"http://1/"}},
		{"“red fox”", []string{"http://1/"}},
		{`"red fox`, []string{"http://1/"}},
		{`"fox red"~1`, []string{"http://2/"}},
		{`"fox red"~2`, []string{"http://1/", "http://2/"}},
		{"FOXES +dogs", []string{"http://2/", "http://3/"}},
		{"fox -dog", []string{"http://1/"}},
		{`dog -"dog barks"`, []string{"http://2/"}},
		{"+dog +unknown", []string{}},
		{"dog -unknown barks", []string{"http://3/", "http://2/"}},
		{"-the -fox -pathname -lang:de", []string{"http://pdf/", "http://5/", "http://6/", "http://7/", "http://4/"}},
		{"", []string{}},
		{" ?! + - \" \" … ", []string{}},
		{"搜索", []string{"http://4/"}},
		{"+东京", []string{"http://4/"}},
		{"大学 京都", []string{"http://5/"}},
		{"+学", []string{"http://5/"}},
		{"creme CAFÉ", []string{"http://6/"}},
		{"ไทย", []string{"http://7/"}},
		{"+os.path", []string{"http://site/library/os.path.html"}},
		{"manipulation", []string{"http://site/library/os.path.html"}},
		{"Haus", []string{"http://de/"}},
		{"foxh*", []string{"http://pdf/"}},
		{"+fox*", []string{"http://1/", "http://pdf/", "http://2/"}},
		{"foks~ ", []string{}},
		{"fxo~", []string{"http://1/", "http://2/"}},
		{"foxhuonsd~", []string{"http://pdf/"}},
		{"fox* type:pdf", []string{"http://pdf/"}},
		{"fox* -type:pdf", []string{"http://1/", "http://2/"}},
		{"fox* site:PAPERS.example", []string{"http://pdf/"}},
		{"fox* collection:Papers", []string{"http://pdf/"}},
		{"fox* collection:papers", []string{}},
		{"fox* lang:de", []string{}},
		{"fox* after:2027", []string{"http://pdf/"}},
		{"fox* after:2026-01-01 before:2027-01-01", []string{"http://1/", "http://2/"}},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			if diff := cmp.Diff(test.want, urls(t, ix, test.text)); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoneCharacterIsMarked(t *testing.T) {
	ix := indexOf(t, []segment.Document{page("a", "东京大学的大学")})
	if got := bracketed(find(t, ix, Query{Text: "学", Size: 1}).Hits[0].Snippet); got != "东京大[学]的大[学]" {
		t.Errorf("snippet is %s", got)
	}
}

// TestAllWordsFirst checks that a page with both words of a query comes before a page that has one of
// them more often, and that it does so because of Weights.AllWords.
func TestAllWordsFirst(t *testing.T) {
	ix := indexOf(t, []segment.Document{
		page("http://one/", "json json json parser that is a little longer than what it is given"),
		page("http://both/", "an encoder that is a little longer writes what it is given as json"),
		page("http://other/", "encoder"), page("http://more/", "encoder"), page("http://rest/", "xml"),
	})
	if got := urls(t, ix, "json encoder"); got[0] != "http://both/" {
		t.Errorf("first is %s", got[0])
	}
	w := Standard()
	w.AllWords = 1
	if got := urls(t, ix.WithWeights(w), "json encoder"); got[0] != "http://one/" {
		t.Errorf("without the factor for all words first is %s", got[0])
	}
}

// scored returns the identity, score and snippet of each hit, as texts. They must not depend on how
// documents are divided among segments.
func scored(t *testing.T, ix *Index, q Query) (out []string) {
	for _, hit := range find(t, ix, q).Hits {
		out = append(out, fmt.Sprintf("%s %.9f %v", hit.ID, hit.Score, hit.Snippet))
	}
	return out
}

// TestTies checks the order of hits if many documents have equal scores. In some of the searches the
// hundredth match has the same score as the next ones. Then these must be examined for words near each
// other, too, not only the best hundred.
func TestTies(t *testing.T) {
	var docs []segment.Document
	for i := range 350 {
		docs = append(docs, page(fmt.Sprint("http://", i), []string{"red fox", "red blue fox", "red", "fox fox"}[i%4]))
	}
	docs = docs[:345]
	random := rand.New(rand.NewPCG(9, 9))
	judge := newOracle(docs, nil)
	for _, n := range []int{1, 7} {
		ix := indexOf(t, divide(random, docs, n)...)
		for _, text := range []string{"red", "red fox", `"red fox" blue`} {
			for _, from := range []int{0, 5, 80, 95, 170, 340} {
				q := Query{Text: text, From: from, Size: 10}
				if problem := differs(find(t, ix, q), judge.search(q), q); problem != "" {
					t.Errorf("%d segments, %s from %d: %s", n, text, from, problem)
				}
			}
		}
	}
}

func TestPages(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	docs := randomDocuments(random, 150)
	ix := indexOf(t, divide(random, docs, 4)...)
	all := urls(t, ix, "banene tine")
	var paged []string
	for from := 0; from < 100; from += 7 {
		for _, hit := range find(t, ix, Query{Text: "banene tine", From: from, Size: min(7, 100-from)}).Hits {
			paged = append(paged, hit.URL)
		}
	}
	if diff := cmp.Diff(all, paged); diff != "" {
		t.Errorf("all at once and by pages:\n%s", diff)
	}
}

func TestRefusals(t *testing.T) {
	ix := indexOf(t, []segment.Document{page("a", "x")})
	for name, q := range map[string]Query{
		"hits":   {From: -1},
		"size":   {Size: -1},
		"far":    {From: MaxHits, Size: 1},
		"many":   {Size: MaxHits + 1},
		"huge":   {From: math.MaxInt, Size: math.MaxInt},
		"facets": {Text: "x", Facets: []string{"colour"}},
		"sites":  {Text: "x", Site: make([]string, maxValues+1)},
		"types":  {Text: "x", Type: []string{"image", "pdf"}},
	} {
		var refused *Refusal
		if _, err := ix.Search(context.Background(), q); !errors.As(err, &refused) || len(refused.Sentence) < 20 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNotes(t *testing.T) {
	var body strings.Builder
	for i := range 70 {
		fmt.Fprintf(&body, "w%d ", i)
	}
	var begun strings.Builder
	for i := range maxSeen + 100 {
		fmt.Fprintf(&begun, "q%d ", i)
	}
	ix := indexOf(t, []segment.Document{page("a", body.String()), page("b", "x64"), page("c", begun.String())})
	for _, test := range []struct{ name, text, want string }{
		{"words", strings.Repeat("no ", MaxWords) + "x64", "first 256 words"},
		{"telling words", strings.TrimSuffix(body.String(), "w69 "), "Of the query's 69 words, the 64 rarest"},
		{"open quote", `x64o "o p`, "closing quote is missing"},
		{"another engine's filter", "x64o size:3", "size: is no filter here"},
		{"another name", "x64o filetype:pdf", "Write, for example, type:pdf"},
		{"no date", "x64o after:tomorrow", "after:tomorrow is no date"},
		{"bytes", "w1 " + strings.Repeat("é", MaxText) + " x64", "first 4096 bytes"},
		{"no characters", "w1 \xed\xa0\x80", "no characters were ignored"},
		{"no date without a sign", "w1 -after:2020", "-after:2020 was ignored"},
		{"no date in a sentence", "w1 before:christ", "before:christ is no date"},
		{"not all alike", "w1 dup:maybe", "dup:maybe was ignored"},
		{"filters", "w1 " + strings.Repeat("-lang:de ", maxValues+1), "first 64 filters"},
		{"images and PDFs", "w1 type:image type:pdf", "only images"},
		{"a filter without a value", "w1 site: ", "site: was ignored"},
		{"only signs", "+ - !? (", "has no words"},
		{"images without words", "type:image", "Images are found by words"},
		{"an open group", "(w1 OR w2", "closing parenthesis is missing"},
		{"deep groups", strings.Repeat("(", 10) + "w1 OR w2" + strings.Repeat(")", 10), "more than 8 deep"},
		{"filters in groups", "(w1 lang:en) OR w2", "OR joins words, not filters"},
		{"excluded alternatives", "w1 OR -w2", "OR does not join excluded words"},
		{"images by fields", "intitle:w1 type:image", "In a search for images"},
		{"words that begin so", "w*", "70 words"},
		{"many words that begin so", "q*", "More than 20000 words begin with"},
	} {
		result := find(t, ix, Query{Text: test.text, Size: 10})
		if len(result.Notes) != 1 || !strings.Contains(result.Notes[0], test.want) {
			t.Errorf("%s: notes %q", test.name, result.Notes)
		}
		for _, hit := range result.Hits {
			if hit.URL == "b" {
				t.Errorf("%s: what lies beyond was searched", test.name)
			}
		}
	}
	for text, want := range map[string][]string{
		"w1 collection:nope":          {"No page is of collection:nope."},
		"w1 lang:xx type:pdf":         {"No page is of lang:xx.", "No page is of type:pdf."},
		"nowhere type:html":           nil,
		"w1 -collection:nope lang:en": nil,
	} {
		if got := find(t, ix, Query{Text: text, Size: 1}).Notes; !slices.Equal(got, want) {
			t.Errorf("%s: notes %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`"w1 w3"`: "Nothing was found with the quotes", `w1 w2 w3 w4 w5 w6 w7 w8 w9 "w1 w3"`: "In a long sentence",
		"w1 -x": "A minus before",
	} {
		if got := find(t, ix, Query{Text: text, Size: 1}); len(got.Hits) != 1 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], want) {
			t.Errorf("%s: %d hits, notes %q, want %q", text, len(got.Hits), got.Notes, want)
		}
	}
	if got := find(t, ix, Query{Text: "w1", Size: 1}).Notes; got != nil {
		t.Errorf("notes %q", got)
	}
}

func TestTotals(t *testing.T) {
	var docs []segment.Document
	for i := range 3000 {
		docs = append(docs, page(fmt.Sprint(i), []string{"ka", "ka lo", "ka lo " + strings.Repeat("mi ", i%50)}[i%3]))
	}
	ix := indexOf(t, docs[:1000], docs[1000:])
	for _, test := range []struct {
		query Query
		least int
		exact bool
	}{
		{Query{Text: "ka", Size: 1}, 3000, true},                   // known from the list alone
		{Query{Text: "mi", Size: 1}, 980, true},                    // less than a thousand
		{Query{Text: "ka lo", Size: 1}, countExactly, false},       // most cannot compete
		{Query{Text: "ka lo", Facets: []string{Lang}}, 3000, true}, // facets count all
		{Query{Text: `"ka lo"`, Size: 1}, verified, false},
		{Query{Text: "nothing", Size: 1}, 0, true},
	} {
		if got := find(t, ix, test.query); got.Total < test.least || got.Exact != test.exact || test.exact && got.Total != test.least {
			t.Errorf("%+v: %d, exact: %v; want %d, %v", test.query, got.Total, got.Exact, test.least, test.exact)
		}
	}
}

// TestLookupOfVersions looks up a page of which a segment has a dead version before the live one, and another segment
// an earlier one.
func TestLookupOfVersions(t *testing.T) {
	versions := make([]segment.Document, 3)
	for i := range versions {
		versions[i] = page("a", fmt.Sprint("version", i))
		versions[i].Version.Token = uint64(i)
	}
	ix, err := New([]Part{
		{Segment: segmentOf(t, []segment.Document{versions[1]})},
		{Segment: segmentOf(t, []segment.Document{versions[0], page("b", "lo"), versions[2]}), Dead: roaring.BitmapOf(0)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d, found, err := ix.Lookup(t.Context(), versions[0].ID); err != nil || !found || d.Version != versions[2].Version {
		t.Errorf("Lookup = %v, %v, %v", d.Version, found, err)
	}
}

func TestLookup(t *testing.T) {
	docs := []segment.Document{page("a", "ka"), page("b", "lo"), page("c", "mi")}
	ix := indexWithout(t, map[layout.Identity]bool{docs[1].ID: true}, docs[:1], docs[1:])
	if d, found, err := ix.Lookup(t.Context(), docs[2].ID); err != nil || !found || d.Body != "mi" {
		t.Errorf("Lookup = %q, %v, %v", d.Body, found, err)
	}
	for _, url := range []string{"b", "d"} {
		if _, found, err := ix.Lookup(t.Context(), layout.IdentityOf(url)); found || err != nil {
			t.Errorf("Lookup(%s) = %v, %v", url, found, err)
		}
	}
	if has, err := ix.Has(t.Context(), []layout.Identity{docs[0].ID, docs[1].ID, layout.IdentityOf("d")}); err != nil || len(has) != 1 || !has[docs[0].ID] {
		t.Errorf("Has = %v, %v", has, err)
	}
	if ix.documents != 2 {
		t.Errorf("%d documents", ix.documents)
	}
	empty, err := New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := find(t, empty, Query{Text: "ka", Size: 10, Facets: []string{Site}}); got.Total != 0 || !got.Exact {
		t.Errorf("nothing gives %+v", got)
	}
}

func TestConcurrentSearches(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	docs := randomDocuments(random, 100)
	ix := indexOf(t, docs[:50], docs[50:])
	one := indexOf(t, docs)
	var queries []Query
	var want [][]string
	for range 16 {
		q := randomQuery(random)
		q.Explain, q.Facets = true, []string{Site}
		queries = append(queries, q)
		want = append(want, scored(t, one, q))
	}
	var wait sync.WaitGroup
	for client := range 8 {
		wait.Go(func() {
			for i := range queries {
				n := (i + client) % len(queries)
				if diff := cmp.Diff(want[n], scored(t, ix, queries[n])); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	wait.Wait()
}

// FuzzSearch checks that every text is answered without an error.
func FuzzSearch(f *testing.F) {
	for _, text := range []string{"", `+"a b" -c`, "\"\xff", "+-+", "京", "a\u00adb é\u0301", "a* b~ \"a c\"~2 site:x", strings.Repeat("x ", 100),
		"a OR (b -c)", `-"a b`, "before:christ", "after:99999-01-01", "-(((", "intitle:(a|b) -inurl:c* lang:en", "\xed\xa0\x80", "dup:maybe type:image type:pdf", "lang:en -é"} {
		f.Add(text, false)
		f.Add(text, true)
	}
	ix := indexOf(f, []segment.Document{page("http://a/b", "a b c 東京都 x"), dated("http://c/", "é ab\u0301 c", "2026-01-31")}, nil, []segment.Document{page("d", "x y")})
	f.Fuzz(func(t *testing.T, text string, byDate bool) {
		result, err := ix.Search(t.Context(), Query{Text: text, Size: 10, Explain: true, ByDate: byDate})
		if err != nil {
			t.Fatal(err)
		}
		if result.Total != len(result.Hits) || result.Total > ix.documents {
			t.Errorf("%d hits of %d", len(result.Hits), result.Total)
		}
	})
}

// TestTotalOfBegunWord searches a single character of a script without spaces. A page with two
// different words that begin with this character must count only once in Total.
func TestTotalOfBegunWord(t *testing.T) {
	both, one := page("http://a/1", "検索と検査"), page("http://a/2", "検索")
	both.Lang, one.Lang = "ja", "ja"
	if found := find(t, indexOf(t, []segment.Document{both, one}), Query{Text: "検", Size: 10}); found.Total != 2 || len(found.Hits) != 2 {
		t.Errorf("%d hits, total %d", len(found.Hits), found.Total)
	}
}
