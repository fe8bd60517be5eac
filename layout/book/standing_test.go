package book

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/layout"
)

// TestStandings checks that Standings, which reads several books, finds the right state of each
// URL: the same as if all outcomes of the URL are given to Standing.Add one by one.
func TestStandings(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		want, got := make(map[string]Standing), make(map[string]Standing)
		var books []*Reader
		for range 1 + rng.IntN(4) {
			b := scraps(rng)
			content, err := Encode(b)
			if err != nil {
				t.Fatal(err)
			}
			books = append(books, open(t, content))
			for _, o := range b.Outcomes {
				s := want[o.URL]
				s.Add(&o)
				want[o.URL] = s
			}
		}
		for s, err := range Standings(t.Context(), books) {
			if err != nil {
				t.Fatal(err)
			}
			if len(s.outcomes()) == 0 {
				t.Fatal("a standing of nothing")
			}
			url := s.outcomes()[0].URL
			if _, twice := got[url]; twice {
				t.Errorf("%s comes twice", url)
			}
			got[url] = copyOf(s)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Standing{}), cmpopts.IgnoreFields(Standing{}, "Books")); diff != "" {
			t.Fatalf("standings (-want +got):\n%s", diff)
		}
	}
}

// copyOf returns a copy of a Standing. The copy stays valid when Standings yields the next one.
func copyOf(s Standing) Standing {
	for _, part := range []**Outcome{&s.Final, &s.Page, &s.Asked} {
		if *part != nil {
			o := **part
			*part = &o
		}
	}
	return s
}

func TestStandsAndGone(t *testing.T) {
	for states, want := range map[string]string{
		"s": "stands", "su": "stands", "sf": "gone", "sk": "gone", "sfs": "stands", "suf": "gone",
		"f": "", "k": "", "u": "", "sl": "", "slf": "gone", "sr": "stands", "r": "", "sfr": "gone", "sfu": "gone", "sfsu": "stands",
	} {
		var s Standing
		for i, state := range states {
			o := Outcome{State: State(state)}
			o.Version.Token = uint64(i)
			s.Add(&o)
		}
		got := ""
		switch {
		case s.Stands() && s.Gone():
			got = "both"
		case s.Stands():
			got = "stands"
		case s.Gone():
			got = "gone"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", states, got, want)
		}
	}
}

// TestBooksOfALink makes several books, each with an outcome of the same page; some also have links
// of the page. The book with the latest Stored or Failed outcome has the page's present links, and
// Standing.Books must name it. The page's links that only other books have are old: a merge of the
// books must make them Former.
func TestBooksOfALink(t *testing.T) {
	told := func(token uint64, state State, links ...string) Book {
		b := Book{Outcomes: []Outcome{{Version: layout.Version{Epoch: 1, Token: token}, URL: "http://a.example/", State: state}}}
		b.Outcomes[0].Place, _ = placeIn(1, "http://a.example/")
		for _, target := range links {
			place, _ := placeIn(1, target)
			b.Links = append(b.Links, Link{Source: layout.IdentityOf("http://a.example/"), Target: target, Place: place, Kind: Anchor, Region: Text})
		}
		return b
	}
	const kept, dropped = "http://a.example/kept", "http://a.example/dropped"
	for name, test := range map[string]struct {
		books []Book
		in    []int
		want  string // targets of the links that become Former
	}{
		"one version":         {[]Book{told(1, Stored, kept, dropped)}, []int{0}, ""},
		"two versions":        {[]Book{told(1, Stored, kept, dropped), told(2, Stored, kept)}, []int{1}, dropped},
		"in any order":        {[]Book{told(2, Stored, kept), told(1, Stored, kept, dropped)}, []int{0}, dropped},
		"not changed":         {[]Book{told(1, Stored, kept, dropped), told(2, Unchanged)}, []int{0}, ""},
		"not had":             {[]Book{told(1, Stored, dropped), told(2, Retry)}, []int{0}, ""},
		"gone":                {[]Book{told(1, Stored, dropped), told(2, Failed)}, []int{1}, dropped},
		"the same book twice": {[]Book{told(1, Stored, kept), told(1, Stored, kept)}, []int{0, 1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var contents [][]byte
			var readers []*Reader
			for _, b := range test.books {
				contents = append(contents, mustEncode(t, b))
				readers = append(readers, open(t, contents[len(contents)-1]))
			}
			for s, err := range Standings(t.Context(), readers) {
				if slices.Sort(s.Books); err != nil || !slices.Equal(s.Books, test.in) {
					t.Errorf("in the books %v, %v, want %v", s.Books, err, test.in)
				}
			}
			former := ""
			for l, err := range open(t, merged(t, contents...)).Links(t.Context(), wholeSpace) {
				if err != nil {
					t.Fatal(err)
				}
				if l.Former {
					former += l.Target
				}
			}
			if former != test.want {
				t.Errorf("former links to %q, want %q", former, test.want)
			}
		})
	}
}
