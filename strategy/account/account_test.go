package account

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const page = "http://docs.example/page"

// publish publishes a collection that crawls docs.example two links deep from one seed, and returns
// the settings. The function change, unless it is nil, may edit the collection before that.
func publish(t testing.TB, bucket blob.Bucket, change func(*collection.Collection)) *settings.Settings {
	t.Helper()
	for _, kind := range []rules.Kind{rules.Crawl, rules.Storage} {
		d := rules.Even(kind, 1, noon)
		d.Rules = append([]rules.Rule{{Refuse: true, Pattern: "*/refused"}}, d.Rules...)
		if err := rules.Publish(t.Context(), bucket, d); err != nil {
			t.Fatal(err)
		}
	}
	c := collection.Collection{
		Name: "docs", HostConnections: 1, Agent: "testbot/1.0",
		Seeds: []collection.Seed{{URL: "http://docs.example", Scope: collection.Host, Depth: 2}},
	}
	if change != nil {
		change(&c)
	}
	if _, err := collection.Publish(t.Context(), bucket, c); err != nil {
		t.Fatal(err)
	}
	s, err := settings.Read(t.Context(), bucket, noon)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// outcome returns an outcome of a request for the tests' page, in the batch with this token.
func outcome(token uint64, s book.State, attempts uint8) book.Outcome {
	return book.Outcome{
		Version: layout.Version{Epoch: 1, Token: token}, URL: page, State: s, Attempts: attempts,
		Reason: map[book.State]string{book.Skipped: "robots", book.Failed: "http 404", book.Retry: "timeout"}[s],
		Time:   noon.Add(time.Duration(token) * time.Minute),
	}
}

func link(target string, depth uint16, hops uint8) book.Link {
	return book.Link{Target: target, Kind: book.Anchor, Depth: depth, Hops: hops, Collection: "docs"}
}

// fold adds a list of outcomes and links to a new account, and returns the states of the
// account's URLs.
func fold(t *testing.T, s *settings.Settings, all []any) map[string]URL {
	t.Helper()
	a, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, fact := range all {
		switch fact := fact.(type) {
		case book.Outcome:
			a.Outcome(fact)
		case book.Link:
			a.Link(fact)
		}
	}
	return judged(t, a.All())
}

// judged returns the states of all URLs of an account, by URL.
func judged(t *testing.T, urls iter.Seq2[URL, error]) map[string]URL {
	t.Helper()
	all := make(map[string]URL)
	for u, err := range urls {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := all[u.Address.URL]; twice {
			t.Errorf("%s comes twice", u.Address.URL)
		}
		all[u.Address.URL] = u
	}
	return all
}

// state is what a test expects of a URL.
type state struct {
	State    State
	Reason   string
	Attempts uint8
	Depth    uint16
	Token    uint64 // token of the outcome that decided the state
}

func TestState(t *testing.T) {
	near := link(page, 1, 0)
	image := book.Link{Target: page, Kind: book.Asset, Depth: 1, Collection: "docs"}
	far := image
	far.Depth = 9
	assets := func(c *collection.Collection) { c.Assets = true }
	again := func(c *collection.Collection) { c.Again = noon.Add(3 * time.Minute) }
	wider := func(c *collection.Collection) { c.Seeds[0].Depth = collection.Unlimited }
	for name, test := range map[string]struct {
		change func(*collection.Collection)
		facts  []any
		want   state
	}{
		"found":                             {nil, []any{near}, state{Pending, "", 0, 1, 0}},
		"the nearest path counts":           {nil, []any{link(page, 2, 0), near, link(page, 2, 1)}, state{Pending, "", 0, 1, 0}},
		"too deep":                          {nil, []any{link(page, 3, 0)}, state{Skipped, collection.TooDeep, 0, 3, 0}},
		"too deep, then wider":              {wider, []any{link(page, 3, 0)}, state{Pending, "", 0, 3, 0}},
		"too many redirects":                {nil, []any{link(page, 1, 11)}, state{Skipped, collection.TooMany, 0, 1, 0}},
		"a longer path of fewer redirects":  {nil, []any{link(page, 1, 11), link(page, 2, 0)}, state{Pending, "", 0, 2, 0}},
		"image":                             {nil, []any{image}, state{Skipped, "asset", 0, 0, 0}},
		"an image that is wanted":           {assets, []any{far}, state{Pending, "", 0, 9, 0}},
		"an image that is a page, too":      {assets, []any{far, near}, state{Pending, "", 0, 1, 0}},
		"an image and a page too deep":      {assets, []any{image, link(page, 3, 0)}, state{Pending, "", 0, 1, 0}},
		"image and page":                    {nil, []any{image, near}, state{Pending, "", 0, 1, 0}},
		"stored":                            {nil, []any{near, outcome(1, book.Stored, 1)}, state{Stored, "", 0, 1, 1}},
		"unchanged confirms":                {nil, []any{near, outcome(1, book.Stored, 1), outcome(2, book.Unchanged, 1)}, state{Stored, "", 0, 1, 2}},
		"unchanged, and gone before":        {nil, []any{near, outcome(1, book.Stored, 1), outcome(2, book.Failed, 1), outcome(3, book.Unchanged, 1)}, state{Failed, "http 404", 0, 1, 2}},
		"the highest version decides":       {nil, []any{near, outcome(1, book.Stored, 1), outcome(2, book.Failed, 1), outcome(3, book.Skipped, 1)}, state{Skipped, "robots", 0, 1, 3}},
		"stored after it failed":            {nil, []any{near, outcome(1, book.Failed, 1), outcome(2, book.Stored, 1)}, state{Stored, "", 0, 1, 2}},
		"retry":                             {nil, []any{near, outcome(1, book.Retry, 1), outcome(2, book.Retry, 2)}, state{Pending, "", 2, 1, 0}},
		"not asked keeps the attempts":      {nil, []any{near, outcome(1, book.Retry, 1), outcome(2, book.NotAsked, 1)}, state{Pending, "", 1, 1, 0}},
		"a late retry changes no end":       {nil, []any{near, outcome(1, book.Stored, 1), outcome(2, book.Retry, 1)}, state{Stored, "", 1, 1, 1}},
		"skipped stays, though asked again": {again, []any{near, outcome(1, book.Skipped, 1)}, state{Skipped, "robots", 0, 1, 1}},
		"failed before it is asked again":   {again, []any{near, outcome(1, book.Retry, 2), outcome(2, book.Failed, 3)}, state{Failed, "http 404", 0, 1, 2}},
		"failed after it was asked again":   {again, []any{near, outcome(3, book.Failed, 3)}, state{Failed, "http 404", 0, 1, 3}},
		"failed and not admitted any more":  {again, []any{link(page, 3, 0), outcome(2, book.Failed, 3)}, state{Failed, "http 404", 0, 3, 2}},
		"lost":                              {nil, []any{near, outcome(1, book.Stored, 1), outcome(2, book.Lost, 0)}, state{Pending, "", 0, 1, 0}},
		"lost, and not admitted any more":   {nil, []any{link(page, 3, 0), outcome(1, book.Stored, 1), outcome(2, book.Lost, 0)}, state{Skipped, collection.TooDeep, 0, 3, 0}},
		"lost takes everything back":        {nil, []any{near, outcome(1, book.Retry, 2), outcome(2, book.Failed, 1), outcome(3, book.Lost, 0)}, state{Pending, "", 0, 1, 0}},
		"asked since it was lost":           {nil, []any{near, outcome(1, book.Stored, 1), outcome(2, book.Lost, 0), outcome(3, book.Retry, 1)}, state{Pending, "", 1, 1, 0}},
		"stored since it was lost":          {nil, []any{near, outcome(1, book.Stored, 1), outcome(2, book.Lost, 0), outcome(3, book.Stored, 1)}, state{Stored, "", 0, 1, 3}},
		"unchanged since it was lost":       {nil, []any{near, outcome(1, book.Stored, 1), outcome(2, book.Lost, 0), outcome(3, book.Unchanged, 1)}, state{Pending, "", 0, 1, 0}},
		"of one version the least counts":   {nil, []any{near, outcome(1, book.Stored, 1), outcome(1, book.Failed, 1)}, state{Failed, "http 404", 0, 1, 1}},
		"no collection any more":            {nil, []any{book.Link{Target: page, Depth: 1, Collection: "shop"}}, state{Skipped, membership.NoCollection, 0, 1, 0}},
		"stored by a collection that is gone": {nil, []any{book.Link{Target: page, Depth: 1, Collection: "shop"}, outcome(1, book.Stored, 1)},
			state{Stored, "", 0, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := publish(t, memblob.New(), test.change)
			for range 8 { // the order of adding does not matter
				u := fold(t, s, test.facts)[page]
				got := state{u.State, u.Reason, u.Attempts, u.Depth, u.Final.Version.Token}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("facts %v (-want +got):\n%s", test.facts, diff)
				}
				if !u.Discovered {
					t.Error("not discovered")
				}
				rand.Shuffle(len(test.facts), func(i, j int) { test.facts[i], test.facts[j] = test.facts[j], test.facts[i] })
			}
		})
	}
}

