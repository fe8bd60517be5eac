package pack

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestBestWay lets several links lead to one page. The page's entry for the frontier must have the
// smallest depth of these links, and the weight of the link by which the page would be requested
// first. The order of the links must not matter.
func TestBestWay(t *testing.T) {
	w := embedded(t)
	link := func(depth uint16, hops, weight uint8, kind book.Kind) book.Link {
		l := functionstest.Link(t, site, site+"page", depth)
		l.Hops, l.Weight, l.Kind = hops, weight, kind
		return l
	}
	page, err := address.Parse(site + "page")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		links []book.Link
		want  frontier.Entry
	}{
		"the shortest":              {[]book.Link{link(3, 0, 0, book.Anchor), link(2, 1, 0, book.Redirect), link(2, 0, 0, book.Anchor)}, frontier.Entry{Depth: 2}},
		"the strongest":             {[]book.Link{link(1, 0, 20, book.Anchor), link(4, 0, 200, book.Anchor), link(1, 0, 30, book.Anchor)}, frontier.Entry{Depth: 1, Weight: 200}},
		"depth overtakes weight":    {[]book.Link{link(2, 0, 40, book.Listed), link(3, 0, 0, book.Anchor)}, frontier.Entry{Depth: 2}},
		"weight overtakes depth":    {[]book.Link{link(9, 0, 200, book.Listed), link(5, 0, 0, book.Anchor)}, frontier.Entry{Depth: 5, Weight: 200}},
		"the stronger of equals":    {[]book.Link{link(5, 0, 0, book.Anchor), link(5, 0, 170, book.Anchor)}, frontier.Entry{Depth: 5, Weight: 170}},
		"bands of the ways alone":   {[]book.Link{link(1, 0, 16, book.Anchor), link(5, 0, 0, book.Anchor), link(9, 0, 200, book.Anchor)}, frontier.Entry{Depth: 1, Weight: 200}},
		"no page's depth for one":   {[]book.Link{link(0, 0, 0, book.Anchor), link(1, 3, 0, book.Sitemap)}, frontier.Entry{Depth: 1, Hops: 3, Sitemap: true}},
		"a sitemap if any says so":  {[]book.Link{link(1, 0, 0, book.Sitemap), link(0, 0, 0, book.Redirect)}, frontier.Entry{Depth: 1, Sitemap: true}},
		"an image does not count":   {[]book.Link{link(3, 0, 0, book.Anchor), link(0, 0, 255, book.Asset)}, frontier.Entry{Depth: 3}},
		"what is refused does not":  {[]book.Link{link(3, 0, 0, book.Anchor), link(0, 200, 255, book.Redirect)}, frontier.Entry{Depth: 3}},
		"a canonical page is a way": {[]book.Link{link(3, 1, 9, book.Canonical)}, frontier.Entry{Depth: 3, Hops: 1, Weight: 9}},
	} {
		test.want.URL, test.want.ID, test.want.Host, test.want.Collection = page.URL, page.ID, page.Host, functionstest.Collection
		for range 2 {
			got, err := decide(w.inForce, test.links, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[int][]frontier.Entry{0: {test.want}}, got.admitted); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			slices.Reverse(test.links)
		}
	}
}

// TestTrackedLinks has links to one page by addresses with different session and tracking
// parameters. The page must be requested once, and have the same address in the frontier and in the
// book.
func TestTrackedLinks(t *testing.T) {
	w := embedded(t)
	l := w.stored(1)
	const page = site + "page"
	for _, query := range []string{"?utm_source=a", "?utm_source=b&gclid=1", ";jsessionid=8F3A2B1C9D4E5F60", "?PHPSESSID=1c9d4e5f608f3a2b", ""} {
		l.Links = append(l.Links, functionstest.Link(t, site+"1", page+query, 1))
	}
	redirect := functionstest.Link(t, site+"1", page+"?fbclid=2", 1)
	redirect.Kind = book.Redirect
	session := functionstest.Link(t, site+"1", site+"1?PHPSESSID=1c9d4e5f608f3a2b", 1)
	session.Kind = book.Redirect // a redirect to the page itself
	l.Links = append(l.Links, redirect, session)
	w.spool(l)
	w.settle(1)
	lease, leased := w.lease()
	var addresses []string
	for _, e := range lease.Entries {
		addresses = append(addresses, e.URL)
	}
	want := []string{page, session.Target}
	if diff := cmp.Diff(want, addresses, cmpopts.SortSlices(strings.Compare)); !leased || diff != "" {
		t.Errorf("to be asked (-want +got):\n%s", diff)
	}
	w.gather(true)
	b := w.book()
	var targets []string
	for _, l := range b.Links {
		at, err := address.Parse(l.Target)
		if err != nil || l.Place != at.Place || l.Decision != "" {
			t.Errorf("link %+v, %v", l, err)
		}
		targets = append(targets, l.Target)
	}
	if diff := cmp.Diff([]string{page, page, page, page, page, page, session.Target}, targets, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Errorf("targets in the book (-want +got):\n%s", diff)
	}
}

// TestTrackedLinkToWhatIsForgotten has a link to an address that is a forgotten page's address with
// a tracking parameter added. The link leads to the forgotten page, so it must not get into the
// book.
func TestTrackedLinkToWhatIsForgotten(t *testing.T) {
	w := embedded(t)
	page, err := address.Parse(site + "page")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := takedown.Forget(t.Context(), w.store, takedown.URL(page, w.clock.Now())); err != nil {
		t.Fatal(err)
	}
	w.Settings.Age = 0
	inForce, err := w.Settings.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := frontier.New(w.Redis, 0).Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	functionstest.Open(t, w.Redis, inForce, 2)
	l := w.stored(1)
	l.Links = []book.Link{functionstest.Link(t, site+"1", site+"page?utm_source=a", 1), functionstest.Link(t, site+"1", site+"other", 1)}
	w.spool(l)
	w.settle(1)
	w.gather(true)
	if links := w.book().Links; len(links) != 1 || links[0].Target != site+"other" {
		t.Errorf("links in the book: %+v", links)
	}
}
