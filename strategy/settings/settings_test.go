package settings_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/curation"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// docs returns a collection of one site.
func docs() collection.Collection {
	return collection.Collection{
		Name: "docs", HostConnections: 3, Delay: collection.Duration(500 * time.Millisecond), Agent: "testbot/1.0", Again: noon,
		Seeds: []collection.Seed{{URL: "http://docs.example/", Scope: collection.Site, Depth: 2}},
	}
}

func publish(t *testing.T, bucket blob.Bucket, documents ...any) {
	t.Helper()
	for _, d := range documents {
		var err error
		switch d := d.(type) {
		case rules.Document:
			err = put(t, bucket, d)
		case collection.Collection:
			_, err = collection.Publish(t.Context(), bucket, d)
		case takedown.Entry:
			_, err = takedown.Forget(t.Context(), bucket, d)
		case control.Document:
			_, err = control.Change(t.Context(), bucket, func(c *control.Document) bool {
				changed := !cmp.Equal(*c, d)
				*c = d
				return changed
			})
		default:
			t.Fatalf("cannot publish %T", d)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// put stores a strategy without checking it, as older programs did.
func put(t *testing.T, bucket blob.Bucket, d rules.Document) error {
	t.Helper()
	content, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return blob.CreateOnce(t.Context(), bucket, layout.StrategyKey(string(d.Kind), d.Version), content)
}

func read(t *testing.T, bucket blob.Reader) *settings.Settings {
	t.Helper()
	s, err := settings.Read(t.Context(), bucket, noon)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReadNeedsBothStrategies(t *testing.T) {
	bucket := memblob.New()
	for _, kind := range []rules.Kind{rules.Crawl, rules.Storage} {
		if _, err := settings.Read(t.Context(), bucket, noon); !errors.Is(err, blob.ErrAbsent) {
			t.Errorf("without %s strategy: %v, want %v", kind, err, blob.ErrAbsent)
		}
		publish(t, bucket, rules.Even(kind, 3, noon))
	}
	s := read(t, bucket)
	if diff := cmp.Diff([]layout.Partition{0, 1, 2}, s.Partitions()); diff != "" {
		t.Errorf("partitions (-want +got):\n%s", diff)
	}
	if s.Delay() != 0 || s.HostConnections() != 1 {
		t.Errorf("without a collection: delay %v, %d connections", s.Delay(), s.HostConnections())
	}
}

// Without strategies and collections, nothing is published yet. Without strategies, but with a collection, they are lost.
func TestUnpublished(t *testing.T) {
	bucket := memblob.New()
	if _, err := settings.Read(t.Context(), bucket, noon); !errors.Is(err, settings.ErrUnpublished) {
		t.Errorf("new bucket: %v, want %v", err, settings.ErrUnpublished)
	}
	cache := settings.Cache{Bucket: bucket, Now: func() time.Time { return noon }, Empty: true}
	if s, err := cache.Get(t.Context()); err != nil || len(s.Partitions()) != 0 {
		t.Errorf("new bucket: %+v, %v; want empty settings", s, err)
	}
	publish(t, bucket, docs())
	_, err := settings.Read(t.Context(), bucket, noon)
	if errors.Is(err, settings.ErrUnpublished) || !errors.Is(err, blob.ErrAbsent) {
		t.Errorf("with a collection: %v, want %v", err, blob.ErrAbsent)
	}
	publish(t, bucket, rules.Even(rules.Crawl, 1, noon))
	if _, err := settings.Read(t.Context(), bucket, noon); errors.Is(err, settings.ErrUnpublished) || !errors.Is(err, blob.ErrAbsent) {
		t.Errorf("without a storage strategy: %v, want %v", err, blob.ErrAbsent)
	}
}

func TestDecide(t *testing.T) {
	bucket := memblob.New()
	crawl := rules.Even(rules.Crawl, 2, noon)
	crawl.Rules = append([]rules.Rule{{Refuse: true, Pattern: "*/cgi-bin/*"}}, crawl.Rules...)
	storage := rules.Even(rules.Storage, 1, noon)
	storage.Rules = []rules.Rule{{Site: "docs.example"}}
	news := docs()
	news.Name, news.HostConnections, news.Delay = "news", 2, collection.Duration(900*time.Millisecond)
	news.Seeds = []collection.Seed{{URL: "http://news.example/", Scope: collection.Any, Depth: collection.Unlimited}}
	publish(t, bucket, crawl, storage, docs(), news, takedown.URL(parse(t, "http://docs.example/secret"), noon), takedown.Site("gone.example", noon))
	s := read(t, bucket)
	for _, test := range []struct {
		collection, url string
		depth           uint16
		hops            uint8
		want            string
	}{
		{"docs", "http://docs.example/a", 2, 0, ""},
		{"docs", "http://docs.example/a", 3, 0, collection.TooDeep},
		{"docs", "http://docs.example/a", 1, collection.MaxHops + 1, collection.TooMany},
		{"docs", "http://other.example/", 1, 0, collection.OutOfScope},
		{"docs", "http://docs.example/cgi-bin/a", 1, 0, membership.Refused},
		{"news", "http://docs.example/a", 9, 0, ""},
		{"news", "http://other.example/", 9, 0, membership.NoPartition},
		{"shop", "http://docs.example/a", 1, 0, membership.NoCollection},
		{"docs", "http://docs.example/secret", 1, 0, membership.Forgotten},
		{"shop", "http://docs.example/secret", 99, 99, membership.Forgotten}, // a takedown comes before all other reasons
		{"news", "http://www.gone.example/a", 1, 0, membership.Forgotten},
		{"docs", "http://docs.example/secret?2", 1, 0, ""},
	} {
		if got := s.Decide(membership.Path{Collection: test.collection, Kind: book.Anchor, Depth: test.depth, Hops: test.hops}, parse(t, test.url)); got != test.want {
			t.Errorf("%s: %s at depth %d after %d redirects: %q, want %q", test.collection, test.url, test.depth, test.hops, got, test.want)
		}
	}
	if s.Delay() != 900*time.Millisecond || s.HostConnections() != 2 {
		t.Errorf("delay %v, %d connections; want the longest and the fewest", s.Delay(), s.HostConnections())
	}
	for at, want := range map[time.Time]bool{noon.Add(-1): true, noon: false} {
		if got := s.AskAgain("docs", book.Outcome{State: book.Failed, Time: at}); got != want {
			t.Errorf("failed at %v: asked again %v", at, got)
		}
	}
	if got := s.Collection("docs"); got.Version != 1 || len(got.Seeds) != 1 {
		t.Errorf("collection docs is %+v", got)
	}
	if got := s.Collection("shop"); !cmp.Equal(got, collection.Collection{Name: "shop"}) {
		t.Errorf("collection that is none: %+v", got)
	}
}

// TestDecideByKind: whether a URL is admitted also depends on the kind of the link to it, such as an
// anchor, a redirect or an entry of a sitemap.
func TestDecideByKind(t *testing.T) {
	bucket := memblob.New()
	topical := docs()
	topical.Name, topical.Topic = "topical", &collection.Topic{Words: []string{"a"}, Threshold: .5}
	crawl := rules.Even(rules.Crawl, 1, noon)
	crawl.Rules = append([]rules.Rule{{Refuse: true, Pattern: "*/refused*"}}, crawl.Rules...)
	publish(t, bucket, crawl, rules.Even(rules.Storage, 1, noon), docs(), topical, takedown.Site("gone.example", noon))
	s := read(t, bucket)
	const page = "http://docs.example/a"
	for _, test := range []struct {
		url  string
		way  membership.Path
		want string
	}{
		{page, membership.Path{Collection: "docs", Kind: book.Listed, Depth: 1}, ""},
		{page, membership.Path{Collection: "topical", Kind: book.Anchor, Depth: 1, Weight: 128}, ""},
		{page, membership.Path{Collection: "topical", Kind: book.Anchor, Depth: 1, Weight: 127}, membership.OffTopic},
		{page, membership.Path{Collection: "topical", Kind: book.Listed, Depth: 1}, membership.OffTopic},
		{page, membership.Path{Collection: "topical", Kind: book.Redirect, Depth: 1, Hops: 1}, ""},
		{page, membership.Path{Collection: "topical", Kind: book.Canonical, Depth: 1, Hops: 1}, ""},
		{page, membership.Path{Collection: "topical", Kind: book.Redirect, Depth: 3, Hops: 1}, collection.TooDeep},
		{"http://docs.example/", membership.Path{Collection: "topical"}, ""},
		{"http://other.example/map.xml", membership.Path{Collection: "topical", Kind: book.Sitemap}, ""},
		{"http://other.example/map.xml", membership.Path{Collection: "docs", Kind: book.Sitemap, Depth: 1}, ""},
		{"http://other.example/map.xml", membership.Path{Collection: "docs", Kind: book.Sitemap, Depth: 2}, collection.TooDeep},
		{"http://other.example/map.xml", membership.Path{Collection: "docs", Kind: book.Sitemap, Hops: 11}, collection.TooMany},
		{"http://other.example/map.xml", membership.Path{Collection: "shop", Kind: book.Sitemap}, membership.NoCollection},
		{"http://other.example/refused.xml", membership.Path{Collection: "docs", Kind: book.Sitemap}, membership.Refused},
		{"http://gone.example/map.xml", membership.Path{Collection: "docs", Kind: book.Sitemap}, membership.Forgotten},
	} {
		if got := s.Decide(test.way, parse(t, test.url)); got != test.want {
			t.Errorf("%s by %+v: %q, want %q", test.url, test.way, got, test.want)
		}
	}
}

func parse(t *testing.T, url string) address.Address {
	t.Helper()
	a, err := address.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestFingerprint publishes documents one after another. The fingerprint must change with those that say
// which URLs are crawled, and with no others.
func TestFingerprint(t *testing.T) {
	bucket := memblob.New()
	crawl, storage := rules.Even(rules.Crawl, 1, noon), rules.Even(rules.Storage, 1, noon)
	publish(t, bucket, crawl, storage, docs())
	alike, more := crawl, rules.Even(rules.Crawl, 2, noon)
	alike.Version, more.Version = 2, 3
	changed := func(change func(*collection.Collection)) collection.Collection {
		c := docs()
		c.Topic = &collection.Topic{Words: []string{"cat"}, Threshold: 0.5}
		change(&c)
		return c
	}
	news := docs()
	news.Name = "news"
	before := read(t, bucket).Fingerprint()
	for _, step := range []struct {
		document any
		differs  bool
	}{
		{alike, false},
		{more, true},
		{docs(), false},
		{changed(func(*collection.Collection) {}), true},
		{changed(func(c *collection.Collection) { c.Delay, c.HostConnections, c.Connections = 1, 2, 3 }), false},
		{changed(func(c *collection.Collection) { c.Agent, c.Language, c.Allow = "other", "de", []string{"10.0.0.0/8"} }), false},
		{changed(func(c *collection.Collection) { c.Topic.Words = []string{"dog"} }), false},
		{changed(func(c *collection.Collection) { c.Topic.Threshold = 0.6 }), true},
		{changed(func(c *collection.Collection) { c.Seeds[0].Scope = collection.Any }), true},
		{changed(func(c *collection.Collection) { c.Pages = 9 }), true},
		{changed(func(c *collection.Collection) { c.Schedule = "every 1h" }), true},
		{news, true},
		{takedown.Site("gone.example", noon), true},
		{takedown.Site("gone.example", noon), false},
		{control.Document{Only: &control.Only{{Collection: "news"}}}, true},
	} {
		publish(t, bucket, step.document)
		after := read(t, bucket).Fingerprint()
		if (after != before) != step.differs {
			t.Errorf("%+v: %q after %q, want another one: %v", step.document, after, before, step.differs)
		}
		before = after
	}
}

// TestControlIsNoSetting: pauses and limits of cost do not change the fingerprint of the settings, so
// that the frontier is not rebuilt because of them.
func TestControlIsNoSetting(t *testing.T) {
	bucket := memblob.New()
	publish(t, bucket, rules.Even(rules.Crawl, 1, noon), rules.Even(rules.Storage, 1, noon))
	before := read(t, bucket).Fingerprint()
	want := control.Document{Pause: &control.Pause{By: control.Operator, Reason: "to sleep"}}
	publish(t, bucket, want)
	s := read(t, bucket)
	if diff := cmp.Diff(want, s.Control); diff != "" || s.Fingerprint() != before {
		t.Errorf("%q became %q; controls (-want +got):\n%s", before, s.Fingerprint(), diff)
	}
}

// TestCurationIsListed: the versions of the curation of searches are found by the LIST of the controls, and
// are not read.
func TestCurationIsListed(t *testing.T) {
	store := memblob.New()
	publish(t, store, rules.Even(rules.Crawl, 1, noon), rules.Even(rules.Storage, 1, noon), control.Document{Webhook: "https://example.org/"})
	for _, page := range []string{"https://example.org/a", "https://example.org/b"} {
		if _, err := curation.Publish(t.Context(), store, curation.Document{Bans: []curation.Ban{{Pages: []string{page}}}}); err != nil {
			t.Fatal(err)
		}
	}
	bucket := countblob.New(store)
	s := read(t, bucket)
	if got := bucket.Counts(); got.List != 5 || got.Get != 3 {
		t.Errorf("%d LIST and %d GET; want those of the strategies, the collections, the takedowns and the controls", got.List, got.Get)
	}
	found, err := curation.Among(t.Context(), bucket, s.Curations)
	if err != nil || found.Version != 2 || s.Control.Webhook == "" || bucket.Counts().Get != 4 {
		t.Errorf("version %d, %v, after %d GET; controls %+v", found.Version, err, bucket.Counts().Get, s.Control)
	}
}

// TestCache counts the requests for settings that are read again and again. A read takes one GET of the hint,
// or two if something was published since the last read.
func TestCache(t *testing.T) {
	store := memblob.New()
	for _, kind := range []rules.Kind{rules.Crawl, rules.Storage} {
		if err := rules.Publish(t.Context(), store, rules.Even(kind, 1, noon)); err != nil {
			t.Fatal(err)
		}
	}
	publish(t, store, docs())
	bucket, now := countblob.New(store), noon
	cache := settings.Cache{Bucket: bucket, Now: func() time.Time { return now }, Age: time.Minute}
	wider := docs()
	for _, step := range []struct {
		second  int
		gets    int64 // number of GET so far
		version uint64
	}{{0, 1, 1}, {59, 1, 1}, {60, 3, 3}, {61, 3, 3}, {59, 5, 4}} { // the clock may be set back
		now = noon.Add(time.Duration(step.second) * time.Second)
		s, err := cache.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Collection("docs").Version; got != step.version {
			t.Errorf("at second %d: version %d, want %d", step.second, got, step.version)
		}
		if got := bucket.Counts(); got.List != 0 || got.Get != step.gets {
			t.Errorf("at second %d: %d LIST and %d GET, want none and %d", step.second, got.List, got.Get, step.gets)
		}
		if step.second%60 != 1 {
			wider.Delay++
			publish(t, store, wider)
		}
	}
	if _, err := cache.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := bucket.Counts()
	if _, err := cache.Renew(t.Context()); err != nil || bucket.Counts().Get != before.Get+1 {
		t.Errorf("unchanged settings took %d GET, %v; want 1", bucket.Counts().Get-before.Get, err)
	}
}

// TestHintIsOnlyACopy: settings read from the hint are those that a reader finds who lists all versions. They
// are also read if the hint is absent, damaged, or names a version that is deleted.
func TestHintIsOnlyACopy(t *testing.T) {
	published := memblob.New()
	for _, kind := range []rules.Kind{rules.Crawl, rules.Storage} {
		for n := range 3 {
			if _, err := rules.PublishNext(t.Context(), published, rules.Even(kind, n+1, noon), noon); err != nil {
				t.Fatal(err)
			}
		}
	}
	news := docs()
	news.Name = "news"
	publish(t, published, docs(), news, takedown.Site("gone.example", noon), control.Document{Webhook: "https://example.org/"})
	if _, err := collection.Remove(t.Context(), published, "news"); err != nil {
		t.Fatal(err)
	}
	listed := func(bucket blob.Reader) *settings.Settings { return read(t, bucket) }
	hinted := func(bucket blob.Reader) *settings.Settings {
		s, err := (&settings.Cache{Bucket: bucket, Now: func() time.Time { return noon }}).Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	compare := cmp.Options{cmp.AllowUnexported(settings.Settings{}, takedown.Set{}), cmpopts.IgnoreUnexported(membership.Members{}), cmpopts.IgnoreFields(settings.Settings{}, "Curations")}
	for name, test := range map[string]struct {
		change   func(b *memblob.Bucket) error
		warnings int
		lists    bool
	}{
		"whole":  {func(*memblob.Bucket) error { return nil }, 0, false},
		"absent": {func(b *memblob.Bucket) error { return b.Delete(t.Context(), layout.SettingsHint) }, 0, true},
		"damaged": {func(b *memblob.Bucket) error {
			return b.Replace(t.Context(), layout.SettingsHint, []byte(`{"versions":[]}`))
		}, 1, true},
		"empty": {func(b *memblob.Bucket) error { return b.Replace(t.Context(), layout.SettingsHint, nil) }, 1, true},
		"of a deleted version": {func(b *memblob.Bucket) error {
			hint := []byte(`{"versions":[{"key":"collections/docs/000000000009.json","size":9}]}`)
			return b.Replace(t.Context(), layout.SettingsHint, layout.Seal(hint))
		}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			store := memblob.New()
			for object, err := range published.List(t.Context(), "", "") {
				if err != nil {
					t.Fatal(err)
				}
				content, err := published.Get(t.Context(), object.Key, blob.Range{})
				if err == nil {
					err = store.Create(t.Context(), object.Key, content)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := test.change(store); err != nil {
				t.Fatal(err)
			}
			bucket := countblob.New(store)
			got := hinted(bucket)
			if lists := bucket.Counts().List > 0; lists != test.lists || len(got.Warnings) != test.warnings {
				t.Errorf("listed %v, want %v; %d warnings, want %d: %q", lists, test.lists, len(got.Warnings), test.warnings, got.Warnings)
			}
			got.Warnings = nil
			if diff := cmp.Diff(listed(store), got, compare); diff != "" {
				t.Errorf("settings (-listed +from the hint):\n%s", diff)
			}
		})
	}
}

func TestLimitsOfAll(t *testing.T) {
	bucket := memblob.New()
	publish(t, bucket, rules.Even(rules.Crawl, 1, noon), rules.Even(rules.Storage, 1, noon))
	for i, step := range []struct {
		fetches int
		allow   []string
		want    int
		allowed []string
	}{
		{0, nil, 0, nil},
		{30, []string{"10.0.0.0/8", "intranet.example"}, 30, []string{"10.0.0.0/8", "intranet.example"}},
		{40, []string{"intranet.example", "::1"}, 30, []string{"10.0.0.0/8", "::1", "intranet.example"}},
		{7, nil, 7, []string{"10.0.0.0/8", "::1", "intranet.example"}},
	} {
		c := docs()
		c.Name, c.Connections, c.Allow = fmt.Sprint("c", i), step.fetches, step.allow
		publish(t, bucket, c)
		s := read(t, bucket)
		if got := s.Connections(); got != step.want {
			t.Errorf("after %d collections: %d fetches, want %d", i+1, got, step.want)
		}
		if diff := cmp.Diff(step.allowed, s.Allow()); diff != "" {
			t.Errorf("after %d collections, allowed (-want +got):\n%s", i+1, diff)
		}
	}
}
