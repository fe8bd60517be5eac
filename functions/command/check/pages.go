package check

import (
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// page returns what the report says of a page. If the page is not stored itself, but leads by a redirect
// or a canonical link to an address that the collection admits, the result next is this address;
// otherwise it is nil. page adds the admitted targets of all other links to c.pages, until c.pages has
// Task.Pages elements.
func (c *checker) page(r result) (p Page, next *target, err error) {
	o := r.outcome
	p = Page{URL: r.address.URL, Seed: r.seed, From: r.from, Depth: r.depth, State: o.State.String(), Reason: o.Reason, Detail: o.Detail, Status: o.Status}
	if r.page != nil {
		c.read(&p, r)
	}
	var links groups
	for _, l := range r.links {
		if l.Kind == book.Sitemap {
			continue
		}
		to, reason, err := c.decide(l, r.address.ID)
		if err != nil {
			return p, nil, err
		}
		follow := target{address: to, depth: l.Depth, hops: l.Hops, weight: l.Weight}
		if l.Kind == book.Redirect || l.Kind == book.Canonical {
			if to.ID != r.address.ID && o.State != book.Stored {
				p.To, p.Refused = to.URL, reason
				if reason == "" {
					follow.from = p.URL
					next = &follow
				}
			}
			continue
		}
		if l.Kind == book.Asset && !c.collection.Assets {
			continue
		}
		if links.add(reason, c.rule(l, to, reason), to) && reason == "" && l.Kind != book.Asset && len(c.pages) < c.Pages && c.isNew(to) {
			c.pages = append(c.pages, follow)
		}
	}
	p.Links = links.sorted()
	return p, next, nil
}

// read adds to the report of a page what the stored page says.
func (c *checker) read(p *Page, r result) {
	p.MIME = r.page.MIME
	if document.IsAsset(r.page.MIME) {
		return
	}
	d, err := document.Stored(*r.page)
	if err != nil {
		p.Detail = err.Error()
		return
	}
	asked := d.RobotsFor(c.collection.Agent).Add(robots.ParseTag(header(*r.page, "X-Robots-Tag"), c.collection.Agent))
	p.NoIndex, p.NoFollow = asked.NoIndex, asked.NoFollow
	content := d.Structured(r.address)
	p.Title, p.Language, p.LangSource = d.Title, content.Lang, content.LangSource
	p.WrongLanguage = c.collection.Language != "" && p.Language != c.collection.Language
}

// header returns the values of a header field in the answer with which a page was received.
func header(o webobject.Object, name string) (values []string) {
	for _, field := range o.Header {
		if strings.EqualFold(field.Name, name) {
			values = append(values, field.Value)
		}
	}
	return values
}
