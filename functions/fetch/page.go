package fetch

import (
	"cmp"
	"errors"
	"hash/crc64"
	"slices"
	"strings"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// page is a target that is asked for, and then a response of status 2xx on its
// way into the spool.
type page struct {
	index   int // of its target and outcome
	target  batch.Target
	address address.Address
	behalf  behalf
	claims
	known  *batch.Look // what it may stay as, see confirmable
	answer answer
	sum    uint64 // of the answer
	parse  parser
}

// parser reads a page, as document.Read does.
type parser func(body []byte, contentType string) (*document.Document, error)

// digested is what came of a page.
type digested struct {
	run      webobject.Run
	links    []book.Link
	named    *canonicalPage // of a page that wants to be known by an address
	wish     *wish          // to be known by another than its own, if that is proved
	panicked string         // what the parser said that broke down over the page; "": it did not
}

// digest decides whether the page is stored, compresses it and finds its
// links. It writes the page's outcome, which nobody else touches.
func (p page) digest(o *book.Outcome, compressors *sync.Pool) digested {
	if p.known != nil && p.known.Body == p.sum {
		p.confirm(o, p.sum)
		return digested{}
	}
	read, err := p.read()
	if errors.Is(err, document.ErrPanic) {
		panic(err) // see guarded
	}
	if err != nil {
		conclude(o, p.target, verdict{book.Skipped, "unreadable", err.Error()})
		return digested{}
	}
	if read == nil {
		conclude(o, p.target, verdict{book.Skipped, "type", document.Sniff(p.answer.body, p.answer.header.Get("Content-Type"))})
		return digested{}
	}
	return p.store(o, compressors, read, verdict{state: book.Stored})
}

// store has a page stored as it was read, unless it is another's or says what
// it said, and finds its links.
func (p page) store(o *book.Outcome, compressors *sync.Pool, read *document.Document, v verdict) digested {
	p.ask(read, collectionOf(*o))
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
		if simpler(to, p.address) {
			p.isAlias(o, link)
			result.links = append(others, link)
			return result
		}
		result.wish = &wish{p, link, to, others, *o}
	}
	digest := fingerprint(read, p.sum)
	if p.known != nil && p.known.Digest == digest {
		p.confirm(o, p.sum)
		return result // the navigation may lead to new pages
	}
	stored := *o
	stored.ETag, stored.Modified = validators(p.answer, nil)
	stored.Digest, stored.Body = digest, p.sum
	stored.Weight = cmp.Or(relevance, stored.Weight)
	stored.Collections = collections
	conclude(&stored, p.target, v)
	task, err := compress(compressors, p.object(stored))
	if err != nil {
		conclude(o, p.target, verdict{book.Failed, "not storable", err.Error()})
		return digested{}
	}
	*o = stored
	result.run = task
	return result
}

func (p page) confirm(o *book.Outcome, body uint64) {
	o.Body = body
	o.ETag, o.Modified = validators(p.answer, p.known)
	conclude(o, p.target, verdict{state: book.Unchanged})
}

// read returns the page as its parser reads it, nil if none reads its type.
func (p page) read() (*document.Document, error) {
	contentType := p.answer.header.Get("Content-Type")
	if !document.IsReadable(document.Sniff(p.answer.body, contentType)) {
		return nil, nil
	}
	return p.parse(p.answer.body, contentType)
}

// ask adds what the page and its header ask of our agent.
func (p page) ask(read *document.Document, collection string) {
	agent := p.behalf.agentOf(collection)
	read.Robots = read.RobotsFor(agent).Add(robots.ParseTag(p.answer.header.Values("X-Robots-Tag"), agent))
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

// sums makes the sums of answers. A check is enough for them: who forges an
// answer with the sum of the one before hides only its own changes.
var sums = crc64.MakeTable(crc64.ECMA)

// sum returns book.Outcome.Body of a page: equal, and not 0, while it is sent as
// the same bytes, and the header says the same of what they mean and of what may
// be done with them.
func (a answer) sum() uint64 {
	sum := crc64.Checksum(a.body, sums)
	for _, name := range []string{"Content-Type", "X-Robots-Tag"} {
		for _, value := range a.header.Values(name) {
			sum = crc64.Update(sum, sums, []byte(value))
		}
	}
	return max(sum, 1)
}

// wordsBits are the highest of book.Outcome.Digest: of the page's words, which set
// its pace. The others tell its text.
const wordsBits = 16

// fingerprint returns book.Outcome.Digest of a page: equal, and not 0, while it
// says the same. A page that shows no text is told by its sum, and that it must not
// be shown is part of what it says.
func fingerprint(read *document.Document, sum uint64) uint64 {
	says := read.Digest()
	text := cmp.Or(says.Text, sum)
	words := cmp.Or(says.Words, text)
	digest := words>>(64-wordsBits)<<(64-wordsBits) | text>>wordsBits
	if read.Robots.NoIndex {
		digest = ^digest
	}
	return max(digest, 1)
}

// sameWords reports whether what differs between two digests is less than words:
// numbers, dates, marks.
func sameWords(digest, other uint64) bool { return (digest^other)>>(64-wordsBits) == 0 }
