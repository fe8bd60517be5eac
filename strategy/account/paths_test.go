package account

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// admitted is what a test expects of a URL to which certain paths lead. Reason is "" if one of the
// paths is admitted.
type admitted struct {
	Reason  string
	Depth   uint16
	Hops    uint8
	Weight  uint8
	Sitemap bool
}

func path(kind book.Kind, depth uint16, hops, weight uint8) book.Link {
	l := link(page, depth, hops)
	l.Kind, l.Weight = kind, weight
	return l
}

// TestWays: several paths of links may lead to a URL, such as a short path, and a longer path whose
// links match the topic. The URL is admitted if any of its paths is admitted. It gets the smallest
// depth and the best weight of all its admitted paths.
func TestWays(t *testing.T) {
	topic := func(c *collection.Collection) { c.Topic = &collection.Topic{Words: []string{"a"}, Threshold: .3} }
	for name, test := range map[string]struct {
		change func(*collection.Collection)
		paths  []book.Link
		want   admitted
	}{
		"strong enough":                        {topic, []book.Link{path(book.Anchor, 1, 0, 77)}, admitted{"", 1, 0, 77, false}},
		"too weak":                             {topic, []book.Link{path(book.Anchor, 1, 0, 76)}, admitted{membership.OffTopic, 1, 0, 76, false}},
		"listed and too weak":                  {topic, []book.Link{path(book.Listed, 1, 0, 76)}, admitted{membership.OffTopic, 1, 0, 76, false}},
		"a redirect is never too weak":         {topic, []book.Link{path(book.Redirect, 1, 1, 1)}, admitted{"", 1, 1, 1, false}},
		"nor is a canonical address":           {topic, []book.Link{path(book.Canonical, 1, 1, 1)}, admitted{"", 1, 1, 1, false}},
		"short or strong":                      {topic, []book.Link{path(book.Anchor, 1, 0, 10), path(book.Anchor, 2, 0, 90)}, admitted{"", 2, 0, 90, false}},
		"short and weak, strong and deep":      {topic, []book.Link{path(book.Anchor, 1, 0, 10), path(book.Anchor, 3, 0, 90)}, admitted{membership.OffTopic, 1, 0, 10, false}},
		"the smallest depth, the first band":   {topic, []book.Link{path(book.Anchor, 1, 0, 90), path(book.Anchor, 2, 0, 200)}, admitted{"", 1, 0, 200, false}},
		"what is not admitted does not weigh":  {topic, []book.Link{path(book.Anchor, 1, 0, 90), path(book.Anchor, 3, 0, 250)}, admitted{"", 1, 0, 90, false}},
		"listed with little priority":          {nil, []book.Link{path(book.Listed, 1, 0, 40), path(book.Anchor, 2, 0, 0)}, admitted{"", 1, 0, 0, false}},
		"bands of the paths alone, as in pack": {nil, []book.Link{path(book.Listed, 0, 0, 16), path(book.Anchor, 2, 0, 0), path(book.Redirect, 2, 1, 230)}, admitted{"", 0, 0, 230, false}},
		"listed with much":                     {nil, []book.Link{path(book.Listed, 1, 0, 250), path(book.Anchor, 2, 0, 0)}, admitted{"", 1, 0, 250, false}},
		"without a topic weak is fine":         {nil, []book.Link{path(book.Listed, 1, 0, 1)}, admitted{"", 1, 0, 1, false}},
		"a sitemap":                            {nil, []book.Link{path(book.Sitemap, 1, 0, 0)}, admitted{"", 1, 0, 0, true}},
		"a sitemap of an index in an index":    {nil, []book.Link{path(book.Sitemap, 2, 0, 0)}, admitted{collection.TooDeep, 2, 0, 0, true}},
		"a sitemap that pages link to":         {nil, []book.Link{path(book.Anchor, 1, 0, 0), path(book.Sitemap, 1, 1, 0)}, admitted{"", 1, 1, 0, true}},
		"a page that is no sitemap":            {nil, []book.Link{path(book.Anchor, 1, 0, 0), path(book.Sitemap, 2, 0, 0)}, admitted{"", 1, 0, 0, false}},
	} {
		t.Run(name, func(t *testing.T) {
			s := publish(t, memblob.New(), test.change)
			var all []any
			for _, l := range test.paths {
				all = append(all, l, l)
			}
			for range 8 { // the order of adding does not matter
				u := fold(t, s, all)[page]
				got := admitted{u.Reason, u.Depth, u.Hops, u.Weight, u.Sitemap}
				if diff := cmp.Diff(test.want, got); diff != "" || u.Admitted != (u.Reason == "") || u.Collection != "docs" {
					t.Errorf("%+v (-want +got):\n%s", u, diff)
				}
				rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			}
		})
	}
}

func TestBeginnings(t *testing.T) {
	const sitemap = "http://elsewhere.example/map.xml"
	s := publish(t, memblob.New(), func(c *collection.Collection) {
		c.Sitemaps, c.Topic = []string{sitemap}, &collection.Topic{Words: []string{"a"}, Threshold: 1}
	})
	all := fold(t, s, nil)
	for url, want := range map[string]admitted{"http://docs.example/": {Weight: 255}, sitemap: {Sitemap: true}} {
		u := all[url]
		if diff := cmp.Diff(want, admitted{u.Reason, u.Depth, u.Hops, u.Weight, u.Sitemap}); diff != "" || u.State != Pending || !u.Discovered {
			t.Errorf("%s: %+v (-want +got):\n%s", url, u, diff)
		}
	}
	// While no settings have changed, a sitemap that was read is not requested again, nor is a
	// page to which a seed redirects.
	read := outcome(1, book.Skipped, 1)
	read.URL, read.Reason = sitemap, membership.Sitemap
	stored := outcome(1, book.Stored, 1)
	stored.Depth = 2
	all = fold(t, s, []any{read, stored, path(book.Anchor, 2, 0, 255), path(book.Redirect, 0, 1, 255)})
	if u := all[sitemap]; u.State != Skipped || u.Reason != membership.Sitemap || !u.Admitted || !u.Sitemap {
		t.Errorf("%+v", u)
	}
	if u := all[page]; u.State != Stored || !u.Admitted || u.Depth != 0 {
		t.Errorf("%+v", u)
	}
}

// An account keeps exactly those paths to a URL that no other path makes superfluous (see
// reach.covers), in whatever order they are added.
func TestWaysThatCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		paths := make([]reach, 1+rng.IntN(12))
		for i := range paths {
			paths[i] = reach{uint32(numbers + rng.IntN(2)), uint16(rng.IntN(4)), uint8(rng.IntN(14)), []uint8{0, 30, 90, 240}[rng.IntN(4)]}
		}
		want := make(map[reach]bool)
		for _, r := range paths {
			want[r] = true
			for _, other := range paths {
				if other != r && other.covers(r) {
					delete(want, r)
				}
			}
		}
		s := newShard(takedown.Set{}, new(atomic.Int64))
		var id [16]byte
		for _, r := range paths {
			s.reach(id, page, r)
		}
		got := map[reach]bool{s.urls[id].reach: true}
		for _, r := range s.more[id] {
			got[r] = true
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(reach{})); diff != "" || len(got) != 1+len(s.more[id]) {
			t.Fatalf("of %v (-want +got):\n%s", paths, diff)
		}
	}
}
