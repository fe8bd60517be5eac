package numbered

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// documents returns stores of two documents: of a strategy and of the controls.
func documents() map[string]Store[names] {
	kind := func(version uint64) string { return layout.StrategyKey("crawl", version) }
	return map[string]Store[names]{"strategy": {Prefix: layout.StrategyPrefix("crawl"), Key: kind, Most: 1000}, "controls": store}
}

// hintOf returns the versions that the hint names, as "key" or, with a content, "key: content".
func hintOf(t *testing.T, bucket blob.Reader) (versions []string) {
	t.Helper()
	content, err := bucket.Get(t.Context(), layout.SettingsHint, blob.Range{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := decodeListing(content)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range all.Versions {
		text := v.Key
		if v.Content != "" {
			document, err := Decode[names]([]byte(v.Content))
			if err != nil {
				t.Fatal(err)
			}
			text = fmt.Sprint(v.Key, ": ", document.Names)
		}
		versions = append(versions, text)
	}
	return versions
}

// TestHint publishes versions of two documents. The hint names all of them, and has the contents of all versions
// of the strategy and of the newest one of the other document. Its reader answers without further requests.
func TestHint(t *testing.T) {
	bucket := countblob.New(memblob.New())
	for _, name := range []string{"a", "b"} {
		for _, s := range documents() {
			if _, _, err := s.Publish(t.Context(), bucket, adding(name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []string{
		"strategy/crawl/000000000001.json: [a]", "strategy/crawl/000000000002.json: [a b]",
		"controls/000000000001.json", "controls/000000000002.json: [a b]",
	}
	if diff := cmp.Diff(want, hintOf(t, bucket)); diff != "" {
		t.Errorf("hint (-want +got):\n%s", diff)
	}
	var hint Hint
	before := bucket.Counts()
	for range 2 {
		from, err := hint.Reader(t.Context(), bucket)
		if err != nil {
			t.Fatal(err)
		}
		for name, s := range documents() {
			if document, version, err := s.Newest(t.Context(), from); err != nil || version != 2 || len(document.Names) != 2 {
				t.Errorf("%s by the hint: %v, version %d, %v", name, document, version, err)
			}
		}
	}
	if n := bucket.Counts(); n.List != before.List || n.Get != before.Get+2 {
		t.Errorf("%d LIST and %d GET to read the hint twice", n.List-before.List, n.Get-before.Get)
	}
	from, err := hint.Reader(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := from.Get(t.Context(), layout.ControlKey(1), blob.Range{}); err != nil {
		t.Errorf("a version without a content in the hint: %v", err)
	}
	if _, err := from.Get(t.Context(), layout.ControlKey(2), blob.Range{Offset: 1e6}); !errors.Is(err, blob.ErrRange) {
		t.Errorf("a range: %v", err)
	}
}

// TestRefresh: a hint that is absent, damaged, or written before the last version was stored, is written again. A
// damaged version has no content in the hint.
func TestRefresh(t *testing.T) {
	whole := []string{"controls/000000000001.json", "controls/000000000002.json: [a b]"}
	for name, test := range map[string]struct {
		change func(b *memblob.Bucket) error
		puts   int64
		want   []string
	}{
		"whole":   {func(*memblob.Bucket) error { return nil }, 0, whole},
		"absent":  {func(b *memblob.Bucket) error { return b.Delete(t.Context(), layout.SettingsHint) }, 1, whole},
		"damaged": {func(b *memblob.Bucket) error { return b.Replace(t.Context(), layout.SettingsHint, []byte("{}")) }, 1, whole},
		"late": {func(b *memblob.Bucket) error {
			return b.Create(t.Context(), layout.ControlKey(3), layout.Seal([]byte(`{"names":["c"]}`)))
		}, 1, []string{whole[0], "controls/000000000002.json", "controls/000000000003.json: [c]"}},
		"a damaged version": {func(b *memblob.Bucket) error { return b.Replace(t.Context(), layout.ControlKey(2), []byte(`{"names"`)) },
			1, []string{whole[0], "controls/000000000002.json"}},
		"a foreign object": {func(b *memblob.Bucket) error { return b.Create(t.Context(), "controls/notes.txt", nil) }, 0, whole},
	} {
		t.Run(name, func(t *testing.T) {
			inner := memblob.New()
			for _, name := range []string{"a", "b"} {
				if _, _, err := store.Publish(t.Context(), inner, adding(name)); err != nil {
					t.Fatal(err)
				}
			}
			if err := test.change(inner); err != nil {
				t.Fatal(err)
			}
			bucket := countblob.New(inner)
			if err := Refresh(t.Context(), bucket); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, hintOf(t, bucket)); diff != "" || bucket.Counts().Put != test.puts {
				t.Errorf("%d PUT, want %d; hint (-want +got):\n%s", bucket.Counts().Put, test.puts, diff)
			}
		})
	}
}

// TestHintOfSlowPublisher lets a publisher store its version and hint while another one is about to write its
// hint, which then lacks that version. The slower one notices, and writes the hint again.
func TestHintOfSlowPublisher(t *testing.T) {
	inner, faster := memblob.New(), documents()["strategy"]
	between := sync.OnceFunc(func() {
		if _, _, err := faster.Publish(context.WithoutCancel(t.Context()), inner, adding("fast")); err != nil {
			t.Error(err)
		}
	})
	bucket := faultblob.New(inner, func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Replace {
			between()
		}
		return faultblob.None
	})
	if _, _, err := store.Publish(t.Context(), bucket, adding("slow")); err != nil {
		t.Fatal(err)
	}
	want := []string{"strategy/crawl/000000000001.json: [fast]", "controls/000000000001.json: [slow]"}
	if diff := cmp.Diff(want, hintOf(t, inner)); diff != "" {
		t.Errorf("hint (-want +got):\n%s", diff)
	}
}

// TestPublishAgainWritesHint: a publisher fails after it has stored its version and before it has written the hint.
// When it publishes the same again, nothing changes, but readers of the hint get the version.
func TestPublishAgainWritesHint(t *testing.T) {
	inner := memblob.New()
	bucket := faultblob.New(inner, func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Replace {
			return faultblob.Before
		}
		return faultblob.None
	})
	if _, _, err := store.Publish(t.Context(), inner, adding("a")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Publish(t.Context(), bucket, adding("b")); err == nil {
		t.Fatal("no error, but the hint is not written")
	}
	if _, version, err := store.Publish(t.Context(), inner, adding("b")); err != nil || version != 2 {
		t.Fatalf("version %d, %v; want 2", version, err)
	}
	want := []string{"controls/000000000001.json", "controls/000000000002.json: [a b]"}
	if diff := cmp.Diff(want, hintOf(t, inner)); diff != "" {
		t.Errorf("hint (-want +got):\n%s", diff)
	}
}
