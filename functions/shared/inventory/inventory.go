// Package inventory lists the pages that a bucket had stored at one moment. It takes them from
// books, the records of what became of each URL, and from columns of the index. It reads no page.
package inventory

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Selection says which pages are wanted. Empty fields select all.
type Selection struct {
	Collection string    `json:"collection,omitempty"`
	Site       string    `json:"site,omitempty"` // host, or a domain with all its hosts
	Lang       string    `json:"lang,omitempty"` // language, as in Page.Lang
	Since      time.Time `json:"since,omitzero"` // pages fetched at this time or later
	Until      time.Time `json:"until,omitzero"` // pages fetched before this time
}

// Page is a stored page that an inventory lists.
type Page struct {
	*book.Outcome        // outcome (record of the request) that stored the page; valid until the next page is yielded
	Key           string // present key of the page's package; erasing pages from a package changes its key

	// These fields come from the index and are set after ReadIndex:

	Indexed bool   // the page was indexed at the moment of the inventory
	Lang    string // language by which searches filter the page (ISO 639-1); "" if it is in doubt
	// how the language is known: declared, guessed or overruled (see segment.Document)
	LangSource string
	MIME       string
}

// Inventory lists the stored pages of a bucket as of one moment.
type Inventory struct {
	bucket     blob.Reader
	settings   *settings.Settings
	partitions []*part
	kinds      kinds

	// Faults has an error for each partition of which manifests or books (records of what became of
	// URLs) are lost or damaged, so that pages are missing in the inventory. The list is complete
	// when Pages has yielded all pages.
	Faults []error
	// Unindexed has an error for each segment that ReadIndex could not read. The languages and
	// media types of its pages are unknown.
	Unindexed []error
}

// part is one storage partition of an inventory.
type part struct {
	then, now manifest.Manifest // the manifest at the moment of the inventory (then), and the newest one (now)
	books     *partition.Books
	// languages and media types of the pages of each package, by the key that the package has in
	// the newest manifest
	index map[string][]fact
}

// Open opens all storage partitions of a bucket as they were at the given time.
func Open(ctx context.Context, bucket blob.Reader, s *settings.Settings, at time.Time) (*Inventory, error) {
	v := &Inventory{bucket: bucket, settings: s}
	for _, id := range s.Partitions() {
		p := new(part)
		var err error
		if p.now, err = partition.Read(ctx, bucket, id); err == nil {
			p.then, err = manifest.AsOf(ctx, bucket, id, at)
		}
		if err == nil {
			p.books, err = partition.OpenBooks(ctx, bucket, p.then.Books)
		}
		if partition.IsFault(err) {
			v.Faults = append(v.Faults, err)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot open partition %s: %w", id, err)
		}
		v.partitions = append(v.partitions, p)
	}
	return v, nil
}

// Manifests returns the manifests of the partitions as they were at the moment of the inventory,
// except that packages have their present keys (see Page.Key). Partitions that could not be opened
// are left out.
func (v *Inventory) Manifests() (all []*manifest.Manifest) {
	for _, p := range v.partitions {
		m := p.then.Clone()
		for i := range m.Packages {
			m.Packages[i].Key = p.keyNow(m.Packages[i].Key)
		}
		all = append(all, &m)
	}
	return all
}

// Empty reports whether no partition had a manifest yet at the moment of the inventory. It is false
// if a partition could not be opened.
func (v *Inventory) Empty() bool {
	return len(v.Faults) == 0 && !slices.ContainsFunc(v.partitions, func(p *part) bool { return p.then.Generation > 0 })
}

// keyNow returns the present key of a package, given its present key or an earlier one. If the
// partition no longer has the package, it returns the given key.
func (p *part) keyNow(key string) string {
	if listed := p.now.Package(key); listed != nil {
		return listed.Key
	}
	return key
}

// Pages yields the stored pages that match the selection. All pages of a site come one after
// another. Pages that a takedown forgets are left out. A selection by language includes the pages
// that are not in the index, since their language is unknown. An error ends the sequence; one says that
// the wanted collection does not exist, if no page is of it either. Besides the
// data that ReadIndex keeps, Pages needs little memory: for each book, one block and the bytes of one
// request.
func (v *Inventory) Pages(ctx context.Context, selected Selection) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		wanted, err := selected.parse()
		if err != nil {
			yield(Page{}, err)
			return
		}
		keys, hidden := make(map[string]string), v.settings.Takedowns.Hidden()
		labelled := false // whether any page is of the wanted collection
		for s, err := range v.standings(ctx) {
			if err != nil {
				yield(Page{}, err)
				return
			}
			o := s.Page
			if !s.Stands() || o.Package == "" || hidden.ForgetsURL(o.URL) {
				continue
			}
			key, known := keys[o.Package]
			if !known {
				key = s.of.keyNow(o.Package)
				keys[o.Package] = key
			}
			page := Page{Outcome: o, Key: key}
			if number, found := s.of.find(key, o.Offset); found {
				known := v.kinds.all[number]
				page.Indexed, page.Lang, page.LangSource, page.MIME = true, known.lang, known.source, known.mime
			}
			labelled = labelled || slices.Contains(page.Collections, wanted.Collection)
			if wanted.has(&page) && !yield(page, nil) {
				return
			}
		}
		if err := v.settings.CheckName(wanted.Collection); err != nil && !labelled {
			yield(Page{}, err)
		}
	}
}

