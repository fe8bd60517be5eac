package forget_test

import (
	"strings"
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

const (
	kept = "http://kept.example/"
	gone = "http://kept.example/gone"
	page = "http://www.site.example/page" // a page of a forgotten site
)

func filter(t *testing.T) *forget.Filter {
	t.Helper()
	bucket, at := memblob.New(), time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	a, err := address.Parse(gone)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := takedown.Forget(t.Context(), bucket, takedown.URL(a, at), takedown.Site("site.example", at)); err != nil {
		t.Fatal(err)
	}
	set, err := takedown.Load(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	return forget.New(set)
}

func TestOutcomes(t *testing.T) {
	f := filter(t)
	long := "to " + kept + strings.Repeat("x", book.MaxDetail)
	for _, test := range []struct {
		url, detail string
		keeps       bool
		want        string
	}{
		{kept, "", true, ""},
		{kept, "to " + kept, true, "to " + kept},
		{kept, "to " + gone, true, ""},
		{kept, "to " + page, true, ""},
		{kept, "to " + page + "x", true, ""},
		{kept, long[:book.MaxDetail], true, ""},              // the address is cut off, and may be forgotten
		{kept, "timeout: " + gone, true, "timeout: " + gone}, // not the detail of a redirect
		{gone, "", false, ""},
		{page, "", false, ""},
	} {
		o := book.Outcome{URL: test.url, Detail: test.detail}
		asItIs := f.See(o)
		if got := f.Outcome(&o); got != test.keeps || got && o.Detail != test.want {
			t.Errorf("%s %q: kept %v with %q", test.url, test.detail, got, o.Detail)
		}
		if asItIs != (test.keeps && test.detail == test.want) {
			t.Errorf("%s %q: to be kept as it is: %v", test.url, test.detail, asItIs)
		}
	}
}

func TestLinks(t *testing.T) {
	f := filter(t)
	for _, url := range []string{kept, page} {
		f.See(book.Outcome{URL: url})
	}
	var got []string
	for _, from := range []string{kept, gone, page} {
		for _, to := range []string{kept, gone, page, kept + "other"} {
			if f.Link(&book.Link{Source: layout.IdentityOf(from), Target: to}) {
				got = append(got, from+" "+to)
			}
		}
	}
	if diff := cmp.Diff([]string{kept + " " + kept, kept + " " + kept + "other"}, got); diff != "" {
		t.Errorf("links kept (-want +got):\n%s", diff)
	}
}
