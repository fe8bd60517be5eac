package settings_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// TestElsewhere: after each change of the storage strategy, Elsewhere returns the partitions that may have versions
// of the same pages, and no others.
func TestElsewhere(t *testing.T) {
	bucket := memblob.New()
	publish(t, bucket, rules.Even(rules.Crawl, 1, noon), rules.Even(rules.Storage, 3, noon))
	for i, step := range []struct {
		change func(rules.Document, int) ([]rules.Rule, error)
		want   map[layout.Partition][]layout.Partition
	}{
		{nil, map[layout.Partition][]layout.Partition{0: nil, 1: nil, 2: nil}},
		{ // 3 gets the upper half of 1
			func(d rules.Document, unused int) ([]rules.Rule, error) { return d.Split(1, unused, 1<<63) },
			map[layout.Partition][]layout.Partition{0: nil, 1: {3}, 2: nil, 3: {1}},
		},
		{ // and then 2 gets it
			func(d rules.Document, _ int) ([]rules.Rule, error) { return d.Join(3, 2) },
			map[layout.Partition][]layout.Partition{0: nil, 1: {2, 3}, 2: {1, 3}, 3: {1, 2}},
		},
		{ // a border within a site: 0 and 1 may have any page of the site
			func(d rules.Document, _ int) ([]rules.Rule, error) {
				d.Rules[0].Range.To++
				d.Rules[1].Range.From++
				return d.Rules, nil
			},
			map[layout.Partition][]layout.Partition{0: {1}, 1: {0, 2, 3}, 2: {1, 3}, 3: {1, 2}},
		},
		{ // 4 may have pages of any site
			func(d rules.Document, unused int) ([]rules.Rule, error) {
				return append([]rules.Rule{{Pattern: "*.pdf", Partition: unused}}, d.Rules...), nil
			},
			map[layout.Partition][]layout.Partition{0: {1, 4}, 1: {0, 2, 3, 4}, 2: {1, 3, 4}, 3: {1, 2, 4}, 4: {0, 1, 2, 3}},
		},
	} {
		if step.change != nil {
			if _, err := rules.Change(t.Context(), bucket, rules.Storage, noon, step.change); err != nil {
				t.Fatal(err)
			}
		}
		s, got := read(t, bucket), make(map[layout.Partition][]layout.Partition)
		for _, p := range s.Partitions() {
			got[p] = s.Elsewhere(p)
		}
		if diff := cmp.Diff(step.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", i, diff)
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
