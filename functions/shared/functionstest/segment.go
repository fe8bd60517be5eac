package functionstest

import (
	"slices"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Manifest returns the newest manifest of a partition.
func Manifest(t testing.TB, bucket blob.Reader, p layout.Partition) manifest.Manifest {
	t.Helper()
	m, err := manifest.Read(t.Context(), bucket, p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Segment opens a segment that a manifest lists.
func Segment(t testing.TB, bucket blob.Reader, listed manifest.Segment) *segment.Segment {
	t.Helper()
	opened, err := partition.OpenSegment(t.Context(), segment.Ranges{Bucket: bucket}, &listed)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// Documents returns the live documents of a segment.
func Documents(t testing.TB, bucket blob.Reader, listed manifest.Segment) (live []segment.Document) {
	t.Helper()
	dead, err := partition.Dead(t.Context(), bucket, &listed)
	if err != nil {
		t.Fatal(err)
	}
	opened := Segment(t, bucket, listed)
	for doc := range uint32(listed.Documents) {
		if dead.Contains(doc) {
			continue
		}
		stored, err := opened.Stored(t.Context(), []uint32{doc})
		if err != nil {
			t.Fatal(err)
		}
		live = append(live, stored[0])
	}
	return live
}

// Live returns the live documents of all segments of a manifest, as "URL
// version" and in order.
func Live(t testing.TB, bucket blob.Reader, m manifest.Manifest) (live []string) {
	t.Helper()
	for _, listed := range m.Segments {
		for _, d := range Documents(t, bucket, listed) {
			live = append(live, d.URL+" "+d.Version.String())
		}
	}
	slices.Sort(live)
	return live
}
