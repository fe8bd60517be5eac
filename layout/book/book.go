package book

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// State is the result of one batch for a URL, such as that its page was stored.
type State byte

// The states of an outcome. Stored, Skipped and Failed are final; so is Unchanged, which
// confirms an earlier Stored. Retry and NotAsked leave the URL pending. Lost cancels all
// outcomes of the URL with lower versions, as if it had never been requested.
const (
	Stored State = 's' // the page is stored, in a package (an object that holds many pages)
	// Unchanged: the stored page stays valid. If Reason is "", the server still has the same page.
	// Otherwise this request failed, and Reason says why
	Unchanged State = 'u'
	Skipped   State = 'k' // the page was deliberately not stored; Reason says why
	Failed    State = 'f' // the page could not be fetched; Reason says why
	Retry     State = 'r' // this request failed; the URL will be requested again
	NotAsked  State = 'n' // the batch's time ran out before the URL was requested
	Lost      State = 'l' // written by repair if the stored page, or the book with its outcome, was damaged or missing
)

var stateNames = byteNames{
	Stored: "stored", Unchanged: "unchanged", Skipped: "skipped", Failed: "failed", Retry: "retry",
	NotAsked: "not asked", Lost: "lost",
}

func (s State) valid() bool { return stateNames[s] != "" }

// String returns the name of the state, such as "stored".
func (s State) String() string { return stateNames.of("state", byte(s)) }

// MarshalText returns the same text as String.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// byteNames holds a name for each value of a byte; "" for values that are not valid.
type byteNames [256]string

// of returns the name of a value, such as "stored" for a state. If the value has no name, the result
// is the first parameter, which says what the value is, and the value as a number: "state 7".
func (n *byteNames) of(what string, value byte) string {
	if n[value] == "" {
		return fmt.Sprintf("%s %d", what, value)
	}
	return n[value]
}

// Outcome is the result of one batch for one URL.
//
//	ETag, Modified   The headers ETag and Last-Modified that the server sent last for the
//	                 stored page; "" if longer than MaxValidator bytes.
//	Digest           Hash of the visible text of the stored page, as package fetch computes it.
//	                 For a stored asset: the same as Body. For a Skipped or Failed URL: the
//	                 Digest of the page that was stored before. In all other cases 0.
//	Body             Hash of the last answer with the whole page or sitemap: of its body and its
//	                 headers Content-Type and X-Robots-Tag. An equal answer later has the same
//	                 hash. 0 if nothing is stored or the answer was cut.
type Outcome struct {
	Version     layout.Version // number of the batch; it orders the outcomes of a URL (see Standing)
	URL         string         // canonical form of the requested URL
	Place       layout.Place
	State       State
	Reason      string    // reason for State, one of a few fixed texts such as "http 404" or, for Stored, Panicked
	Detail      string    // a sentence that explains the reason to people; at most 300 bytes
	Status      uint16    // HTTP status, 0 when there was no answer
	Depth       uint16    // number of links from a seed to the URL; redirects do not count
	Hops        uint8     // length of the chain of redirects, canonical and style sheet links that led to the URL
	Attempts    uint8     // number of requests for the URL since its last final outcome, this one included
	Exponent    int16     // the page is expected to stay valid for 2^Exponent days (see webobject.Lifetime)
	Weight      uint8     // priority of the URL (see Link); for a page stored for a topic, its relevance to the topic
	Time        time.Time // time of the answer, to the millisecond
	ETag        string
	Modified    string
	Digest      uint64
	Body        uint64
	Collections []string // collections (crawls) that have the page: first the one for which the URL was requested, then the others, sorted
	Pace        Pace     // limits that the URL's host sets, as known to this batch
	Asset       bool     // whether the URL is a part of pages, such as an image: stored, but not indexed

	// Package is the key of the package that holds the stored page: an object with many pages.
	// Offset and Length are the range of the compressed page in the package, in bytes. All are zero
	// if no page is stored.
	Package string
	Offset  int64
	Length  int64
}

// Reasons of outcomes whose State is Stored: they say that a part of the page is missing
// or uncertain, and Detail says which. If several apply, the first of this list is used.
const (
	Panicked     = "parser panicked" // the parser crashed: only the page's title and address are indexed
	NeedsScripts = "needs scripts"   // without scripts the page shows hardly any text
	Cut          = "cut"             // a limit left out some of the page's text or links
	Recoded      = "other charset"   // the page is not in the charset that it declares
)

// Identity returns the identity of the outcome's URL.
func (o Outcome) Identity() layout.Identity { return layout.IdentityOf(o.URL) }

// Pace holds the limits that a host itself sets to requests, besides the settings of collections. A
// field is zero if there is no such limit. Every outcome of the host's URLs has a Pace. Among all
// these, the latest Rest counts; but Delay and Failures count only as they are in the outcome with
// the highest version. Times and durations are in whole milliseconds.
type Pace struct {
	Rest     time.Time     // time before which the host gets no request, because of Retry-After or a failure of the host
	Delay    time.Duration // time from an answer to the next request, as the robots.txt of the host demands
	Failures uint16        // number of consecutive requests with status 429 or 503, or without an answer
}

// Kind is the kind of reference from a page to an address.
type Kind byte

// The kinds of links.
const (
	Anchor    Kind = 'a'
	Frame     Kind = 'f'
	Asset     Kind = 'i' // link to a part of the page: an image or, as Rel says, a style sheet, a script, an icon
	Redirect  Kind = 'r'
	Canonical Kind = 'c'
	Sitemap   Kind = 'm' // link from a robots.txt or a sitemap to a sitemap that it names
	Listed    Kind = 'e' // link from a sitemap to a page that it lists, or from an imported page to itself
)

