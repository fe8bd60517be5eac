package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/structured"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Structure reads a stored page, and returns its main part with its structure. It fails
// for a page without text, such as an image, and, with ErrPanic, for one that makes a
// reader panic.
func Structure(o webobject.Object) (p structured.Page, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			p, err = structured.Page{}, fmt.Errorf("%w: %v", ErrPanic, reason)
		}
	}()
	if media := Sniff(o.Data, o.MIME); !IsReadable(media) {
		return structured.Page{}, errors.New(media + " has no text")
	}
	d, err := Stored(o)
	if err != nil {
		return structured.Page{}, err
	}
	a, err := address.Parse(o.URL)
	if err != nil {
		return structured.Page{}, err
	}
	return d.Structured(a), nil
}

// Structured returns the main part of the page with its structure, and what the page
// tells of itself. Addresses are resolved against that of the page.
func (d *Document) Structured(a address.Address) structured.Page {
	told := d.facts()
	p := structured.Page{
		URL: a.URL, Site: told.site, Description: told.description, Author: told.author,
		Published: told.published, Modified: told.modified, Lang: d.Lang, Charset: d.charset, Type: told.kind,
		Title: withoutSite(d.Title, told.site),
	}
	r := newResolver(a, 0)
	if b, err := a.Resolve(d.Base); err == nil && d.Base != "" {
		r.base = b
	}
	resolve := func(reference string) string {
		target, ok := r.resolve(reference)
		if !ok {
			return ""
		}
		if _, fragment, found := strings.Cut(reference, "#"); found && fragment != "" {
			return target.URL + "#" + fragment
		}
		return target.URL
	}
	if d.Canonical != "" {
		p.Canonical = resolve(d.Canonical)
	}
	if d.plain != "" {
		p.Parts = []structured.Part{}
		for paragraph := range strings.SplitSeq(d.plain, "\n\n") {
			if paragraph = strings.TrimSpace(paragraph); paragraph != "" {
				p.Parts = append(p.Parts, structured.Plain(paragraph))
			}
		}
		set(&p.Lang, guess(d.plain))
		return p
	}
	kept, _ := d.main()
	p.Parts = structured.Parts(d.page, kept, resolve)
	set(&p.Lang, guess(string(d.passageOf(kept).text)))
	return p
}

// withoutSite takes the name of the site from the beginning or end of a title.
func withoutSite(title, site string) string {
	if site == "" {
		return title
	}
	for _, separator := range []string{" | ", " - ", " – ", " — ", " · ", " :: ", ": "} {
		if short, found := strings.CutSuffix(title, separator+site); found {
			return short
		}
		if short, found := strings.CutPrefix(title, site+separator); found {
			return short
		}
	}
	return title
}

// facts is what a page tells of itself in meta elements and JSON-LD.
type facts struct{ site, description, author, published, modified, kind string }

// facts returns what the page's meta elements say (The Open Graph protocol; Dublin Core),
// and, where they say nothing, its JSON-LD (Schema.org).
func (d *Document) facts() (f facts) {
	for _, m := range d.page.Metas {
		content := fold(m.Content)
		switch strings.ToLower(cmp.Or(m.Property, m.Name)) {
		case "og:site_name", "application-name":
			set(&f.site, content)
		case "og:description", "description", "dc.description":
			set(&f.description, content)
		case "author", "article:author", "dc.creator":
			set(&f.author, content)
		case "article:published_time", "date", "dc.date", "datepublished", "dcterms.created":
			set(&f.published, content)
		case "article:modified_time", "og:updated_time", "last-modified", "datemodified", "dcterms.modified":
			set(&f.modified, content)
		}
	}
	if strings.HasPrefix(f.author, "http") {
		f.author = ""
	}
	for _, data := range d.page.Data {
		var value any
		if json.Unmarshal(bytes.TrimSpace(data), &value) == nil {
			f.read(value, 0)
		}
	}
	return f
}

// maxData is to how many levels of lists and @graph JSON-LD is read.
const maxData = 8

// read sets the facts that are not set yet from an object of JSON-LD, or a list of objects,
// at a depth of nesting.
func (f *facts) read(value any, depth int) {
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			if depth < maxData {
				f.read(one, depth+1)
			}
		}
	case map[string]any:
		switch kind := firstText(value["@type"]); kind {
		case "WebSite", "Organization", "Person", "BreadcrumbList", "ImageObject", "SearchAction":
			if kind == "WebSite" {
				set(&f.site, firstText(value["name"]))
			}
		default:
			set(&f.kind, kind)
			set(&f.author, firstText(value["author"]))
			set(&f.published, firstText(value["datePublished"]))
			set(&f.modified, firstText(value["dateModified"]))
			set(&f.description, firstText(value["description"]))
		}
		if depth < maxData {
			f.read(value["@graph"], depth+1)
		}
	}
}

// firstText returns the text of a value of JSON-LD: a string itself, the name of an object,
// or that of the first element of a list. It is "" if there is none.
func firstText(value any) string {
	switch value := value.(type) {
	case string:
		return cut(fold(value), MaxTitle)
	case []any:
		if len(value) > 0 {
			if text, is := value[0].(string); is {
				return cut(fold(text), MaxTitle)
			}
			if object, is := value[0].(map[string]any); is {
				return firstText(object["name"])
			}
		}
	case map[string]any:
		if name, is := value["name"].(string); is {
			return cut(fold(name), MaxTitle)
		}
	}
	return ""
}
