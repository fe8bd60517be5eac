package fetch

import (
	"cmp"
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

// page is a target that is asked for, and then a response of status 2xx on its
// way into the spool.
type page struct {
	index         int // of its target and outcome
	target        batch.Target
	address       address.Address
	behalf        behalf
	sure, topical []string    // see settings.Claiming
	known         *batch.Look // what it may stay as, see confirmable
	answer        answer
}

// digested is what came of a page.
type digested struct {
	run   webobject.Run
	links []book.Link
	named *named // of a page that wants to be known by an address
	wish  *wish  // to be known by another than its own, if that is proved
}

// digest decides whether the page is stored, compresses it and finds its
// links. It writes the page's outcome, which nobody else touches.
func (p page) digest(o *book.Outcome, compressors *sync.Pool) digested {
	body := p.answer.sum()
	if p.known != nil && p.known.Body == body {
		p.confirm(o, body)
		return digested{}
	}
	read, v := p.read(collectionOf(*o))
	if v.state != book.Stored {
		conclude(o, p.target, v)
		return digested{}
	}
	links := p.links(*o, read)
	collections := p.collections(read)
	relevance := p.weigh(collections, links, read)
	link, to, elsewhere := p.canonical(*o, read)
	result := digested{links: links}
	if read.Canonical != "" {
		result.named = nameOf(read)
	}
	if elsewhere {
		result.named.wish = &to
		others := slices.DeleteFunc(slices.Clone(links), func(l book.Link) bool { return l.Kind == book.Canonical })
		if p.target.Last == nil && simpler(to, p.address) {
			p.isAlias(o, link)
			result.links = append(others, link)
			return result
		}
		result.wish = &wish{p, link, to, others, *o}
	}
	digest := fingerprint(read, body)
	if p.known != nil && p.known.Digest == digest {
		p.confirm(o, body)
		return result // the navigation may lead to new pages
	}
	stored := *o
	stored.ETag, stored.Modified = validators(p.answer, nil)
	stored.Digest, stored.Body = digest, body
	stored.Weight = cmp.Or(relevance, stored.Weight)
	stored.Collections = collections
	conclude(&stored, p.target, v)
	run, err := compress(compressors, p.object(stored))
	if err != nil {
		conclude(o, p.target, verdict{book.Failed, "not storable", err.Error()})
		return digested{}
	}
	*o = stored
	result.run = run
	return result
}

// confirm has the page stay what it was.
func (p page) confirm(o *book.Outcome, body uint64) {
	o.Body = body
	o.ETag, o.Modified = validators(p.answer, p.known)
	conclude(o, p.target, verdict{state: book.Unchanged})
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

// links returns what the page refers to, but for what it asks not to follow.
func (p page) links(o book.Outcome, read *document.Document) []book.Link {
	found := read.Links(p.address)
	links := make([]book.Link, 0, len(found))
	for _, l := range found {
		if follow := l.Kind == book.Canonical || l.Kind == book.Image; !follow && slices.Contains(strings.Fields(l.Rel), "nofollow") {
			continue
		}
		links = append(links, book.Link{
			Source: p.address.ID, Target: l.Address.URL, Place: l.Address.Place,
			Kind: l.Kind, Region: l.Region, Rel: l.Rel, Anchor: l.Anchor, Around: l.Around,
			Depth: more(o.Depth), Collection: collectionOf(o),
		})
	}
	return links
}

// weigh gives the links of the page their weights by the topic of the first of
// its collections that has one, and returns the page's own, which is 0 if none
// has.
func (p page) weigh(collections []string, links []book.Link, read *document.Document) uint8 {
	for _, name := range collections {
		if topic := p.behalf.topicOf(name); topic != nil {
			relevance := topic.Page(read.Title, read.Visible())
			weigh(topic, links, relevance, p.target.Weight)
			return weight(relevance)
		}
	}
	return 0
}

// collectionOf returns the one on whose behalf links are decided.
func collectionOf(o book.Outcome) string {
	if len(o.Collections) == 0 {
		return ""
	}
	return o.Collections[0]
}
