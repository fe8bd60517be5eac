package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// testLeaf is a leaf in the process of the test. Questions and answers are encoded, as between two processes.
type testLeaf struct {
	name  string
	parts []Part
	fails func(a *Asked) error // returns the error of a question; nil: none fails
	asked *atomic.Int64        // counts the questions
}

func (l testLeaf) Name() string { return l.name }

func (l testLeaf) Ask(ctx context.Context, a *Asked) (*Answer, error) {
	l.asked.Add(1)
	if l.fails != nil {
		if err := l.fails(a); err != nil {
			return nil, err
		}
	}
	content, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	var asked Asked
	if err := json.Unmarshal(content, &asked); err != nil {
		return nil, err
	}
	var own []Part
	for _, key := range asked.Segments {
		i := slices.IndexFunc(l.parts, func(p Part) bool { return p.Segment.Ref().Key == key })
		own = append(own, l.parts[i])
	}
	ix, err := New(own, nil)
	if err != nil {
		return nil, err
	}
	answer, err := ix.Answer(ctx, &asked)
	if err != nil {
		return nil, err
	}
	if content, err = answer.AppendBinary(nil); err != nil {
		return nil, err
	}
	decoded := new(Answer)
	return decoded, decoded.UnmarshalBinary(content)
}

// keyed builds a segment of each group of documents, and returns an index of these segments, each of which has a key of
// its own. Documents are deleted if their identity is in the map dead.
func keyed(t testing.TB, dead map[layout.Identity]bool, groups ...[]segment.Document) *Index {
	t.Helper()
	parts := slices.Clone(indexWithout(t, dead, groups...).parts)
	for i, docs := range groups {
		content := contentOf(t, docs)
		tail, err := segment.TailOf(content)
		if err != nil {
			t.Fatal(err)
		}
		ref := segment.Ref{Key: fmt.Sprint("segment ", i), Bytes: int64(len(content)), Tail: tail}
		if parts[i].Segment, err = segment.Open(t.Context(), segment.Bytes(content), ref); err != nil {
			t.Fatal(err)
		}
	}
	ix, err := New(parts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

// amongLeaves returns an index of the same parts, in which so many leaves search.
func amongLeaves(ix *Index, leaves int, fails func(leaf int, a *Asked) error) (with *Index, asked *atomic.Int64) {
	asked = new(atomic.Int64)
	var all []Leaf
	for i := range leaves {
		all = append(all, testLeaf{fmt.Sprint("leaf ", i), ix.parts, func(a *Asked) error {
			if fails == nil {
				return nil
			}
			return fails(i, a)
		}, asked})
	}
	return ix.WithLeaves(all), asked
}

// TestLeavesFindTheSame searches random queries in random documents by one process, and by 1, 2 and 7 leaves. All must
// have the same hits in the same order, with the same scores, and the same totals, facets and notes.
func TestLeavesFindTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	fresh := []string{"", "", "", "latest "}
	for range racetest.Rounds(3, 1) {
		docs := randomDocuments(random, 150+random.IntN(250))
		for i := range docs { // some alike pages
			if i%11 == 1 {
				docs[i].Body, docs[i].Title, docs[i].Entries = docs[i-1].Body, docs[i-1].Title, nil
			}
		}
		dead := make(map[layout.Identity]bool)
		for _, d := range docs {
			dead[d.ID] = random.IntN(20) == 0
		}
		one := keyed(t, dead, divide(random, docs, 9)...)
		for range racetest.Rounds(50, 10) {
			q := randomQuery(random)
			q.Text = fresh[random.IntN(len(fresh))] + q.Text
			if random.IntN(8) == 0 { // its parts are searched if no page has the word
				q.Text = "Koru" + strings.ToUpper(randomWord(random)[:1]) + randomWord(random)[1:]
			}
			q.Fold, q.Spread, q.ByDate = random.IntN(2) == 0, random.IntN(2) == 0, random.IntN(6) == 0
			q.Facets = [][]string{nil, nil, {Site, Lang, Year}}[random.IntN(3)]
			q.All = random.IntN(4) == 0
			want := find(t, one, q)
			for _, leaves := range []int{1, 2, 7} {
				ix, asked := amongLeaves(one, leaves, nil)
				if diff := cmp.Diff(want, find(t, ix, q)); diff != "" {
					t.Fatalf("%d leaves, %+v (-one process +leaves)\n%s", leaves, q, diff)
				}
				if asked.Load() == 0 {
					t.Fatalf("%+v: no leaf was asked", q)
				}
			}
		}
	}
}

// TestLongQueriesByLeaves searches long queries, for which similar documents count (see support).
func TestLongQueriesByLeaves(t *testing.T) {
	z := newZipf(5)
	docs := z.documents(racetest.Rounds(400, 60))
	one := keyed(t, nil, docs[:20], docs[20:50], docs[50:])
	for range racetest.Rounds(30, 5) {
		q := Query{Text: strings.ReplaceAll(z.text(6+z.random.IntN(10), nil), ". ", " "), Size: 10, Fold: true, Spread: true}
		ix, _ := amongLeaves(one, 2, nil)
		if diff := cmp.Diff(find(t, one, q), find(t, ix, q)); diff != "" {
			t.Fatalf("%+v (-one process +leaves)\n%s", q, diff)
		}
	}
}

// TestSentExpansions searches a prefix of many words: leaves must be sent only those that are searched.
func TestSentExpansions(t *testing.T) {
	one := keyed(t, nil, []segment.Document{page("http://a/1", strings.Join(append(wordsFrom("ka", 0), wordsFrom("kab", 0)...), " "))})
	sent := 0
	ix, _ := amongLeaves(one, 1, func(_ int, a *Asked) error {
		if a.Expanded != nil {
			sent = max(sent, len(a.Expanded[0]))
		}
		return nil
	})
	if found := find(t, ix, Query{Text: "ka*", Size: 10}); found.Total != 1 || sent != MaxExpansions {
		t.Errorf("%d words are sent, %d pages found", sent, found.Total)
	}
}

// TestIdleLeaves searches for what only one of several leaves has. Only that one may be asked for the best documents,
// and if there is none, the result is empty and not partial.
func TestIdleLeaves(t *testing.T) {
	docs := []segment.Document{page("http://a.com/1", "fox and hound"), page("http://b.org/1", "fox und wolf"), page("http://c.net/1", "fox and dog")}
	docs[0].Site, docs[1].Site, docs[2].Site, docs[1].Lang = "a.com", "b.org", "c.net", "de"
	one := keyed(t, nil, docs[:1], docs[1:2], docs[2:])
	for text, want := range map[string]int64{
		"fox": 3, "fox site:b.org": 1, "lang:de": 1, "fox lang:de": 1, "dog": 1, "d*": 1, "fox -site:c.net": 2, "dog site:b.org": 0, "fox site:d.org": 0, "-fox site:c.net": 1, "cat": 0,
	} {
		var best atomic.Int64
		ix, _ := amongLeaves(one, 3, func(_ int, a *Asked) error {
			if a.Totals != nil {
				best.Add(1)
			}
			return nil
		})
		if diff := cmp.Diff(find(t, one, Query{Text: text, Size: 10}), find(t, ix, Query{Text: text, Size: 10})); diff != "" {
			t.Errorf("%s (-one process +leaves)\n%s", text, diff)
		}
		if best.Load() != want {
			t.Errorf("%s: %d leaves were asked for the best documents, want %d", text, best.Load(), want)
		}
	}
	ix, _ := amongLeaves(one, 3, func(_ int, a *Asked) error {
		if a.Totals != nil {
			return context.DeadlineExceeded
		}
		return nil
	})
	if found := find(t, ix, Query{Text: "dog", Size: 10}); !found.Partial || len(found.Hits) > 0 {
		t.Errorf("the only leaf with a page fails: %+v", found)
	}
}

// TestLostLeaves lets a leaf fail at each step of a query. The answer must have the pages of the other leaf, say that
// it is partial, and say why.
func TestLostLeaves(t *testing.T) {
	var groups [][]segment.Document
	for i := range 6 {
		groups = append(groups, []segment.Document{page(fmt.Sprintf("http://a/%d", i), "fox and foxes")})
	}
	one := keyed(t, nil, groups...)
	steps := map[string]func(a *Asked) bool{
		"expansions": func(a *Asked) bool { return a.Expanded == nil },
		"totals":     func(a *Asked) bool { return a.Expanded != nil && a.Totals == nil },
		"best":       func(a *Asked) bool { return a.Totals != nil },
	}
	for name, is := range steps {
		ix, _ := amongLeaves(one, 2, func(leaf int, a *Asked) error {
			if leaf == 1 && is(a) {
				return context.DeadlineExceeded
			}
			return nil
		})
		result := find(t, ix, Query{Text: "fox*", Size: 10})
		const note = "1 of the 2 servers that search parts of the index did not answer: their pages are missing."
		if n := len(result.Hits); n == 0 || n == 6 || result.Total != n || !result.Partial || result.Exact || !slices.Contains(result.Notes, note) {
			t.Errorf("%s: %d hits of %d, partial %v, notes %q", name, n, result.Total, result.Partial, result.Notes)
		}
		ix, _ = amongLeaves(one, 2, func(_ int, a *Asked) error {
			if is(a) {
				return context.DeadlineExceeded
			}
			return nil
		})
		if _, err := ix.Search(t.Context(), Query{Text: "fox*", Size: 10}); !errors.Is(err, ErrNoLeaf) {
			t.Errorf("%s: no leaf answers: %v", name, err)
		}
	}
	ix, _ := amongLeaves(one, 2, func(leaf int, _ *Asked) error {
		if leaf == 0 {
			return &Unreadable{"segment 3", errors.New("absent")}
		}
		return nil
	})
	var unreadable *Unreadable
	if _, err := ix.Search(t.Context(), Query{Text: "fox", Size: 10}); !errors.As(err, &unreadable) || unreadable.Segment != "segment 3" {
		t.Errorf("a leaf does not know a segment: %v", err)
	}
}

// hanging is a leaf that never answers.
type hanging struct{}

func (hanging) Name() string { return "hanging" }

func (hanging) Ask(ctx context.Context, _ *Asked) (*Answer, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestHangingLeaf searches a prefix by a leaf that answers and by one that hangs. The time of the first step must leave
// time for the others.
func TestHangingLeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var groups [][]segment.Document
		for i := range 6 {
			groups = append(groups, []segment.Document{page(fmt.Sprintf("http://a/%d", i), "fox and foxes")})
		}
		one := keyed(t, nil, groups...)
		ix := one.WithLeaves([]Leaf{testLeaf{name: "leaf", parts: one.parts, asked: new(atomic.Int64)}, hanging{}})
		result := find(t, ix, Query{Text: "fox*", Size: 10, Deadline: time.Now().Add(2 * time.Second)})
		if n := len(result.Hits); n == 0 || n == 6 || !result.Partial || !slices.Contains(result.Notes, "1 of the 2 servers that search parts of the index did not answer: their pages are missing.") {
			t.Errorf("%d hits, partial %v, notes %q", n, result.Partial, result.Notes)
		}
	})
}

