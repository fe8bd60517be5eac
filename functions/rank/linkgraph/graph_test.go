package linkgraph

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/rank/pagerank"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

func version(token uint64) layout.Version { return layout.Version{Epoch: 1, Token: token} }

// stored returns a book with pages that are stored and their links. The text "a/1 > a/2 b/1" stands
// for the page http://a.example/1 with links to http://a.example/2 and http://b.example/1.
func stored(t testing.TB, token uint64, pages ...string) (b book.Book) {
	t.Helper()
	for _, page := range pages {
		from, links, _ := strings.Cut(page, " > ")
		b.Outcomes = append(b.Outcomes, functionstest.Outcome(t, version(token), url(from), book.Stored))
		for _, to := range strings.Fields(links) {
			b.Links = append(b.Links, functionstest.Link(t, url(from), url(to), 1))
		}
	}
	return b
}

// with returns the book b with one more request recorded: an outcome with the given URL, state and
// reason, and links of the given kind from this URL to others.
func with(t testing.TB, b book.Book, token uint64, from string, state book.State, reason string, kind book.Kind, links ...string) book.Book {
	t.Helper()
	o := functionstest.Outcome(t, version(token), url(from), state)
	o.Reason = reason
	b.Outcomes = append(b.Outcomes, o)
	for _, to := range links {
		l := functionstest.Link(t, url(from), url(to), 1)
		l.Kind = kind
		b.Links = append(b.Links, l)
	}
	return b
}

// url returns http://a.example/1 for a/1.
func url(short string) string {
	site, page, _ := strings.Cut(short, "/")
	return "http://" + site + ".example/" + page
}

func open(t testing.TB, books ...book.Book) (readers []*book.Reader) {
	t.Helper()
	bucket := memblob.New()
	for i, b := range books {
		content, err := book.Encode(b)
		if err != nil {
			t.Fatal(err)
		}
		key := layout.BookKey(0, fmt.Sprintf("%032x", i))
		functionstest.Put(t, bucket, key, content)
		r, err := book.Open(t.Context(), bucket, key)
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, r)
	}
	return readers
}

