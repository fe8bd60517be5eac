package document

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/linkeddata"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/mainpart"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/structured"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/text/language"
)

// Structure reads a stored page, and returns its main part with its structure: headings, lists,
// tables. It fails for a page without text, such as an image, and, with ErrPanic, for a page
// that makes a reader panic.
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
	p = d.Structured(a)
	if date, _ := d.Date(o); !date.IsZero() {
		p.Date = date.Format(time.DateOnly)
	}
	return p, nil
}

// lastModified returns the value of a stored page's response header Last-Modified; "" if it has none.
func lastModified(o webobject.Object) string {
	for _, field := range o.Header {
		if strings.EqualFold(field.Name, "Last-Modified") {
			return field.Value
		}
	}
	return ""
}

// Structured returns the main part of the page with its structure, and the page's metadata. a is
// the address of the page, against which all addresses are resolved.
func (d *Document) Structured(a address.Address) structured.Page {
	f := d.facts()
	p := structured.Page{
		URL: a.URL, Site: f.site, Description: f.description, Author: f.author,
		Published: f.published, Modified: f.modified, Charset: d.charset, Type: f.kind,
		Title: withoutSite(d.Title, f.site),
	}
	r := d.resolver(a, 0)
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
	if !d.converted {
		p.PageKind = string(mainpart.KindOf(d.page, d.data))
	}
	if d.plain != "" {
		p.Parts = []structured.Part{}
		for paragraph := range strings.SplitSeq(d.plain, "\n\n") {
			if paragraph = strings.TrimSpace(paragraph); paragraph != "" {
				p.Parts = append(p.Parts, structured.Plain(paragraph))
			}
		}
		p.Lang, p.LangSource = d.language(d.plain)
		return p
	}
	kept, _ := d.main()
	p.Parts = structured.Parts(d.page, kept, resolve, d.fragmentsByElement())
	main := d.passageOf(kept)
	if told := d.told(); told.exceeds(main) {
		main.addLines(told)
		for _, paragraph := range told {
			p.Parts = append(p.Parts, structured.Plain(paragraph))
		}
	}
	p.Lang, p.LangSource = d.language(string(main.text))
	return p
}

// language returns the language of the page, found from the language that the page declares and
// from the text of its main part. The result source says how the language was found: declared,
// guessed, or overruled (the text shows another language than the declared one).
func (d *Document) language(text string) (code, source string) {
	code, from := language.Decide(d.Title+"\n"+text, d.Lang)
	return code, string(from)
}

// SiteName returns the name of the site that the page declares (og:site_name, or the name of the
// WebSite in its JSON-LD); "" if it declares none.
func (d *Document) SiteName() string { return cut(d.facts().site, MaxTitle) }

// withoutSite removes the name of the site from the beginning or the end of a title: "News |
// Example" becomes "News".
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

// facts is the metadata of a page, from its meta elements and JSON-LD.
type facts struct{ site, description, author, published, modified, kind string }

// The names of meta elements for the time of a page's publication and that of its last change: of The
// Open Graph protocol, Dublin Core, Schema.org, Highwire Press (which Google Scholar reads), Parse.ly,
// Sailthru, Microsoft's documentation, and plain ones.
var (
	namesOfPublished = strings.Fields(`
		article:published_time og:article:published_time og:published_time article:published og:publish_date datepublished uploaddate
		date dc.date dc.date.created dc.date.issued dcterms.created dcterms.date dcterms.issued
		citation_online_date citation_publication_date citation_date parsely-pub-date sailthru.date
		pubdate publishdate publish_date publish-date published published-date published-time publication_date publication-date`)
	namesOfModified = strings.Fields(`
		article:modified_time og:article:modified_time og:modified_time og:updated_time article:modified datemodified dateupdated
		dc.date.modified dcterms.modified updated_at ms.date last-modified last_modified last-updated lastmod modified-date modified-time
		revised`)
)

// facts returns the metadata of the page: from its meta elements (The Open Graph protocol; Dublin
// Core) and, if they lack a value, from its JSON-LD (Schema.org).
func (d *Document) facts() (f facts) {
	for _, m := range d.page.Metas {
		content := joinWords(m.Content)
		switch name := strings.ToLower(cmp.Or(m.Property, m.Name, m.Item)); name {
		case "og:site_name", "application-name":
			set(&f.site, content)
		case "og:description", "description", "dc.description":
			set(&f.description, content)
		case "author", "article:author", "dc.creator":
			set(&f.author, content)
		default:
			switch {
			case slices.Contains(namesOfPublished, name):
				set(&f.published, content)
			case slices.Contains(namesOfModified, name):
				set(&f.modified, content)
			}
		}
	}
	if strings.HasPrefix(f.author, "http") {
		f.author = ""
	}
	f.read(d.data)
	return f
}

// read takes from JSON-LD the values that f still lacks. It reads only the top-level objects and
// the objects of a top-level @graph. Of several values the first counts.
func (f *facts) read(data *linkeddata.Data) {
	for i := range data.Objects {
		if isTop(data, int32(i)) && !isAbout(data.Objects[i].Type) {
			set(&f.kind, data.Objects[i].Type)
		}
	}
	for _, v := range data.Values {
		o, key := v.Object, v.Key
		if inner := &data.Objects[o]; key == "name" && inner.Key == "author" { // the name of a person
			o, key = inner.Parent, "author"
		}
		if o < 0 || !isTop(data, o) {
			continue
		}
		kind, text := data.Objects[o].Type, cut(joinWords(string(v.Text)), MaxTitle)
		switch {
		case kind == "WebSite" && key == "name":
			set(&f.site, text)
		case isAbout(kind):
		case key == "author":
			set(&f.author, text)
		case key == "datePublished":
			set(&f.published, text)
		case key == "dateModified":
			set(&f.modified, text)
		case key == "description":
			set(&f.description, text)
		}
	}
}

// isTop reports whether an object of JSON-LD is a top-level object, or one of a top-level @graph.
func isTop(data *linkeddata.Data, object int32) bool {
	for ; object >= 0; object = data.Objects[object].Parent {
		if key := data.Objects[object].Key; key != "" && key != "@graph" {
			return false
		}
	}
	return true
}

// isAbout reports whether objects of a JSON-LD type describe the site, a person or a part of the
// page, and not the subject of the page.
func isAbout(kind string) bool {
	switch kind {
	case "WebSite", "Organization", "Person", "BreadcrumbList", "ImageObject", "SearchAction":
		return true
	}
	return false
}
