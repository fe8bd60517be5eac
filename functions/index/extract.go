package index

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"

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
// no text, or that are not to be shown, are documents without words.
func extract(ctx context.Context, key string, content []byte, forgotten takedown.Set, wishes wishes) ([]*segments.Page, error) {
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
			*p, err = pageOf(key, entry, wishes)
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

func pageOf(key string, entry webobject.Entry, wishes wishes) (segments.Page, error) {
	o := entry.Object
	a, err := address.Parse(o.URL)
	if err != nil {
		return segments.Page{}, err
	}
	content, shown := read(o, wishes)
	code, _ := language.Identify(content.Title+"\n"+content.Body, content.Lang)
	if !wishes.inLanguage(o.Collections, code) {
		content, shown = document.Content{}, false
	}
	print := content.Fingerprint()
	collections := slices.Sorted(slices.Values(o.Collections))
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
		Silent:   !shown,
	}, nil
}

// read returns the text of a page, and whether it is shown. One that cannot be
// read is found by its address alone, every time, and does not keep its package
// from the index.
func read(o webobject.Object, wishes wishes) (content document.Content, shown bool) {
	if !document.Searchable(o.Data, o.MIME) {
		return document.Content{}, false
	}
	name := document.NameOf(o.URL)
	defer func() {
		if recover() != nil {
			content, shown = document.Content{Title: name}, true
		}
	}()
	d, err := document.Read(o.Data, o.MIME)
	if err != nil {
		return document.Content{Title: name}, true
	}
	if wishes.refused(o, d) {
		return document.Content{}, false
	}
	content = d.Content()
	content.Title = cmp.Or(content.Title, name)
	return content, true
}

// tags returns the values of X-Robots-Tag.
func tags(o webobject.Object) (values []string) {
	for _, field := range o.Header {
		if strings.EqualFold(field.Name, "X-Robots-Tag") {
			values = append(values, field.Value)
		}
	}
	return values
}
