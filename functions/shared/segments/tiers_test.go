package segments

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// listed returns a manifest that lists a segment of each given size, in bytes. Each segment has 100
// documents of a package of its own.
func listed(sizes ...int64) *manifest.Manifest {
	m := new(manifest.Manifest)
	for i, size := range sizes {
		m.Add(manifest.Package{Indexed: true})
		m.Segments = append(m.Segments, manifest.Segment{
			Key: fmt.Sprint(i), Bytes: size, Documents: 100, Parts: []manifest.Part{{Package: uint32(i), Documents: 100}},
		})
	}
	return m
}

func TestMergeable(t *testing.T) {
	l := Limits{Tier: 3, Least: 10, Bytes: 1000, Documents: 1000, Most: 4, Dead: 0.2}
	kill := func(m *manifest.Manifest, i, documents int) {
		m.Segments[i].Deletions = &manifest.Deletions{Documents: documents}
	}
	for name, test := range map[string]struct {
		m    *manifest.Manifest
		do   func(*manifest.Manifest)
		want []string
	}{
		"nothing":                       {listed(), nil, nil},
		"too few of any size":           {listed(1, 5, 11, 30, 31, 90), nil, nil},
		"all up to the least are one":   {listed(1, 10, 2), nil, []string{"0", "1", "2"}},
		"in the order of the list":      {listed(30, 500, 11, 12), nil, []string{"0", "2", "3"}},
		"the smallest size first":       {listed(30, 29, 28, 9, 8, 7), nil, []string{"3", "4", "5"}},
		"no more than most":             {listed(1, 2, 3, 4, 5, 6), nil, []string{"0", "1", "2", "3"}},
		"no more than fit":              {listed(400, 450, 420), nil, []string{"0", "2"}},
		"large ones stay":               {listed(501, 502, 503, 900), nil, nil},
		"no more documents than fit":    {listed(5, 6, 7), func(m *manifest.Manifest) { m.Segments[0].Documents = 500; m.Segments[2].Documents = 401 }, []string{"0", "1"}},
		"many documents stay":           {listed(5, 6, 7, 8), func(m *manifest.Manifest) { m.Segments[1].Documents = 501 }, []string{"0", "2", "3"}},
		"dead bytes do not count":       {listed(501, 502, 503), func(m *manifest.Manifest) { kill(m, 0, 20); kill(m, 1, 20); kill(m, 2, 20) }, []string{"0", "1"}},
		"a fifth may be dead":           {listed(5, 6), func(m *manifest.Manifest) { kill(m, 0, 20) }, nil},
		"more is written anew":          {listed(5, 6), func(m *manifest.Manifest) { kill(m, 1, 21) }, []string{"1"}},
		"also of a large one":           {listed(5, 5000), func(m *manifest.Manifest) { kill(m, 1, 21) }, []string{"1"}},
		"after a tier":                  {listed(5, 6, 7, 900), func(m *manifest.Manifest) { kill(m, 3, 90) }, []string{"0", "1", "2"}},
		"what is forgotten before that": {listed(5, 6, 7, 900), func(m *manifest.Manifest) { m.Segments[3].Erase = true }, []string{"3"}},
		"not what waits for index":      {listed(5, 6, 7), func(m *manifest.Manifest) { m.Packages[1].Indexed = false }, nil},
		"nor if much is dead":           {listed(5), func(m *manifest.Manifest) { m.Packages[0].Indexed = false; kill(m, 0, 50) }, nil},
		"of packages that are gone":     {listed(5, 6, 7), func(m *manifest.Manifest) { m.Packages = nil }, []string{"0", "1", "2"}},
	} {
		if test.do != nil {
			test.do(test.m)
		}
		wantMergeable(t, name, l.Mergeable(test.m, false), test.want)
	}
}