// TestPage: URL.Page is the outcome that stored the page, even if later requests found the page
// unchanged. It is nil if the page was skipped or lost since, or never stored.
func TestPage(t *testing.T) {
	s := publish(t, memblob.New(), nil)
	for _, test := range []struct {
		facts []any
		want  uint64 // token of the batch that stored the page; 0: no page
	}{
		{[]any{outcome(1, book.Stored, 1)}, 1},
		{[]any{outcome(1, book.Stored, 1), outcome(2, book.Unchanged, 1), outcome(3, book.Retry, 1)}, 1},
		{[]any{outcome(1, book.Stored, 1), outcome(2, book.Stored, 1), outcome(3, book.Unchanged, 1)}, 2},
		{[]any{outcome(1, book.Stored, 1), outcome(2, book.Skipped, 1)}, 0},
		{[]any{outcome(1, book.Stored, 1), outcome(2, book.Lost, 1)}, 0},
		{[]any{link(page, 1, 0)}, 0},
	} {
		got := fold(t, s, test.facts)[page].Page
		if test.want == 0 && got != nil || test.want > 0 && (got == nil || got.Version.Token != test.want) {
			t.Errorf("%v: page %+v, want that of token %d", test.facts, got, test.want)
		}
	}
}

func TestEveryCollectionMayAdmit(t *testing.T) {
	bucket := memblob.New()
	publish(t, bucket, nil)
	s := publish(t, bucket, func(c *collection.Collection) {
		c.Name, c.Seeds[0].Depth = "all", collection.Unlimited
	})
	far := link(page, 7, 0)
	far.Collection = "all"
	for _, all := range [][]any{{link(page, 3, 0), far}, {far, link(page, 3, 0)}} {
		u := fold(t, s, all)[page]
		if u.State != Pending || u.Collection != "all" || u.Depth != 7 {
			t.Errorf("%v: %+v, want it pending for the collection that admits it", all, u)
		}
	}
}

