package fetch

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/document"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// page is a response of status 2xx on its way into the spool.
type page struct {
	index   int // of its target and outcome
	target  batch.Target
	behalf  behalf
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
	read, v := p.read(collectionOf(*o))
	if v.state != book.Stored {
		conclude(o, p.target, v)
		return digested{}
	}
	if link, elsewhere := p.canonical(*o, read); elsewhere {
		conclude(o, p.target, verdict{book.Skipped, "canonical", "to " + link.Target})
		links, _ := p.links(*o, read)
		others := slices.DeleteFunc(links, func(l book.Link) bool { return l.Kind == book.Canonical })
		return digested{links: append(others, link)}
	}
	fingerprint := p.fingerprint(read)
	if p.target.Last != nil && p.target.Last.Digest == fingerprint {
		o.ETag, o.Modified = validators(p.answer, p.target.Last)
		conclude(o, p.target, verdict{state: book.Unchanged})
		return digested{}
	}
	stored := *o
	stored.ETag, stored.Modified = validators(p.answer, nil)
	stored.Digest = fingerprint
	conclude(&stored, p.target, v)
	run, err := compress(compressors, p.object(stored))
	if err != nil {
		conclude(o, p.target, verdict{book.Failed, "not storable", err.Error()})
		return digested{}
	}
	links, relevance := p.links(stored, read)
	stored.Weight = cmp.Or(relevance, stored.Weight)
	*o = stored
	return digested{run: run, links: links}
}

// fingerprint returns what is equal, and not 0, while a page says the same. A page
// without words is told by its bytes, and that it must not be shown is part of
// what it says.
func (p page) fingerprint(read *document.Document) uint64 {
	digest := read.Digest()
	if digest == 0 {
		hash := fnv.New64a()
		_, _ = hash.Write(p.answer.body)
		digest = hash.Sum64()
	}
	if read.Robots.NoIndex {
		digest = ^digest
	}
	return max(digest, 1)
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

// read returns the page as it is read, with what its header asks of our agent,
// and the verdict on it: stored if it can be.
func (p page) read(collection string) (*document.Document, verdict) {
	contentType := p.answer.header.Get("Content-Type")
	if media := document.Sniff(p.answer.body, contentType); !document.IsReadable(media) {
		return nil, verdict{book.Skipped, "type", media}
	}
	d, err := document.Read(p.answer.body, contentType)
	if err != nil {
		return nil, verdict{book.Skipped, "unreadable", err.Error()}
	}
	agent := p.behalf.agentOf(collection)
	d.Robots = d.RobotsFor(agent).Add(robots.ParseTag(p.answer.header.Values("X-Robots-Tag"), agent))
	return d, verdict{state: book.Stored}
}

// links returns what the page refers to, but for what it asks not to follow, and its own weight in a topic crawl, 0
// else.
func (p page) links(o book.Outcome, read *document.Document) ([]book.Link, uint8) {
	var links []book.Link
	for _, l := range read.Links(p.address) {
		if follow := l.Kind == book.Canonical || l.Kind == book.Image; !follow && slices.Contains(strings.Fields(l.Rel), "nofollow") {
			continue
		}
		links = append(links, book.Link{
			Source: p.address.ID, Target: l.Address.URL, Place: l.Address.Place,
			Kind: l.Kind, Region: l.Region, Rel: l.Rel, Anchor: l.Anchor, Around: l.Around,
			Depth: deeper(o.Depth), Collection: collectionOf(o),
		})
	}
	topic := p.behalf.topicOf(collectionOf(o))
	if topic == nil {
		return links, 0
	}
	relevance := topic.Page(read.Title, read.Visible())
	weigh(topic, links, relevance, p.target.Weight)
	return links, weight(relevance)
}

func deeper(depth uint16) uint16 { return min(depth, math.MaxUint16-1) + 1 }

// collectionOf returns the one on whose behalf links are decided.
func collectionOf(o book.Outcome) string {
	if len(o.Collections) == 0 {
		return ""
	}
	return o.Collections[0]
}
