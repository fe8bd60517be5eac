package report

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// Size is a row of the table of sizes, such as the row for all packages.
type Size struct {
	What  string `json:"what"`
	Count int64  `json:"count"` // number of units; Unit names the unit, such as "page"
	Unit  string `json:"unit"`
	Bytes int64  `json:"bytes"`
}

// Numbers of the rows of the table of sizes, in the order of the rows.
const (
	fetched = iota
	packages
	terms
	positions
	dictionary
	suggestions
	texts
	columns
	tails
	overlays
	ranks
	anchors
	unvisited
	dictionaries
	links
	outcomes
	directories
	kinds // number of rows of the table
)

// measured is the table of sizes that is being filled while objects are measured.
type measured struct {
	bucket blob.Reader

	mu     sync.Mutex // protects the fields below
	rows   [kinds]Size
	unread []error // an error for each damaged or missing object
}

// atOnce is the number of objects that are read concurrently.
const atOnce = 8

// measure fills the report's table of sizes. It counts the objects that the given manifests (one for
// each partition) list. To this end it reads the directory of each package, book and segment. The
// result unread has an error for each object that is damaged or missing. Of such an object, the table
// may lack some or all figures.
func (r *Report) measure(ctx context.Context, bucket blob.Reader, generations []*manifest.Manifest) (unread []error, err error) {
	m := measured{bucket: bucket, rows: [kinds]Size{
		fetched:      {What: "pages and assets before compression", Unit: "object"},
		packages:     {What: "packages", Unit: "package"},
		terms:        {What: "index: terms and postings", Unit: "term"},
		positions:    {What: "index: positions"},
		dictionary:   {What: "index: dictionary of words"},
		suggestions:  {What: "index: suggestions while typing"},
		texts:        {What: "index: titles and texts", Unit: "document"},
		columns:      {What: "index: columns of documents", Unit: "document"},
		tails:        {What: "index: tails of segments", Unit: "segment"},
		overlays:     {What: "index: overlays of dead documents", Unit: "document"},
		ranks:        {What: "index: overlays of ranks", Unit: "document"},
		anchors:      {What: "index: overlays of anchors", Unit: "document"},
		unvisited:    {What: "index: pages that are known by links only", Unit: "document"},
		dictionaries: {What: "index: dictionaries between languages", Unit: "term"},
		links:        {What: "links", Unit: "link"},
		outcomes:     {What: "outcomes of URLs", Unit: "outcome"},
		directories:  {What: "directories of books", Unit: "book"},
	}}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	read := func(what func(context.Context) error) {
		group.Go(func() error { return m.fault(what(within)) })
	}
	for _, g := range generations {
		for _, p := range g.Packages {
			read(func(ctx context.Context) error { return m.addPackage(ctx, p) })
		}
		for _, s := range g.Segments {
			read(func(ctx context.Context) error { return m.addSegment(ctx, s) })
		}
		if u := g.Unvisited; u != nil {
			m.add(map[int]Size{unvisited: {Count: int64(u.Documents), Bytes: u.Bytes}})
		}
		if g.Dictionaries != nil {
			for _, d := range g.Dictionaries.All {
				m.add(map[int]Size{dictionaries: {Count: int64(d.Terms), Bytes: d.Bytes}})
			}
		}
		for _, b := range g.Books {
			read(func(ctx context.Context) error { return m.addBook(ctx, b) })
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	without := Size{What: "all without packages"}
	for _, row := range m.rows[packages+1:] {
		without.Bytes += row.Bytes
	}
	all := Size{What: "all", Bytes: without.Bytes + m.rows[packages].Bytes}
	r.Sizes = append(m.rows[:], without, all)
	return m.unread, nil
}

// fault handles an error of reading an object. If the object is damaged, missing or of an unknown
// version, fault adds an error to m.unread and returns nil. It returns any other error.
func (m *measured) fault(err error) error {
	if !partition.IsDamaged(err) && !errors.Is(err, webobject.ErrDamaged) && !errors.Is(err, book.ErrDamaged) && !errors.Is(err, segment.ErrVersion) {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unread = append(m.unread, fmt.Errorf("sizes in an object that cannot be read: %w; run bucketsearch verify --repair", err))
	return nil
}

// add adds counts and bytes to several rows of the table at once. A key of the map is the number of a
// row: one of the constants fetched, packages, terms, … above. The value is added to that row.
func (m *measured) add(rows map[int]Size) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, size := range rows {
		m.rows[i].Count += size.Count
		m.rows[i].Bytes += size.Bytes
	}
}

func (m *measured) addPackage(ctx context.Context, p manifest.Package) error {
	m.add(map[int]Size{packages: {Count: 1, Bytes: p.Bytes}})
	size, err := webobject.Uncompressed(ctx, m.bucket, p.Key)
	if err == nil {
		m.add(map[int]Size{fetched: {Count: int64(p.Pages), Bytes: size}})
	}
	return err
}

func (m *measured) addSegment(ctx context.Context, listed manifest.Segment) error {
	if d := listed.Deletions; d != nil {
		m.add(map[int]Size{overlays: {Count: int64(d.Documents), Bytes: d.Bytes}})
	}
	if r := listed.Ranks; r != nil {
		m.add(map[int]Size{ranks: {Count: int64(listed.Documents), Bytes: r.Bytes}})
	}
	if a := listed.Anchors; a != nil {
		m.add(map[int]Size{anchors: {Count: int64(listed.Documents), Bytes: a.Bytes}})
	}
	s, err := partition.OpenSegment(ctx, segment.Ranges{Bucket: m.bucket}, &listed)
	if err != nil {
		return err
	}
	sizes, count := s.Sizes()
	documents := int64(listed.Documents)
	m.add(map[int]Size{
		terms: {Count: count, Bytes: sizes.Terms}, positions: {Bytes: sizes.Positions}, dictionary: {Bytes: sizes.Words},
		suggestions: {Bytes: sizes.Suggestions},
		texts:       {Count: documents, Bytes: sizes.Stored}, columns: {Count: documents, Bytes: sizes.Columns}, tails: {Count: 1, Bytes: sizes.Tail},
	})
	return nil
}

func (m *measured) addBook(ctx context.Context, listed manifest.Book) error {
	b, err := book.Open(ctx, m.bucket, listed.Key)
	if err != nil {
		return err
	}
	ofOutcomes, ofLinks := b.Sizes()
	countOutcomes, countLinks := b.Counts()
	m.add(map[int]Size{
		outcomes: {Count: int64(countOutcomes), Bytes: ofOutcomes}, links: {Count: int64(countLinks), Bytes: ofLinks},
		directories: {Count: 1, Bytes: listed.Bytes - ofOutcomes - ofLinks},
	})
	return nil
}