func TestStrategyRefuses(t *testing.T) {
	const refused = "http://docs.example/refused"
	u := fold(t, publish(t, memblob.New(), nil), []any{link(refused, 1, 0)})[refused]
	if u.State != Skipped || u.Reason != membership.Refused {
		t.Errorf("%s %q, want it skipped: no frontier takes it", u.State, u.Reason)
	}
}

func TestForgotten(t *testing.T) {
	const site, seed = "http://other.example/", "http://docs.example/"
	bucket := memblob.New()
	publish(t, bucket, nil)
	for _, e := range []takedown.Entry{takedown.URL(parse(t, page), noon), takedown.Site("other.example", noon)} {
		if _, err := takedown.Forget(t.Context(), bucket, e); err != nil {
			t.Fatal(err)
		}
	}
	s, err := settings.Read(t.Context(), bucket, noon)
	if err != nil {
		t.Fatal(err)
	}
	all := fold(t, s, []any{
		link(page, 1, 0), link(page, 1, 0), link(site, 1, 0), link(seed+"b", 1, 0),
		outcome(1, book.Stored, 1), book.Link{Target: page, Kind: book.Asset},
	})
	if len(all) != 2 || all[seed].State != Pending || all[seed+"b"].State != Pending {
		t.Errorf("got %v, want the seed and one page", all)
	}
	if _, err := takedown.Forget(t.Context(), bucket, takedown.URL(parse(t, seed), noon)); err != nil {
		t.Fatal(err)
	}
	if s, err = settings.Read(t.Context(), bucket, noon); err != nil {
		t.Fatal(err)
	}
	if all := fold(t, s, nil); len(all) > 0 {
		t.Errorf("got %v, though the seed is forgotten", all)
	}
}

