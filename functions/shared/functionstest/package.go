package functionstest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// Package stores a package of pages in the bucket, but no manifest lists it. It returns the
// package's entry for a manifest, and for each page an outcome (the record of its request) of state
// Stored.
func Package(t testing.TB, bucket blob.Bucket, p layout.Partition, pages ...webobject.Object) (manifest.Package, []book.Outcome) {
	t.Helper()
	pkg := webobject.Package{Base: 2, Created: Start, Expires: Start.Add(24 * time.Hour)}
	compressor := webobject.NewCompressor(webobject.DefaultLevel)
	for _, page := range pages {
		run, err := compressor.Compress(page)
		if err != nil {
			t.Fatal(err)
		}
		pkg.Runs = append(pkg.Runs, run)
	}
	content, places, err := pkg.Build()
	if err != nil {
		t.Fatal(err)
	}
	name := layout.PackageName{Base: 2, Created: Start, Collision: len(Keys(t, bucket, layout.PackagePrefix(p)))}
	key := layout.PackageKey(p, name)
	err = bucket.Create(t.Context(), key, content)
	for ; errors.Is(err, blob.ErrExists); err = bucket.Create(t.Context(), key, content) { // the number of keys is too low after packages were deleted
		name.Collision++
		key = layout.PackageKey(p, name)
	}
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []book.Outcome
	for i, page := range pages {
		o := Outcome(t, page.Version, page.URL, book.Stored)
		o.Package, o.Offset, o.Length = key, places[i].Offset, places[i].Length
		outcomes = append(outcomes, o)
	}
	return manifest.Package{Key: key, Bytes: int64(len(content)), Pages: len(pages)}, outcomes
}

// Page returns an HTML page that the batch v has fetched from the URL. Its words are "page" and the
// URL.
func Page(v layout.Version, url string) webobject.Object {
	return webobject.Object{
		URL: url, MIME: "text/html", Data: []byte(HTML(fmt.Sprint("page ", url))),
		Downloaded: Start, Expires: Start.Add(24 * time.Hour), Status: 200, Version: v,
	}
}

// Commit calls edit with the newest manifest of the partition, and puts the changed manifest as the
// next generation.
func Commit(t testing.TB, bucket blob.Bucket, p layout.Partition, edit func(*manifest.Manifest)) manifest.Manifest {
	t.Helper()
	m, err := manifest.Commit(t.Context(), bucket, p, func() time.Time { return Start }, func(m *manifest.Manifest) error {
		edit(m)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Edit changes the manifest of a partition, and commits it through package partition, as production
// code does.
func Edit(t testing.TB, bucket blob.Bucket, id layout.Partition, edit func(*partition.Edit) error) {
	t.Helper()
	p, err := partition.Open(t.Context(), bucket, id, func() time.Time { return Start })
	if err == nil {
		err = p.Commit(t.Context(), edit)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Begin commits the first, empty generation of a partition's manifest, if it has none.
func Begin(t testing.TB, bucket blob.Bucket, id layout.Partition) {
	t.Helper()
	Edit(t, bucket, id, func(e *partition.Edit) error {
		if e.Manifest().Generation > 0 {
			return partition.ErrUnchanged
		}
		return nil
	})
}

// Learn stores a book (outcomes of URLs, and links). Then it commits a generation of the manifest that
// also lists this book and the given packages. If outcomes say that pages are stored, the packages must
// hold these pages.
func Learn(t testing.TB, bucket blob.Bucket, p layout.Partition, b book.Book, packages ...manifest.Package) {
	t.Helper()
	content, err := book.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	listed := manifest.Book{Key: layout.BookKey(p, layout.ContentHash(content)), Bytes: int64(len(content))}
	Put(t, bucket, listed.Key, content)
	Commit(t, bucket, p, func(m *manifest.Manifest) {
		m.Books = append(m.Books, listed)
		for _, pkg := range packages {
			m.Add(pkg)
		}
	})
}

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

// Live returns the live documents of all segments of a manifest as sorted texts. Each text is the URL
// of a document, a space, and the document's version.
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
