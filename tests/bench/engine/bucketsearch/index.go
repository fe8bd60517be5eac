package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/tests/bench/corpus"
)

// index reads a corpus and writes segments of its pages to a directory. The parameter text is the
// minimum number of bytes of text in a segment; only the last segment may have fewer.
func index(directory string, text int, pages io.Reader) error {
	var held []*corpus.Page
	size, number := 0, 0
	for p, err := range corpus.Read(pages) {
		if err != nil {
			return err
		}
		held, size = append(held, p), size+p.Text()
		if size < text {
			continue
		}
		if err := build(directory, number, held); err != nil {
			return err
		}
		held, size, number = nil, 0, number+1
	}
	if len(held) == 0 {
		return nil
	}
	return build(directory, number, held)
}

// build writes a segment of the pages to a directory, under this number. It makes the segment in the
// same way as functions/index makes one from the pages of a package.
func build(directory string, number int, pages []*corpus.Page) error {
	var documents []*segments.Page
	for _, p := range pages {
		a, err := address.Parse(p.URL)
		if err != nil {
			return err
		}
		documents = append(documents, &segments.Page{
			Document: segment.Document{
				ID: a.ID, Version: layout.Version{Epoch: 1, Token: 1}, URL: p.URL, Site: a.Site, Title: p.Title,
				Headings: p.Headings, Body: p.Body, Lang: p.Lang, MIME: "text/html", Package: "packages/0/corpus.spf",
			},
			Emphasis: p.Emphasis, Large: p.Large,
		})
	}
	content, err := segments.Build(documents)
	if err != nil {
		return err
	}
	return put(directory, number, content)
}

// merge merges all segments of a directory into one. It prints the total size of the segments in
// bytes, and the time that merging took in microseconds.
func merge(ctx context.Context, directory string) error {
	refs, err := list(directory)
	if err != nil {
		return err
	}
	var inputs []segment.Input
	var size int64
	for _, ref := range refs {
		s, err := segment.Open(ctx, files{store{root: directory}}, ref)
		if err != nil {
			return err
		}
		inputs, size = append(inputs, segment.Input{Segment: s}), size+ref.Bytes
	}
	began := time.Now()
	content, free, err := segment.Merge(ctx, inputs, segment.MaxBytes, directory)
	if err != nil {
		return err
	}
	defer free()
	fmt.Println(size, time.Since(began).Microseconds())
	for _, ref := range refs {
		if err := os.Remove(filepath.Join(directory, ref.Key)); err != nil {
			return err
		}
	}
	return put(directory, 0, content)
}
