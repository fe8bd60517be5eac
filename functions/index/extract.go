package index

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/document"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// extract turns the pages of a package into documents, in their order. Pages
// that are no text are left out, which can be read and not searched, and what
// is forgotten.
func extract(ctx context.Context, key string, content []byte, forgotten takedown.Set) ([]segment.Document, error) {
	reader, err := webobject.Open(content)
	if err != nil {
		return nil, err
	}
	var documents []*segment.Document
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for entry, err := range reader.Objects() {
		if err != nil {
			_ = group.Wait()
			return nil, err
		}
		if ctx.Err() != nil {
			break
		}
		if !document.Searchable(entry.Object.Data, entry.Object.MIME) || forgotten.ForgetsURL(entry.Object.URL) {
			continue
		}
		d := new(segment.Document)
		documents = append(documents, d)
		group.Go(func() error {
			var err error
			*d, err = documentOf(key, entry)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	values := make([]segment.Document, len(documents))
	for i, d := range documents {
		values[i] = *d
	}
	return values, ctx.Err()
}

func documentOf(key string, entry webobject.Entry) (segment.Document, error) {
	o := entry.Object
	a, err := address.Parse(o.URL)
	if err != nil {
		return segment.Document{}, err
	}
	content := textOf(o)
	return segment.Document{
		ID:       a.ID,
		Version:  o.Version,
		URL:      o.URL,
		Site:     a.Site,
		Title:    content.Title,
		Headings: content.Headings,
		Body:     content.Body,
		Lang:     content.Lang,
		MIME:     o.MIME,
		Fetched:  o.Downloaded,
		Package:  key,
		Offset:   entry.Place.Offset,
		Length:   entry.Place.Length,
	}, nil
}

// textOf returns the text of a page. One that breaks the parser is found by
// its address alone, every time, and does not keep its package from the index.
func textOf(o webobject.Object) (content document.Content) {
	defer func() {
		if recover() != nil {
			content = document.Content{Title: o.URL}
		}
	}()
	return document.Text(o.Data, o.MIME, o.URL)
}
