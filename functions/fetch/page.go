package fetch

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/document"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// page is a response of status 2xx on its way into the spool.
type page struct {
	index   int // of its target and outcome
	agent   string
	address address.Address
	answer  answer
}

// digested is what came of a page.
type digested struct {
	run   webobject.Run
	links []book.Link
}

// digest decides whether the page is stored, compresses it and finds its
// links. It writes the page's outcome, which nobody else touches.
func (p page) digest(o *book.Outcome, compressors *sync.Pool) digested {
	read, v := p.read()
	if settle(o, v); o.State != book.Stored {
		return digested{}
	}
	run, err := compress(compressors, p.object(*o))
	if err != nil {
		settle(o, verdict{book.Failed, "not storable", err.Error()})
		return digested{}
	}
	return digested{run: run, links: p.links(*o, read)}
}

// compress takes a compressor, of a megabyte, for no longer than it works:
// many batches wait for their hosts at the same time.
func compress(compressors *sync.Pool, o webobject.Object) (webobject.Run, error) {
	c, ok := compressors.Get().(*webobject.Compressor)
	if !ok {
		c = webobject.NewCompressor(webobject.DefaultLevel)
	}
	run, err := c.Compress(o)
	compressors.Put(c)
	return run, err
}

func (p page) object(o book.Outcome) webobject.Object {
	return webobject.Object{
		URL:         o.URL,
		MIME:        mediaType(p.answer),
		Data:        p.answer.body,
		Cost:        max(0, p.answer.ended.Sub(p.answer.began)),
		Downloaded:  o.Time,
		Expires:     o.Time.Add(webobject.Lifetime(o.Exponent)),
		Status:      o.Status,
		Header:      headerLines(p.answer.header),
		Address:     p.answer.address,
		Collections: o.Collections,
		Version:     o.Version,
	}
}

// mediaType returns the Content-Type as sent, with its charset, unless the
// bytes belie it.
func mediaType(a answer) string {
	sent := a.header.Get("Content-Type")
	media := document.Sniff(a.body, sent)
	if claimed, _, _ := strings.Cut(sent, ";"); strings.EqualFold(strings.TrimSpace(claimed), media) && len(sent) <= 255 {
		return sent
	}
	return media
}

// headerLines returns the response header by name, without cookies, up to
// maxHeaderLines bytes.
func headerLines(h map[string][]string) []webobject.Field {
	var lines []webobject.Field
	size := 0
	for name, values := range h {
		if strings.HasPrefix(name, "Set-Cookie") {
			continue
		}
		for _, value := range values {
			lines = append(lines, webobject.Field{Name: name, Value: value})
		}
	}
	slices.SortStableFunc(lines, func(a, b webobject.Field) int { return strings.Compare(a.Name, b.Name) })
	for i, line := range lines {
		if size += len(line.Name) + len(line.Value); size > maxHeaderLines {
			return lines[:i]
		}
	}
	return lines
}

// read returns the page as it is read, and the verdict on it: stored if it can
// be.
func (p page) read() (*document.Document, verdict) {
	contentType := p.answer.header.Get("Content-Type")
	if media := document.Sniff(p.answer.body, contentType); !document.IsReadable(media) {
		return nil, verdict{book.Skipped, "type", media}
	}
	d, err := document.Read(p.answer.body, contentType)
	if err != nil {
		return nil, verdict{book.Skipped, "unreadable", err.Error()}
	}
	return d, verdict{state: book.Stored}
}

// links returns what the page refers to.
func (p page) links(o book.Outcome, read *document.Document) []book.Link {
	read.Robots = read.RobotsFor(p.agent).Add(robots.ParseTag(p.answer.header.Values("X-Robots-Tag"), p.agent))
	found := read.Links(p.address)
	links := make([]book.Link, len(found))
	for i, l := range found {
		links[i] = book.Link{
			Source: p.address.ID, Target: l.Address.URL, Place: l.Address.Place,
			Kind: l.Kind, Region: l.Region, Rel: l.Rel, Anchor: l.Anchor, Around: l.Around,
			Depth: deeper(o.Depth), Collection: collection(o),
		}
	}
	return links
}

func deeper(depth uint16) uint16 { return min(depth, math.MaxUint16-1) + 1 }

// collection returns the one on whose behalf links are decided.
func collection(o book.Outcome) string {
	if len(o.Collections) == 0 {
		return ""
	}
	return o.Collections[0]
}
