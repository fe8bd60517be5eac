package book

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What all books say of a URL counts once, as if one had told of it.
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
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Standing{})); diff != "" {
			t.Fatalf("standings (-want +got):\n%s", diff)
		}
	}
}

// copyOf outlives the next standing.
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
