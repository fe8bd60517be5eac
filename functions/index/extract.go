package index

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/document"
	"github.com/bucketsearch/bucketsearch/functions/segments"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/language"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// extract turns the pages of a package into documents, by site and URL: so the
// hits of a query lie together, and alike pages are compressed together. What is
// forgotten is left out, and all versions of a page but the last. Pages that are
// no text, which can be read and not searched, are documents without words.
func extract(ctx context.Context, key string, content []byte, forgotten takedown.Set) ([]*segments.Page, error) {
	reader, err := webobject.Open(content)
	if err != nil {
		return nil, err
	}
	var pages []*segments.Page
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
		if forgotten.ForgetsURL(entry.Object.URL) {
			continue
		}
		p := new(segments.Page)
		pages = append(pages, p)
		group.Go(func() error {
			var err error
			*p, err = pageOf(key, entry)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(pages, func(a, b *segments.Page) int {
		return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.URL, b.URL), b.Version.Compare(a.Version))
	})
	return slices.CompactFunc(pages, func(a, b *segments.Page) bool { return a.ID == b.ID }), ctx.Err()
}

func pageOf(key string, entry webobject.Entry) (segments.Page, error) {
	o := entry.Object
	a, err := address.Parse(o.URL)
	if err != nil {
		return segments.Page{}, err
	}
	var content document.Content
	searchable := document.Searchable(o.Data, o.MIME)
	if searchable {
		content = textOf(o)
	}
	print := content.Fingerprint()
	collections := slices.Sorted(slices.Values(o.Collections))
	code, _ := language.Identify(content.Title+"\n"+content.Body, content.Lang)
	return segments.Page{
		Document: segment.Document{
			ID:          a.ID,
			Version:     o.Version,
			URL:         o.URL,
			Site:        a.Site,
			Title:       content.Title,
			Headings:    content.Headings,
			Body:        content.Body,
			Lang:        code,
			MIME:        o.MIME,
			Collections: slices.Compact(collections),
			Fetched:     o.Downloaded,
			Package:     key,
			Offset:      entry.Place.Offset,
			Length:      entry.Place.Length,
			TitleHash:   print.TitleHash,
			TextHash:    print.TextHash,
			Simhash:     print.Simhash,
			Sketch:      print.Sketch,
		},
		Emphasis: content.Emphasis,
		Large:    content.Large,
		Silent:   !searchable,
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
