package settings_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// TestPartitionsStay: Partitions returns the storage partitions of all versions of the strategy, even
// those that the version in force does not name.
func TestPartitionsStay(t *testing.T) {
	bucket := memblob.New()
	second, third := rules.Even(rules.Storage, 1, noon), rules.Even(rules.Storage, 1, noon.Add(time.Hour))
	second.Version, second.Rules[0].Partition = 2, 3
	third.Version, third.Rules[0].Partition = 3, 5
	publish(t, bucket, rules.Even(rules.Crawl, 1, noon), rules.Even(rules.Storage, 2, noon), second, third)
	page := parse(t, "https://docs.example/")
	first, err := rules.Even(rules.Storage, 2, noon).Decide(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		now   time.Time
		store layout.Partition
	}{{noon, 3}, {noon.Add(time.Hour), 5}} {
		s, err := settings.Read(t.Context(), bucket, step.now)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]layout.Partition{0, 1, 3, 5}, s.Partitions()); diff != "" {
			t.Errorf("partitions (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]layout.Partition{layout.Partition(first), 3, 5}, s.Holding(page)); diff != "" {
			t.Errorf("partitions of a page (-want +got):\n%s", diff)
		}
		if got, err := s.Store(page); err != nil || got != step.store {
			t.Errorf("at %v a page goes to %v, %v, want %v", step.now, got, err, step.store)
		}
	}
}

// TestHole: if the ranges of a strategy's rules leave a hole, a URL in it has no partition, and a
// warning reports the hole.
func TestHole(t *testing.T) {
	bucket := memblob.New()
	storage := rules.Even(rules.Storage, 2, noon)
	storage.Rules = storage.Rules[:1]
	publish(t, bucket, rules.Even(rules.Crawl, 1, noon), storage)
	s := read(t, bucket)
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "storage strategy version 1 has a hole") {
		t.Errorf("warnings %q", s.Warnings)
	}
	page := parse(t, "https://docs.example/")
	for i := 0; storage.Rules[0].Range.Contains(page.Place); i++ {
		page = parse(t, fmt.Sprintf("https://site%d.example/", i))
	}
	if _, err := s.Store(page); !errors.Is(err, rules.ErrNoRule) {
		t.Errorf("page in the hole: %v, want %v", err, rules.ErrNoRule)
	}
}
