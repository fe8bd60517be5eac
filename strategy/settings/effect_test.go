package settings_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// three returns three collections: docs with a depth, shop without one, and few with a limit of pages.
func three() []any {
	shop, few := docs(), docs()
	shop.Name, shop.Seeds = "shop", []collection.Seed{{URL: "http://shop.example/", Scope: collection.Host, Depth: collection.Unlimited}}
	few.Name, few.Pages = "few", 10
	return []any{docs(), shop, few}
}

// TestDifference makes many different changes to settings with one or three collections, and checks the Effect of
// each.
func TestDifference(t *testing.T) {
	at := func(url string) address.Address {
		a, err := address.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	site := func(url string) layout.Range { return at(url).Place.SiteRange() }
	seed := func(name string, added collection.Seed) collection.Collection {
		for _, c := range three() {
			if c := c.(collection.Collection); c.Name == name {
				return c.With([]collection.Seed{added})
			}
		}
		return collection.Collection{Name: name, HostConnections: 1, Agent: "testbot/1.0", Seeds: []collection.Seed{added}}
	}
	unlimited := func(scope collection.Scope) collection.Seed {
		return collection.Seed{URL: "http://new.example/", Scope: scope, Depth: collection.Unlimited}
	}
	const one = "one"
	hidden := func(entries ...takedown.Entry) func(blob.Bucket) error {
		return func(b blob.Bucket) error {
			_, err := takedown.Suspend(t.Context(), b, noon.Add(time.Hour), entries...)
			return err
		}
	}
	sitemaps := docs()
	sitemaps.Sitemaps = []string{"http://new.example/map.xml"}
	fast, excluded, narrow := docs(), docs(), docs()
	fast.Delay, excluded.Exclude, narrow.Seeds[0].Depth = 1, []string{"*/x"}, 1
	again, renewed := docs(), docs()
	again.Again, renewed.Renew = noon.Add(time.Hour), noon.Add(time.Hour)
	strategy := func(kind rules.Kind, d rules.Document) rules.Document {
		d.Kind, d.Version = kind, 2
		return d
	}
	refusing := rules.Even(rules.Crawl, 1, noon)
	refusing.Rules = append([]rules.Rule{{Refuse: true, Pattern: "*.pdf"}}, refusing.Rules...)
	gone := at("http://docs.example/gone")
	all := settings.Effect{All: true}
	judge := func(ranges ...layout.Range) settings.Effect { return settings.Effect{Judge: ranges} }
	for name, test := range map[string]struct {
		before []any
		change any
		want   settings.Effect
	}{
		"a delay":             {nil, fast, settings.Effect{}},
		"a seed":              {nil, seed("docs", unlimited(collection.Host)), judge(site("http://new.example/"))},
		"a seed with a depth": {nil, seed("docs", collection.Seed{URL: "http://new.example/", Scope: collection.Prefix, Depth: 3}), judge(site("http://new.example/"))},
		"a seed on a site that is crawled already": {nil, seed("docs", collection.Seed{URL: "http://docs.example/a/", Scope: collection.Prefix, Depth: 1}), judge(site("http://docs.example/"))},
		"a seed whose scope has two sites":         {nil, seed("docs", collection.Seed{URL: "http://www.co.uk/", Scope: collection.Host, Depth: 1}), judge(site("http://www.co.uk/"), site("http://co.uk/"))},
		"a seed of the whole web":                  {nil, seed("docs", unlimited(collection.Any)), all},
		"another depth of a seed":                  {nil, narrow, all},
		"failed URLs are tried again":              {nil, again, settings.Effect{Due: true}},
		"stored pages are renewed":                 {nil, renewed, settings.Effect{Due: true}},
		"stored pages are not renewed any more":    {[]any{renewed}, docs(), all},
		"a sitemap":                                {nil, sitemaps, judge(layout.Range{From: at("http://new.example/map.xml").Place, To: at("http://new.example/map.xml").Place + 1})},
		"a pattern":                                {nil, excluded, all},
		"a second collection":                      {nil, seed(one, unlimited(collection.Site)), all},
		"a fourth collection":                      {three(), seed(one, unlimited(collection.Site)), judge(site("http://new.example/"))},
		"a fourth collection of the whole web":     {three(), seed(one, unlimited(collection.Any)), all},
		"a seed of one of three":                   {three(), seed("shop", unlimited(collection.Site)), judge(site("http://new.example/"))},
		"a seed that changes a rank":               {three(), seed("docs", unlimited(collection.Site)), all},
		"a collection is removed":                  {three(), func(b blob.Bucket) error { _, err := collection.Remove(t.Context(), b, "few"); return err }, all},
		"a split of a crawl partition":             {nil, strategy(rules.Crawl, rules.Even(rules.Crawl, 2, noon)), settings.Effect{Moved: []int{0, 1}}},
		"a split of a storage partition":           {nil, strategy(rules.Storage, rules.Even(rules.Storage, 2, noon)), settings.Effect{}},
		"a crawl strategy that refuses URLs":       {nil, strategy(rules.Crawl, refusing), all},
		"a storage strategy that refuses URLs":     {nil, strategy(rules.Storage, refusing), all},
		"the crawl is limited":                     {nil, control.Document{Only: &control.Only{{Collection: "docs"}}}, all},
		"a URL is forgotten":                       {nil, takedown.URL(gone, noon), settings.Effect{Taken: []layout.Identity{gone.ID}}},
		"a URL is hidden":                          {nil, hidden(takedown.URL(gone, noon)), settings.Effect{Taken: []layout.Identity{gone.ID}}},
		"a site is hidden":                         {nil, hidden(takedown.Site(gone.Site, noon)), judge(gone.Place.SiteRange())},
	} {
		bucket := memblob.New()
		publish(t, bucket, rules.Even(rules.Crawl, 1, noon), rules.Even(rules.Storage, 1, noon))
		if publish(t, bucket, test.before...); test.before == nil {
			publish(t, bucket, docs())
		}
		before := read(t, bucket)
		if change, is := test.change.(func(blob.Bucket) error); is {
			if err := change(bucket); err != nil {
				t.Fatal(err)
			}
		} else {
			publish(t, bucket, test.change)
		}
		got := settings.Difference(before, read(t, bucket))
		slices.SortFunc(got.Taken, layout.Identity.Compare)
		got.Taken = slices.Compact(got.Taken)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestCollectionAddedAgain adds a collection that was removed: pages anywhere may have links that it admits.
func TestCollectionAddedAgain(t *testing.T) {
	bucket := memblob.New()
	publish(t, bucket, append(three(), rules.Even(rules.Crawl, 1, noon), rules.Even(rules.Storage, 1, noon))...)
	if _, err := collection.Remove(t.Context(), bucket, "few"); err != nil {
		t.Fatal(err)
	}
	before := read(t, bucket)
	publish(t, bucket, three()[2])
	if diff := cmp.Diff(settings.Effect{All: true}, settings.Difference(before, read(t, bucket))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDifferenceOfTakedowns checks the Effect of each step of a takedown: when it is hidden, when it becomes
// final, and when it is taken back.
func TestDifferenceOfTakedowns(t *testing.T) {
	bucket := memblob.New()
	publish(t, bucket, rules.Even(rules.Crawl, 1, noon), rules.Even(rules.Storage, 1, noon), docs())
	page, err := address.Parse("http://docs.example/gone")
	if err != nil {
		t.Fatal(err)
	}
	url, site := takedown.URL(page, noon), takedown.Site(page.Site, noon)
	placeless := url // as an earlier program has published it
	placeless.Place = nil
	taken := settings.Effect{Taken: []layout.Identity{page.ID}}
	judge := func(within layout.Range) settings.Effect { return settings.Effect{Judge: []layout.Range{within}} }
	suspend := func(e takedown.Entry) func() error {
		return func() error {
			_, err := takedown.Suspend(t.Context(), bucket, noon.Add(time.Hour), e)
			return err
		}
	}
	undo := func(e takedown.Entry) func() error {
		return func() error { _, err := takedown.Undo(t.Context(), bucket, math.MaxUint64, e); return err }
	}
	seal := func() error { return takedown.Seal(t.Context(), bucket, noon.Add(time.Hour)) }
	only, whole := judge(layout.Range{From: page.Place, To: page.Place + 1}), judge(page.Place.SiteRange())
	for i, step := range []struct {
		change func() error
		want   settings.Effect
	}{
		{suspend(url), taken},
		{undo(url), only},
		{suspend(url), taken},
		{seal, taken},
		{undo(url), only},
		{suspend(site), whole},
		{undo(site), whole},
		{suspend(site), whole},
		{seal, whole},
		{undo(site), whole},
		{suspend(placeless), taken},
		{undo(placeless), settings.Effect{All: true}},
	} {
		before := read(t, bucket)
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, settings.Difference(before, read(t, bucket))); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", i+1, diff)
		}
	}
}

// TestReadPast reads settings as they were, after documents of each kind have changed.
func TestReadPast(t *testing.T) {
	bucket := memblob.New()
	publish(t, bucket, rules.Even(rules.Crawl, 1, noon), rules.Even(rules.Storage, 1, noon))
	publish(t, bucket, three()...)
	publish(t, bucket, takedown.Site("gone.example", noon))
	before := read(t, bucket)
	wider, late := docs(), docs()
	wider.Seeds[0].Scope, late.Name = collection.Any, "late"
	crawl, storage := rules.Even(rules.Crawl, 2, noon), rules.Even(rules.Storage, 3, noon)
	crawl.Version, storage.Version = 2, 2
	publish(t, bucket, wider, late, takedown.Site("other.example", noon), crawl, storage)
	if _, err := collection.Remove(t.Context(), bucket, "few"); err != nil {
		t.Fatal(err)
	}
	versions, err := settings.ParseVersions(before.Versions().String())
	if err != nil {
		t.Fatal(err)
	}
	past, err := settings.ReadPast(t.Context(), bucket, noon, versions)
	if err != nil || past.Fingerprint() != before.Fingerprint() || read(t, bucket).Fingerprint() == before.Fingerprint() {
		t.Errorf("fingerprint %s, %v; want %s", past.Fingerprint(), err, before.Fingerprint())
	}
	if diff := cmp.Diff(before.Collections, past.Collections); diff != "" {
		t.Errorf("collections (-want +got):\n%s", diff)
	}
	older, err := settings.ParseVersions(`{"takedowns":1,"collections":{"docs":1,"few":1,"shop":1}}`) // of a program that noted no strategies
	if err != nil {
		t.Fatal(err)
	}
	if past, err = settings.ReadPast(t.Context(), bucket, noon, older); err != nil || past.Crawl.Version != 2 || past.Storage.Version != 2 {
		t.Errorf("strategies %d and %d, %v; want those in force", past.Crawl.Version, past.Storage.Version, err)
	}
	crawl.Version = 3 // repair publishes it in place of damaged versions, which it deletes
	publish(t, bucket, crawl)
	for _, version := range []uint64{1, 2} {
		if err := bucket.Delete(t.Context(), layout.StrategyKey(string(rules.Crawl), version)); err != nil {
			t.Fatal(err)
		}
	}
	if past, err = settings.ReadPast(t.Context(), bucket, noon, versions); err != nil || past.Fingerprint() == before.Fingerprint() {
		t.Errorf("without versions of a strategy: %v, want other settings", err)
	}
	if _, err := settings.ParseVersions("?"); err == nil {
		t.Error("no error for a text that is no JSON")
	}
}