// votesOf returns the votes (links that count for ranks) in books, sorted and without duplicates. The
// text "a/1 > b/1" stands for a vote, and "a/1 >> b/1" for a vote that is part of a template, such
// as navigation. The parameter span is the least number of pages in one range of the hash space.
func votesOf(t testing.TB, span int, books ...*book.Reader) (all []string) {
	t.Helper()
	r := newReading(books, DefaultLimits(), span, t.TempDir())
	for _, step := range []func(context.Context) error{r.readPages, r.readSources, r.readVotes, r.resolve} {
		if err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	names := make(map[number]string)
	for s, err := range book.Standings(t.Context(), books) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Stands() {
			names[r.graph.known[s.Page.Identity()]] = strings.Replace(strings.TrimPrefix(s.Page.URL, "http://"), ".example", "", 1)
		}
	}
	for i := range r.votes {
		links, err := r.votesFor(i)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range links {
			sign := " > "
			if l.Template() {
				sign = " >> "
			}
			all = append(all, names[number(l.Source())]+sign+names[number(l.Target())])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestVotes(t *testing.T) {
	rel := func(b book.Book, rel string) book.Book {
		for i := range b.Links {
			b.Links[i].Rel = rel
		}
		return b
	}
	navigation := stored(t, 1, "a/1 > a/2", "a/2")
	navigation.Links[0].Region = book.Navigation
	frame := stored(t, 1, "a/1 > a/2", "a/2")
	frame.Links[0].Kind = book.Frame
	asset := stored(t, 1, "a/1 > a/2", "a/2")
	asset.Outcomes[1].Asset = true
	for name, test := range map[string]struct {
		books []book.Book
		want  []string
	}{
		"nothing":              {nil, nil},
		"pages":                {[]book.Book{stored(t, 1, "a/1 > a/2 b/1", "a/2 > a/1", "b/1")}, []string{"a/1 > a/2", "a/1 > b/1", "a/2 > a/1"}},
		"in other books":       {[]book.Book{stored(t, 1, "a/1 > a/2"), stored(t, 2, "a/2")}, []string{"a/1 > a/2"}},
		"to itself":            {[]book.Book{stored(t, 1, "a/1 > a/1")}, nil},
		"to what is not known": {[]book.Book{stored(t, 1, "a/1 > a/2")}, nil},
		"to what is gone":      {[]book.Book{stored(t, 1, "a/1 > a/2", "a/2"), with(t, book.Book{}, 2, "a/2", book.Failed, "status", book.Anchor)}, nil},
		"of what is gone":      {[]book.Book{stored(t, 1, "a/1 > a/2", "a/2"), with(t, book.Book{}, 2, "a/1", book.Failed, "status", book.Anchor)}, nil},
		"of the newest":        {[]book.Book{stored(t, 1, "a/1 > a/2 a/3", "a/2", "a/3"), stored(t, 2, "a/1 > a/3")}, []string{"a/1 > a/3"}},
		"of the newest first":  {[]book.Book{stored(t, 2, "a/1 > a/3"), stored(t, 1, "a/1 > a/2 a/3", "a/2", "a/3")}, []string{"a/1 > a/3"}},
		"of what stays valid":  {[]book.Book{stored(t, 1, "a/1 > a/2", "a/2"), with(t, book.Book{}, 2, "a/1", book.Unchanged, "", book.Anchor)}, []string{"a/1 > a/2"}},
		"nofollow":             {[]book.Book{rel(stored(t, 1, "a/1 > a/2", "a/2"), "external nofollow")}, nil},
		"ugc":                  {[]book.Book{rel(stored(t, 1, "a/1 > a/2", "a/2"), "ugc")}, nil},
		"sponsored":            {[]book.Book{rel(stored(t, 1, "a/1 > a/2", "a/2"), "sponsored")}, nil},
		"another rel":          {[]book.Book{rel(stored(t, 1, "a/1 > a/2", "a/2"), "noopener")}, []string{"a/1 > a/2"}},
		"in the navigation":    {[]book.Book{navigation}, []string{"a/1 >> a/2"}},
		"a frame":              {[]book.Book{frame}, nil},
		"to an asset":          {[]book.Book{asset}, nil},
		"to a redirect": {[]book.Book{with(t, stored(t, 1, "a/1 > b/1", "c/1"), 1, "b/1", book.Skipped, membership.Redirect, book.Redirect, "c/1")},
			[]string{"a/1 > c/1"}},
		"to two redirects": {[]book.Book{with(t, with(t, stored(t, 1, "a/1 > b/1", "c/1"), 1, "b/1", book.Skipped, membership.Redirect, book.Redirect, "b/2"),
			1, "b/2", book.Skipped, membership.Redirect, book.Redirect, "c/1")}, []string{"a/1 > c/1"}},
		"to a page with a canonical": {[]book.Book{with(t, stored(t, 1, "a/1 > a/2?x", "a/2"), 1, "a/2?x", book.Skipped, membership.Canonical, book.Canonical, "a/2")},
			[]string{"a/1 > a/2"}},
		"to a redirect back": {[]book.Book{with(t, stored(t, 1, "a/1 > b/1"), 1, "b/1", book.Skipped, membership.Redirect, book.Redirect, "a/1")}, nil},
		"to a circle": {[]book.Book{with(t, with(t, stored(t, 1, "a/1 > b/1"), 1, "b/1", book.Skipped, membership.Redirect, book.Redirect, "b/2"),
			1, "b/2", book.Skipped, membership.Redirect, book.Redirect, "b/1")}, nil},
		"to a redirect that changed": {[]book.Book{with(t, stored(t, 1, "a/1 > b/1", "c/1", "c/2"), 1, "b/1", book.Skipped, membership.Redirect, book.Redirect, "c/1"),
			with(t, book.Book{}, 2, "b/1", book.Skipped, membership.Redirect, book.Redirect, "c/2")}, []string{"a/1 > c/2"}},
		"to a page that says where it went": {[]book.Book{with(t, stored(t, 1, "a/1 > b/1", "b/1"), 2, "b/1", book.Unchanged, "", book.Canonical, "b/2")}, []string{"a/1 > b/1"}},
	} {
		t.Run(name, func(t *testing.T) {
			readers := open(t, test.books...)
			for span := range 3 {
				if diff := cmp.Diff(test.want, votesOf(t, span+1, readers...)); diff != "" {
					t.Errorf("in ranges of %d pages (-want +got):\n%s", span+1, diff)
				}
			}
			content, _, _, err := book.Merge(t.Context(), readers)
			if err != nil {
				t.Fatal(err)
			}
			decoded, err := book.Decode(content)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, votesOf(t, 1, open(t, decoded)...)); diff != "" {
				t.Errorf("of the merged book (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRank(t *testing.T) {
	g, err := Read(t.Context(), open(t, stored(t, 1, "a/1 > c/1", "b/1 > c/1", "c/1")), takedown.Set{}, DefaultLimits(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ranks, _, err := g.Rank(t.Context(), pagerank.DefaultRules())
	if err != nil || g.Pages() != 3 || g.Votes() != 2 {
		t.Fatalf("%d pages, %d votes, %v", g.Pages(), g.Votes(), err)
	}
	for short, want := range map[string]float64{"a/1": 20. / 94, "b/1": 20. / 94, "c/1": 54. / 94} {
		if i, found := g.Find(layout.IdentityOf(url(short))); !found || math.Abs(ranks[i]-want) > 1e-6 {
			t.Errorf("%s has %v, want %g", short, ranks, want)
		}
	}
	if _, found := g.Find(layout.IdentityOf("http://d.example/")); found {
		t.Error("an unknown page is found")
	}
}

func TestLimits(t *testing.T) {
	books := open(t, stored(t, 1, "a/1 > a/2 a/3", "a/2 > a/1", "a/3"))
	for _, test := range []struct {
		limits Limits
		fails  bool
	}{{Limits{3, 3}, false}, {Limits{2, 3}, true}, {Limits{3, 2}, true}} {
		if _, err := Read(t.Context(), books, takedown.Set{}, test.limits, t.TempDir()); (err != nil) != test.fails {
			t.Errorf("%+v: %v", test.limits, err)
		}
	}
	if _, err := Read(t.Context(), books, takedown.Set{}, DefaultLimits(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a directory that does not exist: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := Read(ended, books, takedown.Set{}, DefaultLimits(), t.TempDir()); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
