package segments

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// atOnce is how many segments are read concurrently.
const atOnce = 4

// Finder finds the documents of wanted URLs in segments. It keeps its results in memory, so that it
// reads each segment only once even if a commit that needs them is tried several times. It is safe
// for concurrent use.
type Finder struct {
	source segment.Source
	wanted []layout.Identity // in ascending order

	mu    sync.Mutex // protects known
	known map[string][]segment.Match
}

// NewFinder returns a Finder of the URLs with the wanted identities. The parameter source reads the segments.
func NewFinder(source segment.Source, wanted iter.Seq[layout.Identity]) *Finder {
	return &Finder{source: source, wanted: slices.SortedFunc(wanted, layout.Identity.Compare), known: make(map[string][]segment.Match)}
}

// Find returns the documents of wanted URLs in a segment that a manifest lists, dead documents
// included. If the segment has none, Find makes one request (see segment.Find).
func (f *Finder) Find(ctx context.Context, s *manifest.Segment) ([]segment.Match, error) {
	f.mu.Lock()
	found, known := f.known[s.Key]
	f.mu.Unlock()
	if known {
		return found, nil
	}
	opened, err := partition.OpenToFind(ctx, f.source, s)
	if err == nil {
		found, err = opened.Find(ctx, f.wanted)
	}
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known[s.Key] = found
	return found, nil
}

// All returns the documents of a segment that a manifest lists, dead documents included. It reads the columns
// of identities and versions.
func All(ctx context.Context, bucket blob.Reader, s *manifest.Segment) ([]segment.Match, error) {
	opened, err := partition.OpenSegment(ctx, segment.Ranges{Bucket: bucket}, s)
	if err != nil {
		return nil, err
	}
	ids, err := opened.Identities(ctx)
	if err != nil {
		return nil, err
	}
	versions, err := opened.Versions(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]segment.Match, len(ids))
	for doc := range all {
		all[doc] = segment.Match{Doc: uint32(doc), ID: ids[doc], Version: versions[doc]}
	}
	return all, nil
}

// Forgotten returns the documents of a segment that takedowns forget, dead documents included. It finds forgotten
// pages by their identities (see segment.Find). If whole sites are forgotten, it also reads the column of sites.
func Forgotten(ctx context.Context, s *segment.Segment, takedowns takedown.Set) (*roaring.Bitmap, error) {
	forgotten := roaring.New()
	found, err := s.Find(ctx, slices.Collect(takedowns.IDs()))
	if err != nil {
		return nil, err
	}
	for _, d := range found {
		forgotten.Add(d.Doc)
	}
	if !takedowns.HasSites() {
		return forgotten, nil
	}
	sites, err := s.Strings(ctx, segment.Sites)
	if err != nil {
		return nil, err
	}
	ofSet := make([]bool, len(sites.Sets))
	for n, set := range sites.Sets {
		ofSet[n] = slices.ContainsFunc(set, func(site uint32) bool { return takedowns.ForgetsSite(sites.Values[site]) })
	}
	for doc, n := range sites.Of {
		if ofSet[n] {
			forgotten.Add(uint32(doc))
		}
	}
	return forgotten, nil
}

// Judge determines which documents are to become dead, so that searches do not find them any more. It
// calls the function judge for each segment that the manifest lists, for several at the same time. judge
// must return all documents of the segment that are to be dead from now on, including those that are dead
// already. If there are no further ones, it must return nil.
//
// The map dead has the results of judge that are not nil, by segment key (as partition.Edit.Mask takes
// them). If a segment is damaged, Judge logs this and leaves the segment out. Then whole is false.
func Judge(ctx context.Context, log *slog.Logger, m *manifest.Manifest, judge func(context.Context, *manifest.Segment) (*roaring.Bitmap, error)) (dead map[string]*roaring.Bitmap, whole bool, err error) {
	dead, whole = make(map[string]*roaring.Bitmap), true
	var mu sync.Mutex // protects dead and whole
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, s := range m.Segments {
		group.Go(func() error {
			own, err := judge(within, &s)
			if partition.IsDamaged(err) { // perhaps damaged only in transfer: try again
				own, err = judge(within, &s)
			}
			mu.Lock()
			defer mu.Unlock()
			if partition.IsDamaged(err) {
				log.ErrorContext(ctx, "a segment cannot be read, and nothing of it is masked until it is repaired",
					"partition", m.Partition, "key", s.Key, "error", err)
				whole = false
				return nil
			}
			if own != nil {
				dead[s.Key] = own
			}
			return err
		})
	}
	return dead, whole, group.Wait()
}