// TestPatience asks leaves by queries that have more or less time than a leaf may take, or no deadline.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := keyed(t, nil, []segment.Document{page("http://a/1", "fox")})
		ix, _ := amongLeaves(one, 1, func(_ int, a *Asked) error {
			return fmt.Errorf("%w: %v", errAsked, a.Patience)
		})
		for most, want := range map[time.Duration]string{time.Minute: ": 5s", 2 * time.Second: ": 1."} {
			ctx, cancel := context.WithTimeout(t.Context(), most)
			defer cancel()
			if _, err := ix.Search(ctx, Query{Text: "fox", Size: 10}); !errors.Is(err, errAsked) || !strings.Contains(err.Error(), want) {
				t.Errorf("with %v: %v", most, err)
			}
		}
		if _, err := ix.Search(t.Context(), Query{Text: "fox", Size: 10}); !strings.Contains(err.Error(), ": 5s") {
			t.Errorf("without a deadline: %v", err)
		}
	})
}

var errAsked = errors.New("asked")

// TestDeadForRoot searches by a leaf that does not know yet that a page is deleted: it must not be found.
func TestDeadForRoot(t *testing.T) {
	docs := []segment.Document{page("http://a/1", "fox"), page("http://a/2", "fox")}
	leaf := testLeaf{name: "leaf", parts: keyed(t, nil, docs).parts, asked: new(atomic.Int64)}
	root := keyed(t, map[layout.Identity]bool{docs[0].ID: true}, docs).WithLeaves([]Leaf{leaf})
	if found := find(t, root, Query{Text: "fox", Size: 10}); len(found.Hits) != 1 || found.Hits[0].URL != "http://a/2" {
		t.Errorf("found %+v", found.Hits)
	}
}

