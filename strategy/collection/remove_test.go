package collection_test

import (
	"errors"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// TestRemove: Remove publishes a version after which LoadAll no longer lists the collection. The
// collection can be published again later.
func TestRemove(t *testing.T) {
	bucket := memblob.New()
	docs := collection.Collection{Name: "docs", HostConnections: 1, Agent: "bot/1.0", Seeds: []collection.Seed{{URL: "https://docs.example/", Scope: collection.Host, Depth: collection.Unlimited}}}
	news := docs
	news.Name = "news"
	names := func() string {
		all, err := collection.LoadAll(t.Context(), bucket)
		if err != nil {
			t.Fatal(err)
		}
		names := ""
		for _, c := range all {
			names += c.Name + " "
		}
		return names
	}
	publish := func(c collection.Collection) uint64 {
		published, err := collection.Publish(t.Context(), bucket, c)
		if err != nil {
			t.Fatal(err)
		}
		return published.Version
	}
	publish(docs)
	publish(news)
	for range 2 {
		before, err := collection.Remove(t.Context(), bucket, "docs")
		if err != nil || before.Name != "docs" || len(before.Seeds) != 1 || names() != "news " {
			t.Fatalf("removed %+v, %v; left %q", before, err, names())
		}
		if _, err := collection.Remove(t.Context(), bucket, "docs"); !errors.Is(err, collection.ErrNone) {
			t.Errorf("removed twice: %v, want %v", err, collection.ErrNone)
		}
		if version := publish(docs); version%2 != 1 || names() != "docs news " {
			t.Errorf("published again as version %d; there are %q", version, names())
		}
	}
	if _, err := collection.Remove(t.Context(), bucket, "shop"); !errors.Is(err, collection.ErrNone) {
		t.Errorf("removed what never was: %v, want %v", err, collection.ErrNone)
	}
}
