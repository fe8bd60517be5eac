package book

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// scraps generates a book with few URLs, versions and words, so that several such books
// have much in common.
func scraps(rng *rand.Rand) Book {
	url := func() (string, layout.Place) {
		n := rng.IntN(8)
		url := fmt.Sprintf("http://%c.example/%d", 'a'+n%3, n)
		place, _ := placeIn(uint32(n%3)<<20, url)
		return url, place
	}
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	var b Book
	for range rng.IntN(20) {
		o := Outcome{
			Version: layout.Version{Epoch: 1, Token: uint64(rng.IntN(5))}, State: State(pick("s", "u", "k", "f", "r", "n", "l")[0]),
			Reason: pick("", "timeout"), Attempts: uint8(rng.IntN(3)), Time: epoch,
			Weight: uint8(rng.IntN(2)), ETag: pick("", "e"), Modified: pick("", "m"), Digest: rng.Uint64N(2), Body: rng.Uint64N(2),
		}
		o.URL, o.Place = url()
		b.Outcomes = append(b.Outcomes, o)
	}
	for range rng.IntN(60) {
		l := Link{Kind: Kind(pick("a", "i")[0]), Region: Text, Anchor: pick("", "here", "there"), Depth: uint16(rng.IntN(2)), Weight: uint8(rng.IntN(2)), Modified: []time.Time{{}, epoch}[rng.IntN(2)], Collection: pick("docs", "news")}
		l.Target, l.Place = url()
		source, _ := url()
		l.Source = layout.IdentityOf(source)
		b.Links = append(b.Links, l)
	}
	return b
}

func open(t testing.TB, content []byte) *Reader {
	t.Helper()
	r, err := newReader("book", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// merged returns the result of Merge for encoded books.
func merged(t testing.TB, books ...[]byte) []byte {
	t.Helper()
	var readers []*Reader
	for _, b := range books {
		readers = append(readers, open(t, b))
	}
	content, outcomes, links, err := Merge(t.Context(), readers)
	if err != nil {
		t.Fatal(err)
	}
	if wantOutcomes, wantLinks := open(t, content).Counts(); outcomes != wantOutcomes || links != wantLinks {
		t.Fatalf("%d outcomes and %d links are said to be %d and %d", wantOutcomes, wantLinks, outcomes, links)
	}
	return content
}

// union returns the result that Merge must have, computed in a simple way that takes a lot
// of memory.
func union(books ...Book) Book {
	var all Book
	standing := make(map[string]*Standing)
	for _, b := range books {
		for _, o := range b.Outcomes {
			if standing[o.URL] == nil {
				standing[o.URL] = new(Standing)
			}
			standing[o.URL].Add(&o)
		}
	}
	latest := make(map[layout.Identity]Outcome) // latest outcome that is Stored, Lost, Failed or Skipped
	for _, s := range standing {
		all.Outcomes = append(all.Outcomes, s.outcomes()...)
		if o := highest(s.Page, s.gone); o != nil {
			latest[o.Identity()] = *o
		}
	}
	present := make(map[Link]bool)
	for _, b := range books {
		for _, l := range b.Links {
			last, known := latest[l.Source]
			l.Former = l.Former || known && !slices.ContainsFunc(b.Outcomes, func(o Outcome) bool { return o.Compare(last) == 0 })
			present[l] = true
		}
	}
	for l := range present {
		now := l
		now.Former = false
		if !l.Former || !present[now] {
			all.Links = append(all.Links, l)
		}
	}
	return normal(all)
}

func TestMerge(t *testing.T) {
	for seed := range uint64(15) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var books []Book
		var contents [][]byte
		for range rng.IntN(5) {
			books = append(books, scraps(rng))
			contents = append(contents, mustEncode(t, books[len(books)-1]))
		}
		all := merged(t, contents...)
		if !slices.Equal(all, mustEncode(t, union(books...))) {
			got, err := Decode(all)
			t.Fatalf("seed %d: %v (-want +got)\n%s", seed, err, difference(union(books...), got))
		}
		rng.Shuffle(len(contents), func(i, j int) { contents[i], contents[j] = contents[j], contents[i] })
		if !slices.Equal(all, merged(t, contents...)) {
			t.Fatalf("seed %d: another order gives other bytes", seed)
		}
		if !slices.Equal(all, merged(t, all, all)) {
			t.Fatalf("seed %d: merging once more changes something", seed)
		}
		some := rng.IntN(len(contents) + 1)
		if !slices.Equal(all, merged(t, merged(t, contents[:some]...), merged(t, contents[some:]...))) {
			t.Fatalf("seed %d: merging some first gives other bytes", seed)
		}
	}
}

func TestMergeOfManyBlocks(t *testing.T) {
	var books []Book
	var contents [][]byte
	for seed := range uint64(3) {
		books = append(books, site(seed%2, 60))
		contents = append(contents, mustEncode(t, books[seed]))
	}
	if !slices.Equal(merged(t, contents...), mustEncode(t, union(books...))) {
		t.Error("not the union")
	}
}

func TestStanding(t *testing.T) {
	for outcomes, want := range map[string]string{ // states in the order of their versions
		"":      "",
		"s":     "s",
		"sfs":   "  s",
		"su":    "su",
		"ssu":   " su",
		"suu":   "s u",
		"sfu":   "sfu",
		"sfuu":  "sf u",
		"sfus":  "   s",
		"fsu":   " su",
		"sfru":  "sf u",
		"sk":    "sk",
		"fk":    " k",
		"sl":    " l",
		"sls":   "  s",
		"slu":   " lu",
		"rn":    " n",
		"rnf":   "  f",
		"frn":   "f n",
		"srfrn": "s f n",
	} {
		var all []*Outcome
		for i, s := range outcomes {
			all = append(all, &Outcome{Version: layout.Version{Token: uint64(i)}, State: State(s)})
		}
		for range 5 {
			rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			var s Standing
			for _, o := range all {
				s.Add(o)
			}
			got := []byte(strings.Repeat(" ", len(outcomes)))
			for _, o := range s.outcomes() {
				got[o.Version.Token] = byte(o.State)
			}
			if strings.TrimRight(want, " ") != strings.TrimRight(string(got), " ") {
				t.Errorf("of %q %q counts, want %q", outcomes, got, want)
			}
		}
	}
}

func TestOfOneVersionTheLeastCounts(t *testing.T) {
	a, b := &Outcome{State: Failed, Time: time.UnixMilli(1)}, &Outcome{State: Failed, Time: time.UnixMilli(2)}
	for _, order := range [][]*Outcome{{a, b}, {b, a}} {
		var s Standing
		for _, o := range order {
			s.Add(o)
		}
		if s.Final != a {
			t.Errorf("of %v %v counts", order, s.Final)
		}
	}
}

func TestMergeFails(t *testing.T) {
	content := mustEncode(t, example())
	damaged := slices.Clone(content)
	damaged[magicSize+5]++
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx  context.Context
		book *Reader
		want string
	}{
		"damage":   {t.Context(), open(t, damaged), ErrDamaged.Error()},
		"no store": {cancelled, mustOpen(t, stored(t, mustEncode(t, site(8, 300)))), context.Canceled.Error()},
	} {
		_, _, _, err := Merge(test.ctx, []*Reader{open(t, content), test.book})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
		if errors.Is(err, ErrDamaged) != (name == "damage") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