// LivePackages reports for each package whether it still has live documents. The keys of the result are
// the identifiers of packages. Only the segments for which the function included returns true are examined.
// If a segment's list of dead documents is damaged, all documents of the segment count as live.
func LivePackages(ctx context.Context, bucket blob.Reader, m *manifest.Manifest, included func(*manifest.Segment) bool) (map[uint32]bool, error) {
	live := make(map[uint32]bool)
	for i := range m.Segments {
		s := &m.Segments[i]
		if !included(s) {
			continue
		}
		dead, err := partition.Dead(ctx, bucket, s)
		if partition.IsDamaged(err) {
			dead, err = roaring.New(), nil
		}
		if err != nil {
			return nil, err
		}
		for _, part := range s.Parts {
			from, to, _ := s.Part(part.Package)
			own := roaring.New()
			own.AddRange(uint64(from), uint64(to))
			live[part.Package] = live[part.Package] || own.AndCardinality(dead) < uint64(part.Documents)
		}
	}
	return live, nil
}

// Gone makes a new list of gone pages for a manifest: pages that were stored and have vanished from the
// web. The list is needed when packages are indexed anew, or when an overlay that marks gone pages as
// dead is lost. Without it, queries would find gone pages again. A page is on the list if two conditions
// hold:
//
//	it is in a package of the manifest, or on the manifest's present list of gone pages
//	by the books of the manifest and of the partitions in elsewhere, it is gone
//
// The parameter elsewhere has other partitions to which a strategy may have moved URLs. Gone reads all
// these books, and the list of pages in every package of the manifest. In the result, Masked is false for
// each page.
func Gone(ctx context.Context, bucket blob.Reader, m *manifest.Manifest, elsewhere []layout.Partition) ([]manifest.Gone, error) {
	listed := m.Books
	for _, id := range elsewhere {
		other, err := manifest.Read(ctx, bucket, id)
		if err != nil {
			return nil, err
		}
		listed = slices.Concat(listed, other.Books)
	}
	gone, err := goneByBooks(ctx, bucket, listed)
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	needed := manifest.Manifest{}
	need := func(id layout.Identity) {
		if version, found := gone[id]; found {
			needed.Gone = append(needed.Gone, manifest.Gone{ID: id, Version: version})
		}
	}
	for _, listed := range m.Gone {
		need(listed.ID)
	}
	const parallel = 8
	var mu sync.Mutex // protects needed
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, pkg := range m.Packages {
		group.Go(func() error {
			pages, err := webobject.List(within, bucket, pkg.Key)
			if errors.Is(err, webobject.ErrDamaged) || errors.Is(err, blob.ErrAbsent) {
				return nil // function index cannot read the package either
			}
			mu.Lock()
			defer mu.Unlock()
			for _, page := range pages {
				need(layout.IdentityOf(page.URL))
			}
			return err
		})
	}
	err = group.Wait()
	needed.AddGone()
	return needed.Gone, err
}

// goneByBooks returns the pages that are gone from the web according to the listed books, each with
// the version of the outcome (record of a request) that says so.
func goneByBooks(ctx context.Context, bucket blob.Reader, listed []manifest.Book) (map[layout.Identity]layout.Version, error) {
	books, err := partition.OpenBooks(ctx, bucket, listed)
	if err != nil {
		return nil, err
	}
	gone := make(map[layout.Identity]layout.Version)
	for s, err := range books.Standings(ctx) {
		if err != nil {
			return nil, err
		}
		if s.Gone() {
			gone[s.Final.Identity()] = s.Final.Version
		}
	}
	return gone, nil
}