// Alias is an address that leads to another address, by a redirect or because its page names that
// one as the canonical address. No page is stored under an alias.
type Alias struct {
	ID layout.Identity
	// To has the identities (hashes of URLs) under which the target page may be stored. The first is that
	// of the target's full URL. But the page may be stored under a shorter URL, because collections can be
	// set to drop query parameters from URLs. The identities of these shorter URLs follow.
	To []layout.Identity
}

// Aliases yields all aliases. An error ends the sequence.
func (v *Inventory) Aliases(ctx context.Context) iter.Seq2[Alias, error] {
	return func(yield func(Alias, error) bool) {
		for s, err := range v.standings(ctx) {
			if err != nil {
				yield(Alias{}, err)
				return
			}
			if s.Final == nil {
				continue
			}
			var to []layout.Identity
			for _, at := range v.settings.LedTo(*s.Final) {
				to = append(to, at.ID)
			}
			if len(to) > 0 && !yield(Alias{s.Final.Identity(), to}, nil) {
				return
			}
		}
	}
}

// selector is a selection that was checked, with Site in canonical form.
type selector struct {
	Selection
	// number of the site. It is the upper half of the place of each of the site's URLs; a place is a
	// hash of 64 bits by which URLs are ordered.
	number uint32
}

func (s Selection) parse() (selector, error) {
	if s.Site == "" {
		return selector{Selection: s}, nil
	}
	a, err := address.Parse("http://" + s.Site + "/")
	if err != nil || strings.ContainsAny(s.Site, "/?#@") {
		return selector{}, literal.Wrong("site", s.Site, "a host or domain, such as example.org")
	}
	s.Site = a.Host
	return selector{s, a.Place.Site()}, nil
}

func (s *selector) has(p *Page) bool {
	if s.Collection != "" && !slices.Contains(p.Collections, s.Collection) ||
		!s.Since.IsZero() && p.Time.Before(s.Since) || !s.Until.IsZero() && !p.Time.Before(s.Until) ||
		s.Lang != "" && p.Indexed && p.Lang != s.Lang || s.Site != "" && p.Place.Site() != s.number {
		return false
	}
	if s.Site == "" {
		return true
	}
	a, err := address.Parse(p.URL)
	return err == nil && (a.Host == s.Site || a.Site == s.Site)
}

// standing holds those outcomes (records of requests) of one URL that determine whether it is
// stored, failed or pending (see book.Standing). They may come from the books of several
// partitions: a strategy may have moved the URL from one to another.
type standing struct {
	book.Standing
	of *part // partition whose books say where the page is stored (Standing.Page)
}

// standings yields, for every URL, the outcomes (records of requests) that determine its state. The
// URLs come in the order of their places (hashes by which books are sorted). If the books of a
// partition are damaged, standings adds the error to Faults, and goes on without the remaining
// outcomes of this partition.
func (v *Inventory) standings(ctx context.Context) iter.Seq2[standing, error] {
	return func(yield func(standing, error) bool) {
		streams := make([]*stream, 0, len(v.partitions))
		for _, p := range v.partitions {
			next, stop := iter.Pull2(p.books.Standings(ctx))
			defer stop()
			streams = append(streams, &stream{of: p, next: next})
		}
		advance := func(s *stream) error {
			err := s.advance()
			if partition.IsFault(err) {
				v.Faults = append(v.Faults, err)
				err = nil
			}
			return err
		}
		for _, s := range streams {
			if err := advance(s); err != nil {
				yield(standing{}, err)
				return
			}
		}
		for {
			var least *stream
			for _, s := range streams {
				if s.at != nil && (least == nil || compare(s.at, least.at) < 0) {
					least = s
				}
			}
			if least == nil {
				return
			}
			group := slices.DeleteFunc(slices.Clone(streams), func(s *stream) bool { return s.at == nil || compare(s.at, least.at) != 0 })
			if !yield(merge(group), nil) {
				return
			}
			for _, s := range group {
				if err := advance(s); err != nil {
					yield(standing{}, err)
					return
				}
			}
		}
	}
}

// stream reads the books of one partition, URL by URL. Books hold outcomes, which are records of
// requests. The field head has those outcomes of the current URL that determine its state: whether it
// is stored, failed or pending.
type stream struct {
	of   *part
	next func() (book.Standing, error, bool)
	head book.Standing
	at   *book.Outcome // an outcome of the current URL, to compare this URL with those of other streams; nil at the end
}

func (s *stream) advance() error {
	head, err, more := s.next()
	s.head, s.at = head, nil
	if more && err == nil {
		s.at = cmp.Or(head.Page, head.Final, head.Asked)
	}
	return err
}

// compare compares the URLs of two outcomes by the order that URLs have in books: by place, then by
// identity. Both are hashes.
func compare(a, b *book.Outcome) int {
	if a.Place != b.Place || a.URL == b.URL {
		return cmp.Compare(a.Place, b.Place)
	}
	return a.Identity().Compare(b.Identity())
}

// merge selects the outcomes that determine the state of one URL, if several partitions have outcomes of
// it. The parameter group has the streams of these partitions. The URL must be the current one of each
// stream.
func merge(group []*stream) standing {
	if len(group) == 1 {
		return standing{group[0].head, group[0].of}
	}
	var s standing
	for _, one := range group {
		for _, o := range []*book.Outcome{one.head.Page, one.head.Final, one.head.Asked} {
			if o != nil {
				s.Add(o)
			}
			if s.Page != nil && s.Page == one.head.Page {
				s.of = one.of
			}
		}
	}
	return s
}