var kindNames = byteNames{
	Anchor: "anchor", Frame: "frame", Asset: "asset", Redirect: "redirect", Canonical: "canonical",
	Sitemap: "sitemap", Listed: "listed",
}

func (k Kind) valid() bool { return kindNames[k] != "" }

// String returns the name of the kind, such as "anchor".
func (k Kind) String() string { return kindNames.of("kind", byte(k)) }

// MarshalText returns the same text as String.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Region is the part of the page that contains a link.
type Region byte

// The regions of a page.
const (
	Text       Region = 't'
	Navigation Region = 'n'
)

var regionNames = byteNames{Text: "text", Navigation: "navigation"}

func (r Region) valid() bool { return regionNames[r] != "" }

// String returns the name of the region, such as "text".
func (r Region) String() string { return regionNames.of("region", byte(r)) }

// MarshalText returns the same text as String.
func (r Region) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Link is one link found on one page, or in a robots.txt or a sitemap.
//
// Weight is the priority of the target: 255 is fetched first, 1 last; 0 means that only depth
// counts. It comes from a topic, or from the priority in a sitemap.
//
// Modified is the time, to the second, at which the target has changed, according to a sitemap. It is
// set only if this was after the sitemap was last read, and otherwise zero. If it is set, the target
// is fetched again.
//
// Former is true if the source was fetched again later, and then did not have the link. Merge sets
// Former if one book has the link, and another book has a later outcome of the source, but not the
// link.
type Link struct {
	Source     layout.Identity
	Target     string       // canonical URL to which the link leads
	Place      layout.Place // hash of the target's site and URL, by which links are sorted
	Kind       Kind
	Region     Region
	Rel        string // words of the rel attribute in lower case, sorted, separated by spaces; at most 1 KiB
	Anchor     string // the link's text, with single spaces between its words, at most 200 bytes
	Around     string // the words before and after the link's text, at most 200 bytes
	Depth      uint16 // number of links from a seed to the target, this one included; redirects do not count
	Hops       uint8  // length of the chain of redirects, canonical and style sheet links to the target
	Weight     uint8
	Former     bool
	Modified   time.Time
	Collection string // name of the collection whose scope and rules decided about the link
	Decision   string // "" if the target was admitted, else the reason of the refusal
}

// Book is the content of a book: the outcomes and links of the batches that one run of the function
// pack has stored.
type Book struct {
	Outcomes []Outcome
	Links    []Link
}

// Compare orders outcomes by the place and identity of their URLs (hashes, see layout.Place), by
// version, and then by all other fields, so that the same outcomes always sort into the same order.
func (o Outcome) Compare(p Outcome) int {
	if c := compareURL(o.Place, o.URL, p.Place, p.URL); c != 0 {
		return c
	}
	return cmp.Or(
		o.Version.Compare(p.Version),
		cmp.Compare(o.State, p.State),
		cmp.Compare(o.Reason, p.Reason),
		cmp.Compare(o.Detail, p.Detail),
		cmp.Compare(o.Status, p.Status),
		cmp.Compare(o.Depth, p.Depth),
		cmp.Compare(o.Hops, p.Hops),
		cmp.Compare(o.Attempts, p.Attempts),
		cmp.Compare(o.Exponent, p.Exponent),
		cmp.Compare(o.Weight, p.Weight),
		cmp.Compare(o.Time.UnixMilli(), p.Time.UnixMilli()),
		cmp.Compare(o.ETag, p.ETag),
		cmp.Compare(o.Modified, p.Modified),
		cmp.Compare(o.Digest, p.Digest),
		cmp.Compare(o.Body, p.Body),
		slices.Compare(o.Collections, p.Collections),
		cmp.Compare(o.Package, p.Package),
		cmp.Compare(o.Offset, p.Offset),
		cmp.Compare(o.Length, p.Length),
		cmp.Compare(o.Pace.Rest.UnixMilli(), p.Pace.Rest.UnixMilli()),
		cmp.Compare(o.Pace.Delay.Milliseconds(), p.Pace.Delay.Milliseconds()),
		cmp.Compare(o.Pace.Failures, p.Pace.Failures),
		cmp.Compare(numberOf(o.Asset), numberOf(p.Asset)),
	)
}

// numberOf returns the number by which a truth value is stored: 1 for true, 0 for false.
func numberOf(truth bool) uint64 {
	if truth {
		return 1
	}
	return 0
}

// compareLinks orders links by the place and identity of their targets (hashes of the URLs, see
// layout.Place). It orders links to the same target by all other fields except the source.
func compareLinks(l, m *Link) int {
	if c := compareURL(l.Place, l.Target, m.Place, m.Target); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(l.Kind, m.Kind),
		cmp.Compare(l.Region, m.Region),
		cmp.Compare(l.Rel, m.Rel),
		cmp.Compare(l.Anchor, m.Anchor),
		cmp.Compare(l.Around, m.Around),
		cmp.Compare(l.Depth, m.Depth),
		cmp.Compare(l.Hops, m.Hops),
		cmp.Compare(l.Weight, m.Weight),
		cmp.Compare(secondsOf(l.Modified), secondsOf(m.Modified)),
		cmp.Compare(l.Collection, m.Collection),
		cmp.Compare(l.Decision, m.Decision),
		cmp.Compare(numberOf(l.Former), numberOf(m.Former)),
	)
}

// compareURL compares two URLs by their places, and then by their identities (both are hashes of
// the URL). The first URL has the place p, the second has the place q. compareURL computes the
// identities only if two different URLs have the same place. This is rare, because half of a place
// are bits of the identity.
func compareURL(p layout.Place, url string, q layout.Place, other string) int {
	if c := cmp.Compare(p, q); c != 0 {
		return c
	}
	if url == other {
		return 0
	}
	return layout.IdentityOf(url).Compare(layout.IdentityOf(other))
}