// TestTiedInLeaves lists more pages than leaves send. Root and leaves must have the same first pages, and the root must
// not be sent all.
func TestTiedInLeaves(t *testing.T) {
	const pages = 2*mostTied + 3000
	groups := make([][]segment.Document, 4)
	for i := range pages {
		groups[i%4] = append(groups[i%4], page(fmt.Sprintf("http://a/%d", i), "fox"))
	}
	one := keyed(t, nil, groups...)
	sent := 0
	leaf := answering{testLeaf{name: "leaf 0", parts: one.parts, asked: new(atomic.Int64)}, &sent}
	for _, q := range []Query{{Text: "lang:en", Size: 10}, {Text: "fox", From: 20, Size: 10}, {Text: "fox", From: 20, Size: 10, Fold: true}} {
		sent = 0
		if diff := cmp.Diff(find(t, one, q), find(t, one.WithLeaves([]Leaf{leaf}), q)); diff != "" || sent <= mostTied || sent > mostTied+1000 {
			t.Errorf("%q: %d candidates were sent (-one process +leaves)\n%s", q.Text, sent, diff)
		}
	}
}

// answering is a leaf that counts the candidates that it sends.
type answering struct {
	testLeaf
	sent *int
}

func (l answering) Ask(ctx context.Context, a *Asked) (*Answer, error) {
	answer, err := l.testLeaf.Ask(ctx, a)
	if err == nil {
		*l.sent += len(answer.Best)
	}
	return answer, err
}

