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

// page is a target of a batch, other than a sitemap, with the answer to its request.
type page struct {
	index   int // index of the target in the batch, and of its outcome
	target  batch.Target
	address address.Address
	behalf  behalf
	claims
	known  *batch.Look // last look, if the request may be conditional (see confirmable); else nil
	answer answer
	sum    uint64 // checksum of the answer (see answer.sum)
	parse  parser

	replayed bool   // the answer was read from an archive and not requested (see Replay)
	cut      string // why the archive has only the beginning of the answer; "": it has all
}

// parser parses the body of a page. document.Read is one.
type parser func(body []byte, contentType string) (*document.Document, error)

// digested is a page after the digester's work: compressed, with its links.
type digested struct {
	run   webobject.Run
	links []book.Link
	named *canonicalPage // description of this page, for other pages that name its address as their canonical one
	// not nil if the page may become an alias of its canonical address, which is decided later
	canonical *canonicalRequest
	panicked  string // cause of the parser's panic; "": it did not panic
}

// digest parses a page and decides whether it is stored. It completes the outcome o, and returns
// the compressed page, if it is stored, and its links. No other goroutine may use o meanwhile.
func (p page) digest(o *book.Outcome, compressors *sync.Pool) digested {
	if p.known != nil && p.known.Body == p.sum {
		p.confirm(o, p.sum)
		return digested{}
	}
	media := document.Sniff(p.answer.body, p.answer.header.Get("Content-Type"))
	switch isAsset := !document.IsReadable(media) && document.IsAsset(media); {
	case isAsset && p.wantsAssets() && !p.wasPage():
		return p.storeAsset(o, compressors)
	case isAsset, o.Asset:
		conclude(o, p.target, verdict{book.Skipped, "type", media})
		return digested{}
	}
	read, err := p.read()
	if errors.Is(err, document.ErrPanic) {
		panic(err) // guarded recovers from it
	}
	if err != nil {
		conclude(o, p.target, verdict{book.Skipped, "unreadable", err.Error()})
		return digested{}
	}
	if read == nil {
		conclude(o, p.target, verdict{book.Skipped, "type", media})
		return digested{}
	}
	read.Omitted = append(read.Omitted, p.omitted()...)
	return p.store(o, compressors, read, remark)
}

// omitted returns a text on the missing part of the answer, if p is replayed from a WARC archive
// that has only the beginning of the answer; else nil.
func (p page) omitted() []string {
	if p.cut == "" {
		return nil
	}
	return []string{"what the archive cut off: " + p.cut}
}

// wantsAssets reports whether assets are stored by a collection that requests the target, or by one
// that claims it whatever its topic.
func (p page) wantsAssets() bool {
	return p.behalf.settings.WantAssets(p.target.Collections...) || p.behalf.settings.WantAssets(p.sure...)
}

// wasPage reports whether the last fetch of the address stored a page, and not an asset.
func (p page) wasPage() bool {
	last := storedLook(p.target)
	return last != nil && !wasAsset(*last)
}

// storeAsset compresses an asset and, if it is a style sheet, finds the assets that it names. A
// link from a style sheet counts one hop, as a redirect does, so that chains of style sheets
// end.
func (p page) storeAsset(o *book.Outcome, compressors *sync.Pool) digested {
	stored := *o
	stored.Asset = true
	stored.ETag, stored.Modified = validators(p.answer, nil)
	stored.Digest, stored.Body = p.sum, p.sum
	stored.Collections = together(p.target.Collections, append(p.behalf.kept(p.target), p.sure...)...)
	links, omitted := p.assets(stored, stored.Depth, more(stored.Hops))
	conclude(&stored, p.target, remark(&document.Document{Omitted: append(omitted, p.omitted()...)}))
	packed, err := compress(compressors, p.object(stored, nil))
	if err != nil {
		conclude(o, p.target, verdict{book.Failed, "not storable", err.Error()})
		return digested{}
	}
	*o = stored
	return digested{run: packed, links: links}
}

// assets returns links to the assets of a page or style sheet, with the given depth and hops. If
// limits make it leave out some of them, the result omitted has a text for each such limit.
func (p page) assets(o book.Outcome, depth uint16, hops uint8) (links []book.Link, omitted []string) {
	found, omitted := document.Assets(p.answer.body, p.answer.header.Get("Content-Type"), p.address)
	links = make([]book.Link, len(found))
	for i, l := range found {
		links[i] = book.Link{
			Source: p.address.ID, Target: l.Address.URL, Place: l.Address.Place,
			Kind: l.Kind, Region: l.Region, Rel: l.Rel, Depth: depth, Hops: hops, Collection: collectionOf(o),
		}
	}
	return links, omitted
}

// remark returns the state Stored, with a reason and a detail that name the parts of the page that
// are left out or uncertain: parts beyond a limit, an undeclared charset, content that needs
// scripts.
func remark(read *document.Document) verdict {
	v := verdict{state: book.Stored}
	details := slices.Clone(read.Omitted)
	for i := range details {
		details[i] = "without " + details[i]
	}
	if read.Recoded != "" {
		v.reason = book.Recoded
		details = append(details, "the charset is "+read.Recoded)
	}
	if len(read.Omitted) > 0 {
		v.reason = book.Cut
	}
	if read.NeedsScripts {
		v.reason = book.NeedsScripts
	}
	v.detail = strings.Join(details, "; ")
	return v
}

