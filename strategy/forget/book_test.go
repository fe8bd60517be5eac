package forget_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/forget"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestErase erases a page and a site from books, with entries of takedowns that have the place of the page, and with
// those of earlier programs, which have not.
func TestErase(t *testing.T) {
	url := func(url string) address.Address {
		a, err := address.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	entry := takedown.URL(url(gone), at)
	earlier := entry
	earlier.Place = nil
	redirect := kept + "redirect"
	var b book.Book
	for from, details := range map[string]string{kept: "", gone: "", page: "", redirect: "to " + page} {
		b.Outcomes = append(b.Outcomes, book.Outcome{
			URL: from, Place: url(from).Place, State: book.Skipped, Detail: details, Version: layout.Version{Token: 1}, Time: at,
		})
		for _, to := range []string{kept, gone, page, page + "2"} {
			b.Links = append(b.Links, book.Link{Source: layout.IdentityOf(from), Target: to, Place: url(to).Place, Kind: book.Anchor, Region: book.Text})
		}
	}
	for _, e := range []takedown.Entry{entry, earlier} {
		bucket := memblob.New()
		if _, err := takedown.Forget(t.Context(), bucket, e, takedown.Site("site.example", at)); err != nil {
			t.Fatal(err)
		}
		set, err := takedown.Load(t.Context(), bucket)
		if err != nil {
			t.Fatal(err)
		}
		erased, err := forget.Erase(t.Context(), opened(t, b), set, false)
		if err != nil || erased == nil {
			t.Fatalf("%v, %v", erased, err)
		}
		left, err := book.Decode(erased.Content)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range left.Outcomes {
			got = append(got, o.URL+" "+o.Detail)
		}
		for _, l := range left.Links {
			got = append(got, l.Source.String()+" "+l.Target)
		}
		slices.Sort(got)
		want := []string{kept + " ", redirect + " ", layout.IdentityOf(kept).String() + " " + kept, layout.IdentityOf(redirect).String() + " " + kept}
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("left (-want +got):\n%s", diff)
		}
		if again, err := forget.Erase(t.Context(), opened(t, left), set, false); again != nil || err != nil {
			t.Errorf("a book without any of it: %v, %v", again, err)
		}
	}
}

func opened(t *testing.T, b book.Book) *book.Reader {
	t.Helper()
	content, err := book.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	r, err := book.Memory("book", content)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