// TestOtherPlan asks a leaf that knows other synonyms: its totals would be of other terms.
func TestOtherPlan(t *testing.T) {
	one := keyed(t, nil, []segment.Document{page("http://a/1", "fox")}, []segment.Document{page("http://a/2", "fox")})
	ix, _ := amongLeaves(one, 1, nil)
	q := Query{Text: "fox", Size: 10, Synonyms: NewSynonyms([]SynonymSet{{Words: []string{"fox", "vixen"}}})}
	if _, err := ix.Search(t.Context(), q); !errors.Is(err, errOtherPlan) {
		t.Errorf("got %v", err)
	}
}

// TestDivision checks that segments are divided evenly, that the division does not depend on the order of parts and
// leaves, and that a further leaf takes segments from others without moving any between them.
func TestDivision(t *testing.T) {
	var groups [][]segment.Document
	for i := range 40 {
		groups = append(groups, make([]segment.Document, 1+i%3))
		for n := range groups[i] {
			groups[i][n] = page(fmt.Sprintf("http://a/%d/%d", i, n), "fox")
		}
	}
	one := keyed(t, nil, groups...)
	leaves := func(names ...string) (all []Leaf) {
		for _, name := range names {
			all = append(all, testLeaf{name: name})
		}
		return all
	}
	of := func(parts []Part, all []Leaf) map[string]string {
		leafOf := make(map[string]string)
		for _, s := range divideAmong(parts, all) {
			documents := 0
			for _, part := range s.parts {
				leafOf[parts[part].Segment.Ref().Key] = s.leaf.Name()
				documents += parts[part].Segment.Documents()
			}
			if most := 79 / len(all) * 5 / 4; documents > most {
				t.Errorf("%s of %d has %d documents, more than %d", s.leaf.Name(), len(all), documents, most)
			}
		}
		return leafOf
	}
	want := of(one.parts, leaves("a", "b", "c"))
	reversed := slices.Clone(one.parts)
	slices.Reverse(reversed)
	if diff := cmp.Diff(want, of(reversed, leaves("c", "a", "b"))); diff != "" {
		t.Errorf("in another order (-first +other)\n%s", diff)
	}
	moved := 0
	for key, leaf := range of(one.parts, leaves("a", "b", "c", "d")) {
		if leaf != want[key] && leaf != "d" {
			moved++
		}
	}
	if moved > 8 {
		t.Errorf("%d of 40 segments moved between leaves that were there before", moved)
	}
}