// TestMergeableAtEnd checks what is merged after the end of a crawl.
func TestMergeableAtEnd(t *testing.T) {
	l := Limits{Tier: 3, Least: 10, Bytes: 1000, Documents: 1000, Most: 4, Dead: 0.2}
	for name, test := range map[string]struct {
		m    *manifest.Manifest
		do   func(*manifest.Manifest)
		want []string
	}{
		"all":                       {listed(30, 10, 100), nil, []string{"0", "1", "2"}},
		"not much for a few":        {listed(30, 1, 95), nil, nil},
		"what is small beside it":   {listed(400, 1, 2, 30), nil, []string{"1", "2"}},
		"above a step too high":     {listed(1, 10, 20), nil, []string{"0", "1", "2"}},
		"one alone":                 {listed(30), nil, nil},
		"what fits":                 {listed(300, 350, 400, 450), nil, []string{"0", "1"}},
		"a full tier before":        {listed(1, 2, 3, 11), nil, []string{"0", "1", "2"}},
		"before many dead":          {listed(5, 6), func(m *manifest.Manifest) { m.Segments[0].Deletions = &manifest.Deletions{Documents: 50} }, []string{"0", "1"}},
		"not before all is indexed": {listed(5, 6), func(m *manifest.Manifest) { m.Add(manifest.Package{}) }, nil},
		"nor before small packages are together": {listed(5, 6), func(m *manifest.Manifest) {
			m.Packages[0].Pages, m.Packages[0].Apart = 20, &manifest.Apart{Pages: 20, Hosts: 1}
		}, nil},
	} {
		if test.do != nil {
			test.do(test.m)
		}
		wantMergeable(t, name, l.Mergeable(test.m, true), test.want)
	}
}

func wantMergeable(t *testing.T, name string, mergeable []manifest.Segment, want []string) {
	t.Helper()
	var got []string
	for _, s := range mergeable {
		got = append(got, s.Key)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestNoLimits(t *testing.T) {
	m := listed(1, 2, 3, 4)
	m.Segments[0].Erase = true
	if got := (Limits{}).Mergeable(m, false); got != nil {
		t.Errorf("%d segments are merged without limits", len(got))
	}
	if got := (Limits{Tier: 4, Bytes: 100, Documents: 400, Most: 9}).Mergeable(listed(5, 5, 5, 5), false); len(got) != 4 {
		t.Errorf("%d segments are merged without a least size", len(got))
	}
}

// TestFewSegments adds segments of random sizes, and merges as DefaultLimits says: in a crawl, and as if one ended after
// each of them. It checks that there are never more segments than DefaultLimits promises, and that all merges together
// write not too many times as many bytes as were added.
func TestFewSegments(t *testing.T) {
	for _, ended := range []bool{false, true} {
		for seed := range uint64(5) {
			random := rand.New(rand.NewPCG(seed, 1))
			l := DefaultLimits()
			m := listed()
			var total, written int64
			for i := range 3000 {
				size := int64(1+random.IntN(30)) << (10 + random.IntN(11)) // 1 KiB to 30 MiB
				total += size
				m.Segments = append(m.Segments, manifest.Segment{Key: fmt.Sprint("new ", i), Bytes: size, Documents: 1})
				for inputs := l.Mergeable(m, ended); inputs != nil; inputs = l.Mergeable(m, ended) {
					written += replace(t, m, inputs, l.Bytes)
				}
				few, each := 35, int64(6)
				if ended {
					few, each = 7, 11
				}
				if most := few + int(2*total/l.Bytes); len(m.Segments) > most {
					t.Fatalf("seed %d: %d segments of %d MiB, want at most %d", seed, len(m.Segments), total>>20, most)
				}
				if written > each*total+100<<20 {
					t.Fatalf("seed %d: %d times written", seed, written/total)
				}
			}
		}
	}
}

// replace replaces segments of a manifest by a merged one, and returns its size in bytes.
func replace(t *testing.T, m *manifest.Manifest, inputs []manifest.Segment, most int64) int64 {
	t.Helper()
	merged := manifest.Segment{Documents: 1}
	gone := make(map[string]bool)
	for _, s := range inputs {
		merged.Key, merged.Bytes = s.Key+"+", merged.Bytes+s.Bytes
		gone[s.Key] = true
	}
	if len(inputs) < 2 || merged.Bytes > most {
		t.Fatalf("%d segments of %d bytes are merged", len(inputs), merged.Bytes)
	}
	m.Segments = append(slices.DeleteFunc(m.Segments, func(s manifest.Segment) bool { return gone[s.Key] }), merged)
	return merged.Bytes
}
