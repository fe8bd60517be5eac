package segments

import (
	"fmt"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestForgotten finds the documents of a segment that takedowns of URLs and of sites forget.
func TestForgotten(t *testing.T) {
	var pages []*Page
	for i, site := range []string{"a.example", "b.example", "a.example", "c.example"} {
		url := fmt.Sprintf("https://%s/%d", site, i)
		pages = append(pages, &Page{Document: segment.Document{ID: layout.IdentityOf(url), URL: url, Site: site}})
	}
	content, err := Build(pages)
	if err != nil {
		t.Fatal(err)
	}
	s, err := segment.OpenBytes(content)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1, 0)
	url := func(of string) takedown.Entry {
		a, err := address.Parse(of)
		if err != nil {
			t.Fatal(err)
		}
		return takedown.URL(a, now)
	}
	for name, c := range map[string]struct {
		entries []takedown.Entry
		want    []uint32
	}{
		"nothing":      {nil, nil},
		"a URL":        {[]takedown.Entry{url("https://a.example/2")}, []uint32{2}},
		"other URLs":   {[]takedown.Entry{url("https://a.example/1"), url("https://d.example/")}, nil},
		"a site":       {[]takedown.Entry{takedown.Site("a.example", now)}, []uint32{0, 2}},
		"site and URL": {[]takedown.Entry{takedown.Site("c.example", now), url("https://b.example/1")}, []uint32{1, 3}},
	} {
		bucket := memblob.New()
		if len(c.entries) > 0 {
			if _, err := takedown.Forget(t.Context(), bucket, c.entries...); err != nil {
				t.Fatal(err)
			}
		}
		set, err := takedown.Load(t.Context(), bucket)
		if err != nil {
			t.Fatal(err)
		}
		found, err := Forgotten(t.Context(), s, set)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(roaring.BitmapOf(c.want...).ToArray(), found.ToArray()); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}
