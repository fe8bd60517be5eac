package book

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// State is the result of requesting a URL.
type State byte

// The states of an outcome. Stored, Skipped, Failed and Unchanged, which
// confirms an earlier Stored, are final. Retry and NotAsked leave the URL
// pending. Lost takes back what lower versions stored, skipped or failed: the
// URL is as if it had never been requested.
const (
	Stored    State = 's' // the page is in a package
	Unchanged State = 'u' // the stored page stays valid: it has not changed or, if there is a reason, this request failed
	Skipped   State = 'k' // deliberately not stored; the reason says why
	Failed    State = 'f' // could not be had; the reason says why
	Retry     State = 'r' // failed this time, will be requested again
	NotAsked  State = 'n' // time ran out before it was requested
	Lost      State = 'l' // the stored page, or the book about it, is damaged or gone
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

// byteNames holds the names of a byte's values; "" for invalid ones.
type byteNames [256]string

// of returns the name of a value; for an invalid one, text such as "state 7", in which
// what is the first word.
func (n *byteNames) of(what string, value byte) string {
	if n[value] == "" {
		return fmt.Sprintf("%s %d", what, value)
	}
	return n[value]
}

// Outcome is the result of one batch for one URL.
//
//	ETag, Modified   validators of the stored page, as the server sent them last; left
//	                 out above MaxValidator bytes
//	Digest           hash, never 0, of the visible text of the stored page, as package
//	                 fetch computes it, or Body of a stored asset; in a Skipped or
//	                 Failed outcome that ends a stored page, that of the former page;
//	                 else 0
//	Body             hash, never 0, of the bytes and header of the answer from which
//	                 the page or sitemap was last read: an equal answer has nothing
//	                 new; 0 if nothing is stored or the answer was cut
type Outcome struct {
	Version     layout.Version // number of the batch
	URL         string         // canonical
	Place       layout.Place
	State       State
	Reason      string    // one of a small set of words for Unchanged, Skipped, Failed and Retry; for Stored see Panicked
	Detail      string    // a sentence that explains the reason to people; at most 300 bytes
	Status      uint16    // HTTP status, 0 when there was no answer
	Depth       uint16    // links from a seed
	Hops        uint8     // redirects from the URL that was linked to this one
	Attempts    uint8     // requests so far, this one included
	Exponent    int16     // the page is expected to stay valid for base^Exponent days
	Weight      uint8     // priority of the URL (see Link); of a page stored for a topic its relevance, at most 255
	Time        time.Time // time of the answer, to the millisecond
	ETag        string
	Modified    string
	Digest      uint64
	Body        uint64
	Collections []string // each once: that for which the URL was requested, then the others with this page, sorted
	Pace        Pace     // limits that the URL's host sets, as known to this batch
	Asset       bool     // the URL is part of pages, such as an image: it is stored for them, and not indexed

	// Of a stored page: the key of its package, and the range in bytes of the compressed
	// page in that object.
	Package string
	Offset  int64
	Length  int64
}

// Reasons of outcomes whose State is Stored: they say that a part of the page is missing
// or uncertain, and Detail says which. If several apply, the first of this list is used.
const (
	Panicked     = "parser panicked" // only its title and its address are indexed
	NeedsScripts = "needs scripts"   // without scripts the page shows hardly any text
	Cut          = "cut"             // a limit left out some of the page's text or links
	Recoded      = "other charset"   // the page is not in the charset that it declares
)

// Identity returns the identity of the outcome's URL.
func (o Outcome) Identity() layout.Identity { return layout.IdentityOf(o.URL) }

// Pace is the limits that a host sets beyond the settings of collections; zero if it
// sets none. Times and durations are to the millisecond. Of all outcomes of a host, the
// latest Rest is in force, and Delay and Failures of the outcome with the highest
// version.
type Pace struct {
	Rest     time.Time     // no request before this time, because of Retry-After or a failure of the host
	Delay    time.Duration // time from an answer to the next request, as the robots.txt of the host demands
	Failures uint16        // consecutive requests with status 429 or 503, or without an answer
}

// Kind is the kind of reference from a page to an address.
type Kind byte

// The kinds of links.
const (
	Anchor    Kind = 'a'
	Frame     Kind = 'f'
	Asset     Kind = 'i' // a part of the page: an image or, as Rel says, a style sheet, a script, an icon
	Redirect  Kind = 'r'
	Canonical Kind = 'c'
	Sitemap   Kind = 'm' // a robots.txt or a sitemap names a sitemap
	Listed    Kind = 'e' // a sitemap lists a page, or an imported file holds it: then the page is the source, too
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

// Region is the part of the page in which a link stands.
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
// Weight is the priority of the target: 255 is fetched first, 1 last; 0 means that only
// depth counts. It comes from a topic, or from the priority in a sitemap.
//
// Modified is, for a link of a sitemap, the time at which the sitemap says that the
// page changed, to the second: but only if that is later than the last reading of the
// sitemap, so that the page is fetched again. Otherwise it is zero.
//
// Former is true if the source was requested again since, and does not have the link any
// more. Merge sets it, if the merged book has the later outcome.
type Link struct {
	Source     layout.Identity
	Target     string       // canonical URL
	Place      layout.Place // place of the target
	Kind       Kind
	Region     Region
	Rel        string // the rel attribute, lower case, sorted, space-separated, at most 1 KiB
	Anchor     string // the link's text, with single spaces between its words, at most 200 bytes
	Around     string // the words around it, at most 200 bytes
	Depth      uint16 // links from a seed to the target by way of this one; redirects do not count
	Hops       uint8  // redirects in a row that lead to the target, this one included; 0 for other links
	Weight     uint8
	Former     bool
	Modified   time.Time
	Collection string // the collection by whose rules the link was judged
	Decision   string // "" if the target was admitted, else the reason of the refusal
}

// Book is the results of one pack.
type Book struct {
	Outcomes []Outcome
	Links    []Link
}

// Compare orders outcomes by place, identity and version, and then by all other
// fields, so that the same outcomes always sort into the same order.
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

// numberOf returns a truth value as it is stored.
func numberOf(truth bool) uint64 {
	if truth {
		return 1
	}
	return 0
}

// compareLinks orders links by the place and identity of the target, and then by all
// other fields except the source.
func compareLinks(l, m Link) int {
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

// compareURL orders two URLs by place and identity. It computes an identity only for
// different URLs with the same place, which is rare: a place ends with the first 32
// bits of the identity.
func compareURL(p layout.Place, url string, q layout.Place, other string) int {
	if c := cmp.Compare(p, q); c != 0 {
		return c
	}
	if url == other {
		return 0
	}
	return layout.IdentityOf(url).Compare(layout.IdentityOf(other))
}
