package fetch

import (
	"cmp"
	"errors"
	"hash/crc64"
	"math"
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
	known  *batch.Look // result of the last fetch (see batch.Look) if the request may be conditional (see confirmable); else nil
	answer answer
	sum    uint64 // checksum of the answer (see answer.sum)
	parse  parser

	replayed bool   // the answer was read from an archive and not requested (see Replay)
	cut      string // why the archive has only the beginning of the answer; "" if it has all of it
}

// parser parses the body of a page. document.Read is one.
type parser func(body []byte, contentType string) (*document.Document, error)

// digested is a page after the digester's work: compressed, with its links.
type digested struct {
	run   webobject.Run
	links []book.Link
	// title and text of this page, to compare it with others: one of two pages may be an alias of
	// the other
	named *canonicalPage
	// not nil if the page may become an alias of its canonical address. That is decided later, by
	// comparing the pages at both addresses.
	canonical *canonicalRequest
	panicked  string // cause of the parser's panic; "" if it did not panic
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

// omitted describes what is missing from the answer. Only an answer from a WARC archive can lack
// something, namely its end. omitted returns nil if the answer is complete.
func (p page) omitted() []string {
	if p.cut == "" {
		return nil
	}
	return []string{"what the archive cut off: " + p.cut}
}

// wantsAssets reports whether a collection wants the assets of the page, or the page itself if it
// is an asset. It considers the collections for which the page is requested, and those that claim
// it whatever its topic (see claims).
func (p page) wantsAssets() bool {
	return p.behalf.settings.WantAssets(p.target.Collections...) || p.behalf.settings.WantAssets(p.sure...)
}

// wasPage reports whether the last fetch of the address stored a page, and not an asset.
func (p page) wasPage() bool {
	last := storedLook(p.target)
	return last != nil && !wasAsset(*last)
}

// storeAsset compresses an asset and, if it is a style sheet, finds the assets that it names. A
// link from a style sheet counts as one more hop, as a redirect does. Chains of style sheets
// therefore end at the limit of hops.
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
// some assets are left out because of a limit, the result omitted says so in words, with one text
// for each such limit.
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

// store completes the outcome o of a parsed page, and returns the page's links. The page may be an
// alias, or unchanged since its last fetch. Otherwise store also returns the compressed page, to be
// put into the spool object. Then the function verdictOf gives the state, reason and detail of the
// outcome.
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

// ask sets the robots directives of a parsed page (read.Robots) to those that apply to the
// User-Agent of the collection. It takes them from the page's meta elements and from the header
// X-Robots-Tag.
func (p page) ask(read *document.Document, collection string) {
	agent := p.behalf.agentOf(collection)
	read.Robots = read.RobotsFor(agent).Add(robots.ParseTag(p.answer.header.Values("X-Robots-Tag"), agent))
}

// links returns the page's links. It leaves out links with rel=nofollow, except those to the
// canonical address and to assets. If the page says noindex, it also leaves out links to mail addresses.
func (p page) links(o book.Outcome, read *document.Document) []book.Link {
	found := read.Links(p.address)
	links := make([]book.Link, 0, len(found))
	for _, l := range found {
		if follow := l.Kind == book.Canonical || l.Kind == book.Asset; !follow && slices.Contains(strings.Fields(l.Rel), "nofollow") {
			continue
		}
		link := book.Link{
			Source: p.address.ID, Target: l.Address.URL, Place: l.Address.Place,
			Kind: l.Kind, Region: l.Region, Rel: l.Rel, Anchor: l.Anchor, Around: l.Around,
			Depth: more(o.Depth), Collection: collectionOf(o),
		}
		if l.Address.IsMail() {
			if read.Robots.NoIndex {
				continue // searches would show words of the page around the link
			}
			link.Hops = mailHops
		}
		links = append(links, link)
	}
	return links
}

// mailHops is the field Hops of links to mail addresses. Programs that know no mail addresses take
// such an address for that of a page (see address.ParseMail), and refuse it because of this number: no
// collection follows so many redirects.
const mailHops = math.MaxUint8

// weigh sets the weights of the page's links, and returns the weight of the page itself. It uses
// the topic of the first of the given collections that has one. If none has a topic, it leaves the
// links as they are and returns 0.
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

// withoutKnown returns the links to assets without those assets to which the other list has a link,
// too. For example, an image with an alternative text is found both as a link and as an asset.
func withoutKnown(assets, links []book.Link) []book.Link {
	known := make(map[string]bool)
	for _, l := range links {
		if l.Kind == book.Asset {
			known[l.Target] = true
		}
	}
	return slices.DeleteFunc(assets, func(l book.Link) bool { return known[l.Target] })
}

// collectionOf returns the name of an outcome's first collection; "" if there is none. The URL is
// requested, and its links are followed, on behalf of this collection.
func collectionOf(o book.Outcome) string {
	if len(o.Collections) == 0 {
		return ""
	}
	return o.Collections[0]
}

// sums is the CRC-64 table for checksums of answers. A server could change a page and keep its
// checksum, but would only keep its own changes out of the index. So no cryptographic hash is
// needed.
var sums = crc64.MakeTable(crc64.ECMA)

// sum returns the checksum of an answer for book.Outcome.Body. The checksum covers the body and the
// header fields Content-Type and X-Robots-Tag, and is never 0.
func (a answer) sum() uint64 {
	sum := crc64.Checksum(a.body, sums)
	for _, name := range []string{"Content-Type", "X-Robots-Tag"} {
		for _, value := range a.header.Values(name) {
			sum = crc64.Update(sum, sums, []byte(value))
		}
	}
	return max(sum, 1)
}

// wordsBits says how many of the highest bits of book.Outcome.Digest depend only on the page's
// words. The other bits depend on all its text, also on numbers and punctuation. If only these
// other bits have changed since the last fetch, the expiry class of the page rises, as if the page
// were unchanged. So the page is requested less often.
const wordsBits = 16

// pageDigest returns the digest of a page for book.Outcome.Digest, never 0. Two pages have the same
// digest if they have the same text, and either both say noindex or neither does. For a page
// without text, the digest is made of the checksum of its answer (the parameter sum).
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

// sameWords reports whether two digests are of pages that differ at most in numbers, in words beside
// numbers, in upper and lower case, or in punctuation.
func sameWords(digest, other uint64) bool { return (digest^other)>>(64-wordsBits) == 0 }
