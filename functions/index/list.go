package index

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// parallel is how many segments are compared with the new one at once.
const parallel = 4

// listing makes it true that a package is indexed.
type listing struct {
	*Function
	pkg   manifest.Package
	pages []*segments.Page
	own   map[layout.Identity]uint32 // the documents of the pages
	built *manifest.Segment          // nil when there is no page
	put   time.Time                  // when that was put, or shortly before

	mu    sync.Mutex
	known map[string][]rival // by segment: what an edit that is called again need not read
}

// rival is a document of another segment that has the URL of one of ours.
type rival struct {
	own, other uint32
	newer      bool // than ours, or of the same version
}

func newListing(f *Function, pkg manifest.Package, pages []*segments.Page) *listing {
	l := &listing{Function: f, pkg: pkg, pages: pages, own: make(map[layout.Identity]uint32, len(pages)), known: make(map[string][]rival)}
	for i, p := range pages {
		l.own[p.ID] = uint32(i)
	}
	return l
}

// edit marks the package as indexed and lists its segment, if it has one, in
// place of what other segments hold of an earlier form of it. Of all versions
// of a page in the partition, the last one stays alive. A package is indexed
// exactly once, whoever was faster. It returns errAgain when pages were erased
// from the package since, or the segment may not be listed any more.
func (l *listing) edit(ctx context.Context, m *manifest.Manifest) error {
	i := slices.IndexFunc(m.Packages, func(listed manifest.Package) bool { return listed.ID == l.pkg.ID })
	switch {
	case i < 0 || m.Packages[i].Indexed:
		return manifest.ErrUnchanged
	case m.Packages[i].Key != l.pkg.Key || l.built != nil && !m.MayList(l.built.Key, l.Now().Sub(l.put)):
		return errAgain
	}
	m.Packages[i].Indexed = true
	if l.built != nil { // one of the same bytes gets masks of its own
		m.Segments = slices.DeleteFunc(m.Segments, func(s manifest.Segment) bool { return s.Key == l.built.Key })
	}
	dead := make(map[string]*roaring.Bitmap)
	own := roaring.New()
	var mu sync.Mutex // protects dead and own
	compare, within := errgroup.WithContext(ctx)
	compare.SetLimit(parallel)
	for _, s := range m.Segments {
		compare.Go(func() error {
			others, ours, err := l.compare(within, &s)
			if segments.Damaged(err) { // perhaps on the way only
				others, ours, err = l.compare(within, &s)
			}
			if segments.Damaged(err) {
				l.Log.ErrorContext(ctx, "a segment cannot be read, and nothing of it is masked until it is repaired",
					"partition", m.Partition, "key", s.Key, "error", err)
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			if others != nil {
				dead[s.Key] = others
			}
			own.AddMany(ours)
			return err
		})
	}
	if err := compare.Wait(); err != nil {
		return err
	}
	if l.built != nil {
		s := *l.built
		s.Parts = []manifest.Part{{Package: l.pkg.ID, Documents: s.Documents}}
		m.Segments = append(m.Segments, s)
		if !own.IsEmpty() {
			dead[s.Key] = own
		}
	}
	return segments.Mask(ctx, l.Bucket, m, l.Now(), dead)
}

// compare returns all documents of another segment that are dead from now on,
// nil when nothing changes, and those of ours that a document there supersedes.
func (l *listing) compare(ctx context.Context, s *manifest.Segment) (others *roaring.Bitmap, ours []uint32, err error) {
	from, to, replaced := s.Part(l.pkg.ID)
	if replaced && to-from == s.Documents { // nothing of it is left, be it damaged
		dead := roaring.New()
		dead.AddRange(0, uint64(s.Documents))
		return dead, nil, nil
	}
	rivals, err := l.rivals(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	if len(rivals) == 0 && !replaced {
		return nil, nil, nil
	}
	dead, err := segments.Dead(ctx, l.Bucket, s)
	if err != nil {
		return nil, nil, err
	}
	dead.AddRange(uint64(from), uint64(to))
	for _, r := range rivals {
		switch {
		case dead.Contains(r.other):
		case r.newer:
			ours = append(ours, r.own)
		default:
			dead.Add(r.other)
		}
	}
	return dead, ours, nil
}

// rivals reads the columns of another segment, once.
func (l *listing) rivals(ctx context.Context, s *manifest.Segment) ([]rival, error) {
	l.mu.Lock()
	rivals, known := l.known[s.Key]
	l.mu.Unlock()
	if known || l.built == nil {
		return rivals, nil
	}
	opened, err := segments.Open(ctx, segments.Ranges{Bucket: l.Bucket}, s)
	if err != nil {
		return nil, err
	}
	identities, err := opened.Identities(ctx)
	if err != nil {
		return nil, err
	}
	for doc, id := range identities {
		if i, found := l.own[id]; found {
			rivals = append(rivals, rival{own: i, other: uint32(doc)})
		}
	}
	if len(rivals) > 0 {
		versions, err := opened.Versions(ctx)
		if err != nil {
			return nil, err
		}
		for i := range rivals {
			r := &rivals[i]
			r.newer = versions[r.other].Compare(l.pages[r.own].Version) >= 0
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known[s.Key] = rivals
	return rivals, nil
}
