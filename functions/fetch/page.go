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

// page is a target and its response, from the request to the spool.
type page struct {
	index   int // of its target and outcome
	target  batch.Target
	address address.Address
	behalf  behalf
	claims
	known  *batch.Look // last look, if it is confirmable
	answer answer
	sum    uint64 // of the answer
	parse  parser

	replayed bool   // see Replay
	cut      string // why an archive has only the beginning of the answer; "": it has all
}

// parser reads a page, as document.Read does.
type parser func(body []byte, contentType string) (*document.Document, error)

// digested is the result of digesting a page.
type digested struct {
	run       webobject.Run
	links     []book.Link
	named     *canonicalPage    // this page, for pages that name its address as canonical
	canonical *canonicalRequest // the canonical address that the page names, still to be proved
	panicked  string            // cause of the parser's panic; "": none
}

// digest decides whether the page is stored, compresses it and finds its links. It
// writes the page's outcome, which no other goroutine uses meanwhile.
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
		panic(err) // see guarded
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

// omitted returns what of the answer is missing in the archive from which it comes.
func (p page) omitted() []string {
	if p.cut == "" {
		return nil
	}
	return []string{"what the archive cut off: " + p.cut}
}

// wantsAssets reports whether any of the collections of the target wants assets.
func (p page) wantsAssets() bool {
	return p.behalf.settings.WantAssets(p.target.Collections...) || p.behalf.settings.WantAssets(p.sure...)
}

// wasPage reports whether a page is stored at the address. Assets have a digest that is
// that of their bytes.
func (p page) wasPage() bool {
	last := storedLook(p.target)
	return last != nil && last.Digest != last.Body
}

// storeAsset compresses an asset of pages, and finds the assets of a style sheet. Each
// level of style sheets counts as a redirect, so that they end.
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

// assets returns links to the assets of a page or style sheet, and what a limit left out.
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

// remark returns the verdict on a page that is stored: what is not known of it, or not
// for certain.
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

// store finds a page's links, and compresses the page unless it is an alias or
// unchanged. VerdictOf returns the verdict on it.
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
	if read.Canonical != "" || p.replayed { // which cannot be asked for later
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
		return result // the navigation may lead to new pages
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

func (p page) confirm(o *book.Outcome, body uint64) {
	o.Body = body
	o.ETag, o.Modified = validators(p.answer, p.known)
	conclude(o, p.target, verdict{state: book.Unchanged})
}

// read parses the page, and returns nil if there is no parser for its type.
func (p page) read() (*document.Document, error) {
	contentType := p.answer.header.Get("Content-Type")
	if !document.IsReadable(document.Sniff(p.answer.body, contentType)) {
		return nil, nil
	}
	return p.parse(p.answer.body, contentType)
}

// ask adds the directives for our agent, from the page and from its header.
func (p page) ask(read *document.Document, collection string) {
	agent := p.behalf.agentOf(collection)
	read.Robots = read.RobotsFor(agent).Add(robots.ParseTag(p.answer.header.Values("X-Robots-Tag"), agent))
}

// links returns the page's links, without those that the page asks not to follow. Its
// canonical address and its assets are kept in any case.
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

// withoutKnown removes assets that are among the links: images with their alternatives.
func withoutKnown(assets, links []book.Link) []book.Link {
	known := make(map[string]bool)
	for _, l := range links {
		if l.Kind == book.Asset {
			known[l.Target] = true
		}
	}
	return slices.DeleteFunc(assets, func(l book.Link) bool { return known[l.Target] })
}

// collectionOf returns the first collection of an outcome, on whose behalf its
// links are followed; "" if it has none.
func collectionOf(o book.Outcome) string {
	if len(o.Collections) == 0 {
		return ""
	}
	return o.Collections[0]
}

// sums is the table for checksums of answers. They need not be cryptographic: a server
// that forges one only hides its own changes.
var sums = crc64.MakeTable(crc64.ECMA)

// sum returns the checksum of a page for book.Outcome.Body. It stays equal as long as
// the page has the same bytes and the same header fields about their meaning and use.
// It is never 0.
func (a answer) sum() uint64 {
	sum := crc64.Checksum(a.body, sums)
	for _, name := range []string{"Content-Type", "X-Robots-Tag"} {
		for _, value := range a.header.Values(name) {
			sum = crc64.Update(sum, sums, []byte(value))
		}
	}
	return max(sum, 1)
}

// wordsBits is the number of the highest bits of book.Outcome.Digest: they are of
// the page's words, which set its pace. The other bits are of its text.
const wordsBits = 16

// pageDigest returns book.Outcome.Digest of a page: equal as long as the page has
// the same text, and never 0. The digest of a page without text is its sum. A page
// that must not be shown has another digest than one that may.
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

// sameWords reports whether two digests differ at most in numbers, dates and marks,
// and not in words.
func sameWords(digest, other uint64) bool { return (digest^other)>>(64-wordsBits) == 0 }
