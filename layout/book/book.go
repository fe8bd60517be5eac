package book

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// State is what became of asking for a URL.
type State byte

// The states of an outcome. Stored, Skipped and Failed are final, and so is
// Unchanged, which confirms an earlier Stored; Retry and NotAsked leave the URL pending; Lost
// takes back what lower versions stored, skipped or failed: the URL is as if it
// had never been asked for.
const (
	Stored    State = 's' // the page is in a package
	Unchanged State = 'u' // the stored page still counts; a reason says that it was not confirmed
	Skipped   State = 'k' // deliberately not stored; the reason says why
	Failed    State = 'f' // could not be had; the reason says why
	Retry     State = 'r' // failed this time, will be asked again
	NotAsked  State = 'n' // time ran out before it was asked
	Lost      State = 'l' // the stored page, or the book about it, is damaged or gone
)

// Final reports whether the state ends the asking for a URL.
func (s State) Final() bool { return s.valid() && s != Retry && s != NotAsked }

// String names the state for people.
func (s State) String() string {
	switch s {
	case Stored:
		return "stored"
	case Unchanged:
		return "unchanged"
	case Skipped:
		return "skipped"
	case Failed:
		return "failed"
	case Retry:
		return "retry"
	case NotAsked:
		return "not asked"
	case Lost:
		return "lost"
	}
	return fmt.Sprintf("state %d", byte(s))
}

// MarshalText writes what String does, so that JSON is readable too.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Outcome is what one batch learnt about one URL.
//
// ETag and Modified are the validators that hold now, as the server sent them;
// one longer than MaxValidator is left out. Digest is that of the visible text
// of the page that is stored now, as package fetch makes it, and never 0; where the outcome ends what was
// stored, skipped or failed, it is that of the page that was; else it is 0.
// Body is a hash, and never 0, of the answer that the page, or a sitemap, was
// last read from: of its bytes and of what its header says of them. An equal
// one has nothing new to tell, not even in the navigation. It is 0 where
// nothing is kept, or not all came.
type Outcome struct {
	Version     layout.Version // the batch
	URL         string         // canonical
	Place       layout.Place
	State       State
	Reason      string    // one of a small set of words for Unchanged, Skipped, Failed and Retry; Panicked for Stored
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
	Collections []string // that on whose behalf it was asked for, then the others, sorted; each once
	Pace        Pace     // that its host asks for, by what its batch learnt

	// Of a stored page: the package's key and the compressed range there.
	Package string
	Offset  int64
	Length  int64
}

// Panicked is the reason of a page that is stored and known by its title and
// address alone, because its parser broke down over it.
const Panicked = "parser panicked"

// Identity returns the identity of the outcome's URL.
func (o Outcome) Identity() layout.Identity { return layout.IdentityOf(o.URL) }

// Pace is how a host wants to be asked, beyond what the collections of its URLs
// say; zero when it wants nothing. Times and durations are to the millisecond.
// What counts of a host is the latest rest, and the rest of the highest version.
type Pace struct {
	Rest     time.Time     // it is left alone until then, for it has asked for that or failed
	Delay    time.Duration // from an answer to the next request, which its robots.txt asks for
	Failures uint16        // answers in a row that were 429, 503 or none
}

// Kind says how a page refers to an address.
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

// String names the kind for people.
func (k Kind) String() string {
	switch k {
	case Anchor:
		return "anchor"
	case Frame:
		return "frame"
	case Image:
		return "image"
	case Redirect:
		return "redirect"
	case Canonical:
		return "canonical"
	case Sitemap:
		return "sitemap"
	case Listed:
		return "listed"
	}
	return fmt.Sprintf("kind %d", byte(k))
}

// MarshalText writes what String does, so that JSON is readable too.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Region says where on the page a link stands.
type Region byte

// The regions of a page.
const (
	Text       Region = 't'
	Navigation Region = 'n'
)

// String names the region for people.
func (r Region) String() string {
	switch r {
	case Text:
		return "text"
	case Navigation:
		return "navigation"
	}
	return fmt.Sprintf("region %d", byte(r))
}

// MarshalText writes what String does, so that JSON is readable too.
func (r Region) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Link is one link found on one page, or in a robots.txt or a sitemap.
//
// Weight says how soon the target is asked for: 255 first, 1 last, 0 where only
// depth counts. A topic gives it, or the priority in a sitemap.
//
// Modified is when a listed page was changed, to the second, if that was since
// the last look at the sitemap: then the page is asked for again. It is zero
// where nothing is known, and so on the first look at a sitemap.
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

// Book is all that one pack learnt.
type Book struct {
	Outcomes []Outcome
	Links    []Link
}

// Distinct returns another copy of a book that Encode or Merge returned. It
// says the same, and every number makes bytes of their own, so that it can be
// stored under a content hash that was never used. Copy 0 is the book itself.
func Distinct(content []byte, number uint32) []byte {
	d, err := parseDirectory(content)
	if err != nil {
		panic(err) // content is no book
	}
	d.copy = number
	end := len(content) - footerSize
	start := end - int(binary.BigEndian.Uint32(content[end:]))
	return d.appendTo(slices.Clone(content[:start]))
}

// Part is a range of the hash space and how many bytes the book holds there.
type Part struct {
	layout.Range
	Bytes int64
}

// Parts cuts the whole hash space into ranges of which the book holds about
// the given number of bytes each, for those who share out the reading. It asks
// for nothing.
func (r *Reader) Parts(size int64) []Part {
	blocks := slices.Concat(r.directory.outcomes, r.directory.links)
	slices.SortFunc(blocks, func(a, b block) int { return cmp.Compare(a.first, b.first) })
	parts := make([]Part, 1)
	for _, b := range blocks {
		last := &parts[len(parts)-1]
		if last.Bytes >= size && b.first > last.From {
			last.To = b.first
			parts = append(parts, Part{Range: layout.Range{From: b.first}})
			last = &parts[len(parts)-1]
		}
		last.Bytes += int64(b.size)
	}
	return parts
}
