package rules

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
)

func TestNewestVersionIsLoaded(t *testing.T) {
	bucket := memblob.New()
	if _, err := Load(t.Context(), bucket, Crawl); !errors.Is(err, blob.ErrAbsent) {
		t.Fatalf("empty bucket: %v, want %v", err, blob.ErrAbsent)
	}
	first := Even(Crawl, 7, now)
	newest := first
	newest.Version, newest.Due, newest.Expires = 11, first.From.Add(time.Hour), first.From.Add(2*time.Hour)
	newest.Rules = append([]Rule{{Refuse: true, Pattern: "*&sid=*"}, {Site: "example.org", Partition: 6}}, first.Rules...)
	for _, d := range []Document{newest, first, Even(Storage, 3, now), first} {
		if err := Publish(t.Context(), bucket, d); err != nil {
			t.Fatal(err)
		}
	}
	if err := bucket.Create(t.Context(), layout.StrategyPrefix("crawl")+"notes.txt", nil); err != nil {
		t.Fatal(err)
	}
	got, err := Load(t.Context(), bucket, Crawl)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(newest, got); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
}

func TestVersionIsPublishedOnce(t *testing.T) {
	bucket := memblob.New()
	if err := Publish(t.Context(), bucket, Even(Crawl, 1, now)); err != nil {
		t.Fatal(err)
	}
	if err := Publish(t.Context(), bucket, Even(Crawl, 2, now)); !errors.Is(err, blob.ErrExists) {
		t.Errorf("another document under version 1: %v, want %v", err, blob.ErrExists)
	}
	if err := Publish(t.Context(), bucket, Even(Crawl, 0, now)); err == nil {
		t.Error("an invalid document is published")
	}
}

func TestDamagedDocument(t *testing.T) {
	good, err := json.Marshal(Even(Crawl, 1, now))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"cut short":     string(good[:len(good)-1]),
		"two documents": string(good) + string(good),
		"unknown field": strings.Replace(string(good), `"rules"`, `"also":1,"rules"`, 1),
		"other version": strings.Replace(string(good), `"version":1`, `"version":2`, 1),
		"other kind":    strings.Replace(string(good), `"crawl"`, `"storage"`, 1),
		"too long":      string(good) + strings.Repeat(" ", MaxBytes),
	} {
		bucket := memblob.New()
		key := layout.StrategyKey("crawl", 1)
		if err := bucket.Create(t.Context(), key, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if d, err := Load(t.Context(), bucket, Crawl); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

// FuzzRules proves that a document that was read is valid, and is the same after writing and
// reading it again.
func FuzzRules(f *testing.F) {
	for _, d := range []Document{Even(Crawl, 1, now), Even(Storage, 3, now)} {
		d.Rules = append(d.Rules, Rule{Refuse: true, Pattern: "*"}, Rule{Site: "example.org", Partition: 1})
		content, err := json.Marshal(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		d, err := numbered.Decode[Document](content)
		if err != nil {
			return
		}
		again, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if d2, err := numbered.Decode[Document](again); err != nil || !cmp.Equal(d, d2) {
			t.Fatalf("decoded %+v, again %+v, %v", d, d2, err)
		}
		if p := d.Partitions(); len(p) > len(d.Rules) {
			t.Fatalf("%d partitions by %d rules", len(p), len(d.Rules))
		}
	})
}

// TestPublishNext: PublishNext gives a document the number after the highest one in the bucket. It
// does not publish the same rules again, and refuses rules that have a hole between their ranges.
func TestPublishNext(t *testing.T) {
	bucket := memblob.New()
	later := now.Add(time.Hour)
	hole := Document{Kind: Storage, Rules: []Rule{rangeTo(9, 0, 0)}}
	if _, err := PublishNext(t.Context(), bucket, hole, now); err == nil || !strings.Contains(err.Error(), "has a hole") {
		t.Errorf("with a hole: %v", err)
	}
	for i, step := range []struct {
		d       Document
		version uint64
		from    time.Time
	}{
		{Even(Storage, 2, now), 1, now},
		{Even(Storage, 2, later), 1, now},
		{Document{Kind: Storage, Rules: Even(Storage, 3, now).Rules}, 2, later},
		{Document{Kind: Storage, Version: 1, From: now, Rules: []Rule{{Pattern: "*"}}}, 3, now},
	} {
		got, err := PublishNext(t.Context(), bucket, step.d, later)
		if err != nil || got.Version != step.version || !got.From.Truncate(time.Millisecond).Equal(step.from.Truncate(time.Millisecond)) {
			t.Errorf("step %d: version %d from %v, %v; want version %d from %v", i, got.Version, got.From, err, step.version, step.from)
		}
		if loaded, err := Load(t.Context(), bucket, Storage); err != nil || !cmp.Equal(loaded, got) {
			t.Errorf("step %d: %+v is in force, %v", i, loaded, err)
		}
	}
}
