package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/fingerprint"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/text/language"
)

// extractor makes the documents of a segment from stored pages.
type extractor struct {
	rules pageRules
	// parser of pages: document.Stored, except in tests
	parse func(webobject.Object) (*document.Document, error)
}

// page returns the document of a page. If the parser panics on the page, only the page's head is
// parsed. If that panics, too, the document has only a title made of the address. So such a page
// does not prevent its package from being indexed. The parameter key is the package's key.
func (e extractor) page(ctx context.Context, key string, entry webobject.Entry) (p draft, err error) {
	o := entry.Object
	for _, read := range []func(webobject.Object) (*document.Document, error){e.parse, head, nameless} {
		var broken error
		p, err, broken = e.attempt(key, entry, read)
		if broken == nil {
			return p, err
		}
		message.Note(ctx, book.Panicked, slog.String("package", key), slog.String("url", o.URL), slog.Any("reason", broken))
		err = broken
	}
	return p, err
}

// head parses only the head of a page, for pages on which the parser panics.
func head(o webobject.Object) (*document.Document, error) {
	return document.Head(o.Data, o.MIME, o.URL), nil
}

// nameless takes the place of the parser for a page when even parsing only its head panics. It
// always fails, so that the document gets only a title, made of the page's address.
func nameless(webobject.Object) (*document.Document, error) { return nil, errors.New("is not read") }

// attempt makes the document of a page, which it parses by the given function. If the parser or
// anything else panics, the result broken is an error that wraps document.ErrPanic. The result err
// is for all other errors.
func (e extractor) attempt(key string, entry webobject.Entry, read func(webobject.Object) (*document.Document, error)) (p draft, err, broken error) {
	defer func() {
		if reason := recover(); reason != nil {
			broken = fmt.Errorf("%w: %v", document.ErrPanic, reason)
		}
	}()
	o := entry.Object
	a, err := address.Parse(o.URL)
	if err != nil {
		return p, err, nil
	}
	content, broken := e.content(a, o, read)
	if broken != nil {
		return p, nil, broken
	}
	return e.document(a, key, entry, content), nil, nil
}

// reading holds what a segment stores of a page, except the page's address and place.
type reading struct {
	document.Content
	images []segment.Image
	// addresses of the page's translations, as the page names them
	translations []address.Address
	date         time.Time // the page's own date; the zero time if it is not known
	dateSource   document.DateSource
	site         string // name that the start page of a site gives the site; "" for other pages, and if the page names none
	// searches may find the page: it does not say noindex, and has a media type from which text can
	// be read
	shown bool
}

// document makes the document of a page from the page's content. If the content may not be shown,
// or if the page's collections do not want its language, the document has no words, so that no
// search finds it. The parameter key is the package's key.
func (e extractor) document(a address.Address, key string, entry webobject.Entry, content reading) draft {
	o := entry.Object
	code, source := language.Decide(content.Title+"\n"+content.Body, content.Lang)
	if !e.rules.inLanguage(o.Collections, code) {
		content = reading{}
	}
	print := fingerprint.Of(content.Title, content.Body)
	collections := slices.Sorted(slices.Values(o.Collections))
	p := draft{segments.Page{
		Document: segment.Document{
			ID:          a.ID,
			Version:     o.Version,
			URL:         o.URL,
			Site:        a.Site,
			Title:       content.Title,
			Headings:    content.Headings,
			Body:        content.Body,
			Lang:        code,
			LangSource:  string(source),
			MIME:        o.MIME,
			Collections: slices.Compact(collections),
			Fetched:     o.Downloaded,
			Package:     key,
			Offset:      entry.Place.Offset,
			Length:      entry.Place.Length,
			Translation: translationOf(a, code, content.translations),
			Date:        content.date,
			Sections:    content.Sections,
			Entries:     content.Entries,
			TitleHash:   print.TitleHash,
			TextHash:    print.TextHash,
			Simhash:     print.Simhash,
			Sketch:      print.Sketch,
		},
		Outside:  content.Outside,
		Emphasis: content.Emphasis,
		Large:    content.Large,
		Silent:   !content.shown,
	}, content.Blocks, content.dateSource}
	if content.shown {
		p.Images, p.SiteNames = content.images, e.rules.siteNames(a, o.Collections, content)
	}
	return p
}

// content returns what a segment stores of a page, except its address (the parameter a). For a page
// that cannot be read, this is only a title, made of the address. If the parser panics, content
// returns an error (broken) instead.
func (e extractor) content(
	a address.Address, o webobject.Object, read func(webobject.Object) (*document.Document, error),
) (content reading, broken error) {
	if !document.Searchable(o.Data, o.MIME) {
		return reading{}, nil
	}
	name := document.NameOf(o.URL)
	d, err := read(o)
	switch {
	case errors.Is(err, document.ErrPanic):
		return reading{}, err
	case err != nil:
		return reading{Content: document.Content{Title: name}, shown: true}, nil
	case e.rules.refused(o, d):
		return reading{}, nil
	}
	content = reading{Content: d.Content(), shown: true}
	content.Title = cmp.Or(content.Title, name)
	content.images, content.translations = d.Images(a, content.Content), d.Translations(a)
	content.date, content.dateSource = d.Date(o)
	if e.rules.isStart(a, o.Collections) {
		content.site = d.SiteName()
	}
	return content, nil
}

// values returns the values of a header field in the HTTP answer in which a page was received.
func values(o webobject.Object, name string) (all []string) {
	for _, field := range o.Header {
		if strings.EqualFold(field.Name, name) {
			all = append(all, field.Value)
		}
	}
	return all
}
