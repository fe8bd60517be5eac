package segment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

// The scores are computed by hand: N = 3, two documents hold "ka", the average
// body has two words.
func TestScoresByHand(t *testing.T) {
	ix := indexOf(t, []Document{page("a", "ka lo"), page("b", "ka ka mi"), page("c", "mi")})
	idf := math.Log(1 + 1.5/2.5)
	want := map[string]float64{
		"a": idf * 2.2 * 1 / (1 + 1.2*(0.25+0.75*2/2)),
		"b": idf * 2.2 * 2 / (2 + 1.2*(0.25+0.75*3/2)),
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

// scored is what must not depend on the division into segments.
func scored(t *testing.T, ix *Index, q Query) (out []string) {
	result := find(t, ix, q)
	for _, hit := range result.Hits {
		out = append(out, fmt.Sprintf("%s %.9f %v", hit.ID, hit.Score, hit.Snippet))
	}
	return append(out, fmt.Sprint(result.Total))
}

func TestDivisionDoesNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	docs := randomDocuments(random, 200)
	one := indexOf(t, docs)
	for _, n := range []int{3, 10} {
		many := indexOf(t, divide(random, docs, n)...)
		for range 60 {
			q := Query{Text: randomQuery(random), From: random.IntN(5), Size: random.IntN(50)}
			if diff := cmp.Diff(scored(t, one, q), scored(t, many, q)); diff != "" {
				t.Fatalf("%s over 1 and %d segments:\n%s", q.Text, n, diff)
			}
		}
	}
}

func TestDeadDocumentsDoNotCount(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	live := randomDocuments(random, 100)
	older := randomDocuments(random, 60)
	for i := range older {
		older[i].Version = layout.Version{Epoch: 0, Token: 99}
	}
	clean := indexOf(t, live)
	mixed := indexOf(t, older[:20], live, older[20:])
	if mixed.Documents() != len(live) {
		t.Fatalf("%d live documents, want %d", mixed.Documents(), len(live))
	}
	for range 60 {
		q := Query{Text: randomQuery(random), Size: 50}
		if diff := cmp.Diff(scored(t, clean, q), scored(t, mixed, q)); diff != "" {
			t.Fatalf("%s with and without dead documents:\n%s", q.Text, diff)
		}
	}
}

func TestLiveVersion(t *testing.T) {
	version := func(epoch, token uint64, body string) Document {
		d := page("http://a/", body)
		d.Version = layout.Version{Epoch: epoch, Token: token}
		return d
	}
	tests := []struct {
		name   string
		groups [][]Document
		live   string
	}{
		{"later segment", [][]Document{{version(1, 1, "old")}, {version(1, 2, "new")}}, "new"},
		{"earlier segment", [][]Document{{version(2, 1, "new")}, {version(1, 9, "old")}}, "new"},
		{"one segment", [][]Document{{version(1, 1, "old"), version(1, 3, "new"), version(1, 2, "old")}}, "new"},
		{"a tie goes to the first", [][]Document{{version(1, 1, "new")}, {version(1, 1, "old")}}, "new"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ix := indexOf(t, test.groups...)
			d, found, err := ix.Lookup(layout.IdentityOf("http://a/"))
			if err != nil || !found || d.Body != test.live {
				t.Errorf("Lookup = %q, %v, %v; want %q", d.Body, found, err, test.live)
			}
			if got := urls(t, ix, "old"); len(got) != 0 {
				t.Errorf("a dead version was found")
			}
			if got := urls(t, ix, "new"); len(got) != 1 || ix.Documents() != 1 {
				t.Errorf("found %v of %d documents, want one of one", got, ix.Documents())
			}
		})
	}
	if _, found, err := indexOf(t).Lookup(layout.Identity{}); found || err != nil {
		t.Errorf("Lookup in an empty index = %v, %v", found, err)
	}
}