// store completes the outcome o of a parsed page, and returns the page's links. Unless the page is
// an alias or unchanged, it is stored: store then also returns the compressed page, and takes the
// state and reason for o from verdictOf.
func (p page) store(o *book.Outcome, compressors *sync.Pool, read *document.Document, verdictOf func(*document.Document) verdict) digested {
	p.ask(read, collectionOf(*o))
	links := p.links(*o, read)
	if p.wantsAssets() {
		assets, omitted := p.assets(*o, more(o.Depth), 0)
		links = append(links, withoutKnown(assets, links)...)
		read.Omitted = append(read.Omitted, omitted...)
	}
	collections := p.collections(read)
	relevance := p.weigh(collections, links, read)
	link, to, elsewhere := p.canonical(*o, read)
	result := digested{links: links}
	if read.Canonical != "" || p.replayed { // in a replay, namedBy cannot request the page later
		result.named = nameOf(read)
	}
	if elsewhere {
		result.named.canonical = &to
		others := slices.DeleteFunc(slices.Clone(links), func(l book.Link) bool { return l.Kind == book.Canonical })
		if simpler(to, p.address) && !p.replayed {
			p.isAlias(o, link)
			result.links = append(others, link)
			return result
		}
		result.canonical = &canonicalRequest{p, link, to, others, *o}
	}
	digest := pageDigest(read, p.sum)
	if p.known != nil && p.known.Digest == digest {
		p.confirm(o, p.sum)
		return result // the page is unchanged, but its navigation may lead to new pages
	}
	stored := *o
	stored.ETag, stored.Modified = validators(p.answer, nil)
	stored.Digest, stored.Body = digest, p.sum
	stored.Weight = cmp.Or(relevance, stored.Weight)
	stored.Collections = collections
	conclude(&stored, p.target, verdictOf(read))
	task, err := compress(compressors, p.object(stored, read.Conversion()))
	if err != nil {
		conclude(o, p.target, verdict{book.Failed, "not storable", err.Error()})
		return digested{}
	}
	*o = stored
	result.run = task
	return result
}

// confirm writes into the outcome o that the page is unchanged. The parameter body is the checksum
// of the answer (see answer.sum).
func (p page) confirm(o *book.Outcome, body uint64) {
	o.Body = body
	o.ETag, o.Modified = validators(p.answer, p.known)
	conclude(o, p.target, verdict{state: book.Unchanged})
}

// read parses the page. It returns nil, without an error, if there is no parser for its media
// type.
func (p page) read() (*document.Document, error) {
	contentType := p.answer.header.Get("Content-Type")
	if !document.IsReadable(document.Sniff(p.answer.body, contentType)) {
		return nil, nil
	}
	return p.parse(p.answer.body, contentType)
}

// ask sets read.Robots: the robots directives of a parsed page for the agent of the collection. It
// takes them from the page's meta elements and from the header X-Robots-Tag.
func (p page) ask(read *document.Document, collection string) {
	agent := p.behalf.agentOf(collection)
	read.Robots = read.RobotsFor(agent).Add(robots.ParseTag(p.answer.header.Values("X-Robots-Tag"), agent))
}

// links returns the page's links. It leaves out links with rel=nofollow, except those to the
// canonical address and to assets.
func (p page) links(o book.Outcome, read *document.Document) []book.Link {
	found := read.Links(p.address)
	links := make([]book.Link, 0, len(found))
	for _, l := range found {
		if follow := l.Kind == book.Canonical || l.Kind == book.Asset; !follow && slices.Contains(strings.Fields(l.Rel), "nofollow") {
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

// weigh sets the weights of the page's links by the topic of the first of the collections that has
// one. It returns the weight that the page itself gets by this topic; 0 if no collection has a
// topic.
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

// withoutKnown returns the links in assets, except those to targets to which the parameter links
// already has a link of kind Asset. For example, an image with an alternative text is in both.
func withoutKnown(assets, links []book.Link) []book.Link {
	known := make(map[string]bool)
	for _, l := range links {
		if l.Kind == book.Asset {
			known[l.Target] = true
		}
	}
	return slices.DeleteFunc(assets, func(l book.Link) bool { return known[l.Target] })
}

// collectionOf returns the name of the first collection of an outcome, on whose behalf the URL is
// requested and its links are followed. It is "" if there is none.
func collectionOf(o book.Outcome) string {
	if len(o.Collections) == 0 {
		return ""
	}
	return o.Collections[0]
}

// sums is the CRC-64 table for checksums of answers. A cryptographic hash is not needed: a
// server that makes a new page with the old checksum only hides its own changes.
var sums = crc64.MakeTable(crc64.ECMA)

// sum returns the checksum of an answer for book.Outcome.Body. It is of the body and of the header
// fields Content-Type and X-Robots-Tag, and never 0.
func (a answer) sum() uint64 {
	sum := crc64.Checksum(a.body, sums)
	for _, name := range []string{"Content-Type", "X-Robots-Tag"} {
		for _, value := range a.header.Values(name) {
			sum = crc64.Update(sum, sums, []byte(value))
		}
	}
	return max(sum, 1)
}

// wordsBits is the number of the highest bits of book.Outcome.Digest that depend only on the page's
// words; the other bits depend on all text. If only the other bits have changed since the last
// fetch, the page gets a longer expiry class, as an unchanged page does.
const wordsBits = 16

// pageDigest returns the digest of a page for book.Outcome.Digest, never 0. Pages with the same
// text have the same digest, unless only one of them may be shown in results (noindex). For a page
// without text, the digest is made of sum, the checksum of its answer.
func pageDigest(read *document.Document, sum uint64) uint64 {
	says := read.Digest()
	text := cmp.Or(says.Text, sum)
	words := cmp.Or(says.Words, text)
	digest := words>>(64-wordsBits)<<(64-wordsBits) | text>>wordsBits
	if read.Robots.NoIndex {
		digest = ^digest
	}
	return max(digest, 1)
}

// sameWords reports whether two digests are of pages with the same words, whose texts may differ in
// numbers, dates and marks.
func sameWords(digest, other uint64) bool { return (digest^other)>>(64-wordsBits) == 0 }