func parse(t testing.TB, url string) address.Address {
	t.Helper()
	a, err := address.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAllStopsAndGoesOn(t *testing.T) {
	a, err := New(publish(t, memblob.New(), nil))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		a.Link(link(fmt.Sprint("http://docs.example/", i), 1, 0))
	}
	a.Link(link("no URL", 1, 0))
	for n := range 3 {
		seen := 0
		for range a.All() {
			if seen++; seen > n {
				break
			}
		}
	}
	urls, failed := 0, 0
	for _, err := range a.All() {
		if err != nil && !strings.Contains(err.Error(), "no URL") {
			t.Error(err)
		}
		if err != nil {
			failed++
		} else {
			urls++
		}
	}
	if urls != 1001 || failed != 1 {
		t.Errorf("%d URLs and %d errors, want 1001 and 1", urls, failed)
	}
}

func TestSeedsAndStrangers(t *testing.T) {
	s := publish(t, memblob.New(), func(c *collection.Collection) {
		c.Seeds = append(c.Seeds, collection.Seed{URL: "other.example", Scope: collection.Host, Depth: 0})
	})
	all := fold(t, s, []any{outcome(1, book.Stored, 1)})
	got := make(map[string]state)
	for url, u := range all {
		got[url] = state{State: u.State, Token: u.Final.Version.Token}
		if u.Discovered != (url != page) {
			t.Errorf("%s: discovered %v", url, u.Discovered)
		}
	}
	want := map[string]state{
		"http://docs.example/":   {State: Pending},
		"https://other.example/": {State: Pending},
		page:                     {State: Stored, Token: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

// A page was stored at depth 2, and becomes a seed later. It is requested once more, so that its
// links get smaller depths.
func TestStoredPageBecomesASeed(t *testing.T) {
	far, near := outcome(1, book.Stored, 1), outcome(2, book.Stored, 1)
	far.Depth, far.Collections, near.Collections = 2, []string{"docs"}, []string{"docs"}
	seeded := func(c *collection.Collection) {
		c.Seeds = append(c.Seeds, collection.Seed{URL: page, Scope: collection.Host, Depth: 2})
	}
	for _, test := range []struct {
		name   string
		change func(*collection.Collection)
		facts  []any
		wanted bool
	}{
		{"before", nil, []any{link(page, 2, 0), far}, false},
		{"as a seed", seeded, []any{link(page, 2, 0), far}, true},
		{"asked again", seeded, []any{link(page, 2, 0), far, near}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := fold(t, publish(t, memblob.New(), test.change), test.facts)[page]
			if u.State != Stored || u.Wanted != test.wanted || test.wanted && u.Depth != 0 {
				t.Errorf("%s, wanted %v at depth %d; want it stored, wanted %v", u.State, u.Wanted, u.Depth, test.wanted)
			}
		})
	}
}
