package verify

import (
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestPlaced asks about URLs of two sites in turn that were one site when they were requested. Only one is forgotten.
func TestPlaced(t *testing.T) {
	bucket := memblob.New()
	if _, err := takedown.Forget(t.Context(), bucket, takedown.Site("a.example", time.Now())); err != nil {
		t.Fatal(err)
	}
	set, err := takedown.Load(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	f := &forgotten{set: &set}
	for _, url := range []string{"http://b.example/", "http://a.example/", "http://b.example/2", "http://www.a.example/"} {
		id := layout.IdentityOf(url)
		if got, want := f.placed(url, id, layout.PlaceOf("earlier", id)), f.url(url); got != want {
			t.Errorf("%s: %v, want %v", url, got, want)
		}
	}
}