func TestQueryLanguage(t *testing.T) {
	os := page("http://site/library/os.path.html", "Joining paths, portably.")
	os.Title = "Common pathname manipulations"
	ix := indexOf(t, []Document{
		page("http://1/", "the red fox jumps"),
		page("http://2/", "a fox is red; the dog sleeps"),
		page("http://3/", "the dog barks"),
		page("http://4/", "大型搜索引擎在东京运行"),
		page("http://5/", "京都的大学"),
		page("http://6/", "Crème brûlée & Müller’s naïve café"),
		page("http://7/", "ภาษาไทยง่าย"),
		os,
	})
	tests := []struct {
		text string
		want []string
	}{
		{"red fox", []string{"http://1/", "http://2/"}}, // next to each other first
		{`"red fox"`, []string{"http://1/"}},
		{"“red fox”", []string{"http://1/"}},
		{`"red fox`, []string{"http://1/"}},
		{"FOXES +dogs", []string{"http://2/", "http://3/"}},
		{"fox -dog", []string{"http://1/"}},
		{`dog -"dog barks"`, []string{"http://2/"}},
		{"+dog +unknown", []string{}},
		{"dog -unknown barks", []string{"http://3/", "http://2/"}},
		{"-dog", []string{}},
		{"", []string{}},
		{" ?! + - \" \" … ", []string{}},
		{"搜索", []string{"http://4/"}},
		{"+东京", []string{"http://4/"}},
		{"大学 京都", []string{"http://5/"}},
		{"creme CAFÉ", []string{"http://6/"}},
		{"ไทย", []string{"http://7/"}},
		{"+os.path", []string{"http://site/library/os.path.html"}},
		{"manipulation", []string{"http://site/library/os.path.html"}},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			if diff := cmp.Diff(test.want, urls(t, ix, test.text)); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAllWordsFirst(t *testing.T) {
	ix := indexOf(t, []Document{
		page("http://one/", "json json json json json parser is not one"),
		page("http://both/", "an encoder that is a little longer writes what it is given as json"),
		page("http://other/", "encoder"), page("http://more/", "encoder"), page("http://rest/", "xml"),
	})
	if got := urls(t, ix, "json encoder"); got[0] != "http://both/" {
		t.Errorf("first is %s", got[0])
	}
}

func TestManyWords(t *testing.T) {
	ix := indexOf(t, []Document{page("a", "w0 w63"), page("b", "w64")})
	var words []string
	for i := range 70 {
		words = append(words, fmt.Sprintf("w%d", i))
	}
	if diff := cmp.Diff([]string{"a"}, urls(t, ix, strings.Join(words, " "))); diff != "" {
		t.Errorf("words beyond MaxWords (-want +got):\n%s", diff)
	}
	if got := urls(t, ix, strings.Repeat("é", MaxText)+" w0"); len(got) != 0 {
		t.Errorf("text beyond MaxText was read: %v", got)
	}
}

func TestPages(t *testing.T) {
	var docs []Document
	for i := range 25 {
		docs = append(docs, page(fmt.Sprint("p", i), "same"))
	}
	ix := indexOf(t, docs[:10], docs[10:])
	all := urls(t, ix, "same")
	var paged []string
	for from := 0; from < 30; from += 7 {
		result := find(t, ix, Query{Text: "same", From: from, Size: 7})
		if result.Total != 25 {
			t.Errorf("total is %d", result.Total)
		}
		for _, hit := range result.Hits {
			paged = append(paged, hit.URL)
		}
	}
	if diff := cmp.Diff(all, paged); diff != "" {
		t.Errorf("all at once and by pages:\n%s", diff)
	}
	for _, q := range []Query{{From: -1}, {Size: -1}, {From: MaxHits, Size: 1}, {Size: MaxHits + 1}, {From: math.MaxInt, Size: math.MaxInt}} {
		if _, err := ix.Search(context.Background(), q); err == nil {
			t.Errorf("hits %d + %d were not refused", q.From, q.Size)
		}
	}
}

// stopping is a context that ends after a number of looks at it.
type stopping struct {
	context.Context
	looks int
}

func (s *stopping) Err() error {
	if s.looks--; s.looks < 0 {
		return context.Canceled
	}
	return nil
}

func TestSearchStops(t *testing.T) {
	ix := indexOf(t, randomDocuments(rand.New(rand.NewPCG(1, 1)), 300))
	for looks := range 3 {
		if _, err := ix.Search(&stopping{context.Background(), looks}, Query{Text: "w0", Size: 3}); !errors.Is(err, context.Canceled) {
			t.Errorf("after %d looks: %v", looks, err)
		}
	}
}

func TestConcurrentSearches(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	docs := randomDocuments(random, 100)
	ix := indexOf(t, docs[:50], docs[50:])
	other, err := NewIndex(ix.segments[:1]) // shares a segment
	if err != nil {
		t.Fatal(err)
	}
	q := Query{Text: `w0 +w1 "w0 w1" -w9`, Size: 20}
	want := scored(t, indexOf(t, docs), q)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 10 {
				if _, err := other.Search(context.Background(), q); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(want, scored(t, ix, q)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	wait.Wait()
}

func FuzzQuery(f *testing.F) {
	for _, text := range []string{"", `+"a b" -c`, "\"\xff", "+-+", "京", "a\u00adb é\u0301", "-\"", strings.Repeat("x ", 100)} {
		f.Add(text)
	}
	ix := indexOf(f, []Document{page("http://a/b", "a b c 東京都 x"), page("http://c/", "é ab\u0301 c")}, nil, []Document{page("d", "x y")})
	f.Fuzz(func(t *testing.T, text string) {
		result := find(t, ix, Query{Text: text, Size: 10})
		if result.Total != len(result.Hits) || result.Total > ix.Documents() {
			t.Errorf("%d hits of %d", len(result.Hits), result.Total)
		}
	})
}
