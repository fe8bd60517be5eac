// Package why tells the history of one URL from the bucket: where it was found,
// which rule admits it, when it was fetched, where it is packed and indexed, and if
// not, why.
package why

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// maxFound is the greatest number of links in Story.Found; Story.Links counts all.
const maxFound = 20

// Story is everything that is stored in the bucket about a URL.
type Story struct {
	URL    string          `json:"url"`
	ID     layout.Identity `json:"id"`
	State  account.State   `json:"state"`            // state of the URL; "" if it is neither a seed nor the target of a link
	Reason string          `json:"reason,omitempty"` // why the URL is skipped or failed
	// when a takedown forgot the URL; zero if none did. The story of a forgotten URL has nothing
	// else but URL and ID.
	Forgotten time.Time `json:"forgotten,omitzero"`
	// Hidden is the time of the takedown that hides the URL, if this takedown can still be taken back;
	// zero otherwise.
	Hidden   time.Time `json:"hidden,omitzero"`
	Seed     []string  `json:"seed,omitempty"`     // names of the collections of which the URL is a seed
	Found    []Found   `json:"found,omitempty"`    // some links to the URL, at most maxFound
	Links    int       `json:"links"`              // number of all links to the URL
	Admitted *Rule     `json:"admitted,omitempty"` // rule that admits the URL; nil if none does
	Asked    []Asked   `json:"asked,omitempty"`    // requests for the URL, the oldest first
	Due      time.Time `json:"due,omitzero"`       // time of the next request; zero if none will follow, or if the URL is pending
	Stored   *Stored   `json:"stored,omitempty"`
	Problems []string  `json:"problems,omitempty"` // a sentence for each object that could not be read

	page *book.Outcome // outcome that says where the page is stored; nil if no page is stored
}

// Found is a link that leads to the URL of a Story.
type Found struct {
	On         string    `json:"on"` // URL of the page with the link, or its identity (a hash) if the URL is not on record
	Kind       book.Kind `json:"kind"`
	Text       string    `json:"text,omitempty"` // anchor text
	Depth      uint16    `json:"depth"`
	Collection string    `json:"collection"`
	Decision   string    `json:"decision"` // "admitted" or the reason of the refusal
}

// Rule says why a URL is admitted by the settings in force: because it is in the scope of a seed,
// or because it is a sitemap.
type Rule struct {
	Collection string           `json:"collection"`
	Version    uint64           `json:"version"` // version of the collection
	Seed       string           `json:"seed,omitempty"`
	Scope      collection.Scope `json:"scope,omitempty"`
	Within     int              `json:"within"` // greatest depth that the scope allows; -1: no limit
	Sitemap    bool             `json:"sitemap,omitempty"`
	Depth      uint16           `json:"depth"`   // number of links from a seed to the URL
	Crawl      int              `json:"crawl"`   // number of the crawl partition of the URL
	Storage    int              `json:"storage"` // number of the storage partition of the URL
}

// Asked is one request for the URL of a Story, with its outcome.
type Asked struct {
	Batch   layout.Version `json:"batch"`
	At      time.Time      `json:"at"`
	State   book.State     `json:"state"`
	Reason  string         `json:"reason,omitempty"`
	Detail  string         `json:"detail,omitempty"`
	Status  uint16         `json:"status,omitempty"`
	Attempt uint8          `json:"attempt"`
	Packed  bool           `json:"packed"` // the outcome is in a book; false if it is still in the spool

	outcome book.Outcome
}

// Stored is the place of the stored page and of its document in the index.
type Stored struct {
	Partition layout.Partition `json:"partition"`
	Package   string           `json:"package"`
	Offset    int64            `json:"offset"`
	Length    int64            `json:"length"` // size of the compressed page in the package, in bytes
	Bytes     int              `json:"bytes"`  // size of the page before compression, in bytes
	MIME      string           `json:"mime"`
	Segment   string           `json:"segment,omitempty"` // key of the segment with its document; "" if there is none
	Title     string           `json:"title,omitempty"`
	Lang      string           `json:"lang,omitempty"`        // language in which the page is searched; "" if it is unknown
	Source    string           `json:"lang_source,omitempty"` // how the language is known: declared, guessed or overruled
	Indexed   bool             `json:"indexed"`               // the manifest says that the package is indexed
}

// teller collects the data of one Story.
type teller struct {
	bucket    blob.Reader
	settings  *settings.Settings
	url       address.Address
	manifests []manifest.Manifest
	story     Story
	links     []book.Link
	sources   map[layout.Identity]string // URLs of the pages that link to the story's URL, by identity
}

// Tell returns the story of a URL. Collections may drop query parameters from URLs, such as a
// session number. So if nothing is stored about the URL, Tell looks for the URL without such
// parameters, and returns its story instead. An object that cannot be read becomes a problem of the
// story; an error means that there is no story.
func Tell(ctx context.Context, bucket blob.Reader, s *settings.Settings, url address.Address) (Story, error) {
	story, err := tell(ctx, bucket, s, url)
	if err != nil || story.State != "" || !story.Forgotten.IsZero() {
		return story, err
	}
	told := map[layout.Identity]bool{url.ID: true}
	for _, c := range s.Collections {
		cleaned := s.Clean(c.Name, url)
		if told[cleaned.ID] {
			continue
		}
		told[cleaned.ID] = true
		other, err := tell(ctx, bucket, s, cleaned)
		if err != nil || other.State != "" || !other.Forgotten.IsZero() {
			return other, err
		}
	}
	return story, nil
}

