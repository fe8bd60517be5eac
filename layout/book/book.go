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
	Unchanged State = 'u' // the stored page still counts; a reason says that it was not confirmed
	Skipped   State = 'k' // deliberately not stored; the reason says why
	Failed    State = 'f' // could not be had; the reason says why
	Retry     State = 'r' // failed this time, will be asked again
	NotAsked  State = 'n' // time ran out before it was asked
	Lost      State = 'l' // the stored page, or the book about it, is damaged or gone
)

var stateNames = byteNames{
	Stored: "stored", Unchanged: "unchanged", Skipped: "skipped", Failed: "failed", Retry: "retry",
	NotAsked: "not asked", Lost: "lost",
}

func (s State) valid() bool { return stateNames[s] != "" }

// String names the state for people.
func (s State) String() string { return stateNames.of("state", byte(s)) }

// MarshalText writes what String does.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// byteNames holds the names of a byte's values; "" for invalid ones.
type byteNames [256]string

func (n *byteNames) of(what string, value byte) string {
	if n[value] == "" {
		return fmt.Sprintf("%s %d", what, value)
	}
	return n[value]
}

// Outcome is the result of one batch for one URL.
//
//	ETag, Modified   the present validators, as the server sent them; omitted above
//	                 MaxValidator bytes
//	Digest           hash of the visible text of the stored page, as package fetch
//	                 computes it, never 0; of the former page if the outcome ends
//	                 what was stored, skipped or failed; else 0
//	Body             hash, never 0, of the bytes and header of the answer from which
//	                 the page or sitemap was last read: an equal answer has nothing
//	                 new; 0 if nothing is stored or the answer was cut
type Outcome struct {
	Version     layout.Version // the batch
	URL         string         // canonical
	Place       layout.Place
	State       State
	Reason      string    // one of a small set of words for Unchanged, Skipped, Failed and Retry; for Stored see Panicked
	Detail      string    // the sentence behind the reason, for people; at most 300 bytes
	Status      uint16    // HTTP status, 0 when there was no answer
	Depth       uint16    // links from a seed
	Hops        uint8     // redirects followed from the URL that was linked
	Attempts    uint8     // times asked, this one included
	Exponent    int16     // expiry class
	Weight      uint8     // of the URL, see Link; of a page stored for a topic its relevance, 255 the most
	Time        time.Time // of the answer, to the millisecond
	ETag        string
	Modified    string
	Digest      uint64
	Body        uint64
	Collections []string // that on whose behalf it was requested, then the others, sorted; each once
	Pace        Pace     // that its host asks for, by what its batch learnt

	// Of a stored page: the package's key and the compressed range there.
	Package string
	Offset  int64
	Length  int64
}

// Reasons of stored pages that are not known in full, or not for certain. The detail
// says what is missing. Of several reasons the first counts.
const (
	Panicked     = "parser panicked" // found by its title and address only
	NeedsScripts = "needs scripts"   // shows hardly any text without them
	Cut          = "cut"             // a limit left out some of its text or links
	Recoded      = "other charset"   // is not in the charset that it declares
)

// Identity returns the identity of the outcome's URL.
func (o Outcome) Identity() layout.Identity { return layout.IdentityOf(o.URL) }

// Pace is what a host asks for beyond the settings of collections; zero when it asks
// for nothing. Times and durations are to the millisecond. Of all outcomes of a host,
// the latest rest counts, and the delay and failures of the highest version.
type Pace struct {
	Rest     time.Time     // it is left alone until then, for it has asked for that or failed
	Delay    time.Duration // from an answer to the next request, which its robots.txt asks for
	Failures uint16        // answers in a row that were 429, 503 or none
}

// Kind is the kind of reference from a page to an address.
type Kind byte

// The kinds of links.
const (
	Anchor    Kind = 'a'
	Frame     Kind = 'f'
	Image     Kind = 'i'
	Redirect  Kind = 'r'
	Canonical Kind = 'c'
	Sitemap   Kind = 'm' // a robots.txt or a sitemap names a sitemap
	Listed    Kind = 'e' // a sitemap lists a page
)

var kindNames = byteNames{
	Anchor: "anchor", Frame: "frame", Image: "image", Redirect: "redirect", Canonical: "canonical",
	Sitemap: "sitemap", Listed: "listed",
}

func (k Kind) valid() bool { return kindNames[k] != "" }

// String names the kind for people.
func (k Kind) String() string { return kindNames.of("kind", byte(k)) }

// MarshalText writes what String does.
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

// String names the region for people.
func (r Region) String() string { return regionNames.of("region", byte(r)) }

// MarshalText writes what String does.
func (r Region) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Link is one link found on one page, or in a robots.txt or a sitemap.
//
// Weight is the priority of the target: 255 is fetched first, 1 last; 0 means that
// only depth counts. It comes from a topic, or from the priority in a sitemap.
//
// Modified is the time at which a page in a sitemap was changed, to the second, if
// that was after the last look at the sitemap: then the page is fetched again. Else
// it is zero.
type Link struct {
	Source     layout.Identity
	Target     string       // canonical URL
	Place      layout.Place // of the target
	Kind       Kind
	Region     Region
	Rel        string // the rel attribute, lower case, sorted, space-separated, at most 1 KiB
	Anchor     string // the link's text, white space folded, at most 200 bytes
	Around     string // the words around it, at most 200 bytes
	Depth      uint16 // of the target by this link
	Hops       uint8  // redirects that led to the target by this link
	Weight     uint8
	Modified   time.Time
	Collection string // on whose behalf it was decided
	Decision   string // "" admitted, else the reason of the refusal
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
	)
}

// compareLinks orders links by the place and identity of the target, and then
// by all that remains but the source.
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
	)
}

// compareURL orders by place and identity. Identities are rarely computed, because a
// place ends with the first bytes of the identity.
func compareURL(p layout.Place, url string, q layout.Place, other string) int {
	if c := cmp.Compare(p, q); c != 0 {
		return c
	}
	if url == other {
		return 0
	}
	return layout.IdentityOf(url).Compare(layout.IdentityOf(other))
}
