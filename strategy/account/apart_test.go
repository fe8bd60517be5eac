package account

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// apart publishes a crawl strategy, and two collections with two seeds each. The seed on docs.example
// is in both collections. The other two seeds are on hosts of their own. The result maps each host to
// a description of its seed: the state, the collection for which it is requested, and the reason why
// it is not in the frontier (the field Apart).
func apart(t *testing.T, crawl rules.Document, only *control.Only) map[string]string {
	t.Helper()
	bucket := memblob.New()
	for _, d := range []rules.Document{crawl, rules.Even(rules.Storage, 1, noon)} { // without Publish, which refuses holes, as an older program did
		content, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := bucket.Create(t.Context(), layout.StrategyKey(string(d.Kind), 1), content); err != nil {
			t.Fatal(err)
		}
	}
	for name, seeds := range map[string][]string{"docs": {"http://docs.example/", "http://more.example/"}, "news": {"http://news.example/", "http://docs.example/"}} {
		c := collection.Collection{Name: name, HostConnections: 1, Agent: "bot/1.0"}
		for _, seed := range seeds {
			c.Seeds = append(c.Seeds, collection.Seed{URL: seed, Scope: collection.Host, Depth: collection.Unlimited})
		}
		if _, err := collection.Publish(t.Context(), bucket, c); err != nil {
			t.Fatal(err)
		}
	}
	if only != nil {
		if _, err := control.Change(t.Context(), bucket, func(d *control.Document) bool { d.Only = only; return true }); err != nil {
			t.Fatal(err)
		}
	}
	s, err := settings.Read(t.Context(), bucket, noon)
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for u, err := range a.All() {
		if err != nil {
			t.Fatal(err)
		}
		all[u.Address.Host] = string(u.State) + " for " + u.Collection + " " + u.Apart
	}
	return all
}

// TestHoleWaits: no rule of the crawl strategy gives a URL a partition. The URL is pending, and its
// field Apart says that it is not requested for this reason.
func TestHoleWaits(t *testing.T) {
	holed := rules.Even(rules.Crawl, 1, noon)
	holed.Rules = []rules.Rule{{Site: "docs.example"}}
	want := map[string]string{"docs.example": "pending for docs ", "more.example": "pending for docs no partition", "news.example": "pending for news no partition"}
	if diff := cmp.Diff(want, apart(t, holed, nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOnly: if the crawl is limited to some collections or seeds, the URLs of others are held back.
// If a chosen collection and another one want the same URL, it is requested for the chosen one.
func TestOnly(t *testing.T) {
	whole := rules.Even(rules.Crawl, 1, noon)
	for name, test := range map[string]struct {
		only *control.Only
		want map[string]string
	}{
		"all": {nil, map[string]string{"docs.example": "pending for docs ", "more.example": "pending for docs ", "news.example": "pending for news "}},
		"a collection": {&control.Only{{Collection: "news"}},
			map[string]string{"docs.example": "pending for news ", "more.example": "pending for docs held back", "news.example": "pending for news "}},
		"a seed": {&control.Only{{Collection: "docs", Seeds: []string{"http://more.example/"}}},
			map[string]string{"docs.example": "pending for docs held back", "more.example": "pending for docs ", "news.example": "pending for news held back"}},
	} {
		if diff := cmp.Diff(test.want, apart(t, whole, test.only)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