// tell returns the story of exactly the given URL, with all its parameters.
func tell(ctx context.Context, bucket blob.Reader, s *settings.Settings, url address.Address) (Story, error) {
	t := &teller{bucket: bucket, settings: s, url: url, sources: make(map[layout.Identity]string)}
	t.story = Story{URL: url.URL, ID: url.ID, Forgotten: s.Takedowns.Since(url)}
	if !t.story.Forgotten.IsZero() {
		return t.story, nil
	}
	hidden := s.Takedowns.Hidden()
	t.story.Hidden = hidden.Since(url)
	if err := t.read(ctx); err != nil {
		return Story{}, fmt.Errorf("cannot tell why %s: %w", url.URL, err)
	}
	if err := t.judge(); err != nil {
		return Story{}, fmt.Errorf("cannot tell why %s: %w", url.URL, err)
	}
	t.found()
	t.stored(ctx)
	return t.story, ctx.Err()
}

// read reads the books and the spool of all partitions, and adds to the story the outcomes of the
// URL and the links to it.
func (t *teller) read(ctx context.Context) error {
	for _, p := range t.settings.Partitions() {
		// The spool is listed before the manifest is read: a batch packed in between is in the books.
		spooled, err := blob.List(ctx, t.bucket, layout.SpoolPrefix(p))
		if err != nil {
			return err
		}
		m, err := partition.Read(ctx, t.bucket, p)
		if partition.IsFault(err) {
			t.problem(err)
			m, err = manifest.Manifest{Partition: p}, nil
		}
		if err != nil {
			return err
		}
		if later := partition.Later(&m); later != nil {
			t.problem(later)
		}
		t.manifests = append(t.manifests, m)
		if err := t.readBooks(ctx, &m); err != nil {
			return err
		}
		for _, object := range spooled {
			if err := t.readSpool(ctx, &m, object.Key); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(t.story.Asked, func(a, b Asked) int { return a.outcome.Compare(b.outcome) })
	return nil
}

// readBooks adds to the story the URL's outcomes, and the links to it, from the books of a
// partition.
func (t *teller) readBooks(ctx context.Context, m *manifest.Manifest) error {
	books, err := partition.OpenBooks(ctx, t.bucket, m.Books)
	if err != nil {
		return err
	}
	read := make([]pageTally, len(m.Books))
	err = books.Each(ctx, func(ctx context.Context, i int, r *book.Reader) (err error) {
		read[i], err = pagesOf(ctx, r, t.url)
		return err
	})
	if err != nil {
		return err
	}
	for _, damaged := range books.Damaged() {
		t.problem(partition.BooksFault(damaged))
	}
	for _, found := range read {
		t.add(found, true)
	}
	return nil
}

// pageTally holds the outcomes of the URL, and the links to it, in one book or spool object.
type pageTally struct {
	outcomes []book.Outcome
	links    []book.Link
	// URLs of the pages on which the links are, by the identity of the page. Some pages may be
	// missing: the URL is known only if the outcome of the page is in the same book or spool object
	// as the link.
	sources map[layout.Identity]string
}

// pagesOf reads from one book the outcomes of a URL and the links to it.
func pagesOf(ctx context.Context, reader *book.Reader, url address.Address) (found pageTally, err error) {
	if found.outcomes, err = reader.Find(ctx, url.Place, url.ID); err != nil {
		return pageTally{}, err
	}
	wanted := make(map[layout.Identity]bool)
	for l, err := range reader.Links(ctx, layout.Range{From: url.Place, To: url.Place + 1}) {
		if err != nil {
			return pageTally{}, err
		}
		if l.Target == url.URL {
			found.links = append(found.links, l)
			wanted[l.Source] = true
		}
	}
	if len(wanted) == 0 {
		return found, nil
	}
	found.sources = make(map[layout.Identity]string)
	for o, err := range reader.Outcomes(ctx, layout.Range{}) {
		if err != nil {
			return pageTally{}, err
		}
		if id := o.Identity(); wanted[id] {
			found.sources[id] = o.URL
		}
	}
	return found, nil
}

// readSpool adds to the story the URL's outcomes and links in the spool object with the given key.
// It adds none if the batch of this object is already packed, or is closed (will never be packed).
func (t *teller) readSpool(ctx context.Context, m *manifest.Manifest, key string) error {
	_, batch, err := layout.ParseSpoolKey(key)
	if err != nil || m.HasConsumed(batch) || m.IsClosed(batch) {
		return nil
	}
	ledger, err := spool.ReadLedger(ctx, t.bucket, key)
	switch {
	case errors.Is(err, blob.ErrAbsent): // packed and deleted since
		return nil
	case errors.Is(err, spool.ErrDamaged):
		t.problem(err)
		return nil
	case err != nil:
		return err
	}
	found := pageTally{sources: make(map[layout.Identity]string)}
	for _, o := range ledger.Outcomes {
		found.sources[o.Identity()] = o.URL
		if o.URL == t.url.URL {
			found.outcomes = append(found.outcomes, o)
		}
	}
	pages, err := membership.ParsePages(ledger.Outcomes)
	var links []book.Link
	if err == nil {
		links, err = t.settings.Assign(ledger.Links, pages, nil) // as pack will
	}
	if err != nil {
		t.problem(fmt.Errorf("spool object %s: %w", key, err))
	}
	for _, l := range links {
		if l.Target == t.url.URL {
			found.links = append(found.links, l)
		}
	}
	t.add(found, false)
	return nil
}

// add adds outcomes and links to the story; packed is true if they are from a book, and not from
// the spool.
func (t *teller) add(found pageTally, packed bool) {
	for _, o := range found.outcomes {
		t.story.Asked = append(t.story.Asked, Asked{
			Batch: o.Version, At: o.Time, State: o.State, Reason: o.Reason, Detail: o.Detail,
			Status: o.Status, Attempt: o.Attempts, Packed: packed, outcome: o,
		})
	}
	t.links = append(t.links, found.links...)
	maps.Copy(t.sources, found.sources)
}
