package segments

import (
	"context"
	"log/slog"
	"sync"

	"github.com/RoaringBitmap/roaring"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// atOnce is how many segments are looked into at once.
const atOnce = 4

// Match is a document of one of the URLs that are looked for.
type Match struct {
	Doc     uint32
	ID      layout.Identity
	Version layout.Version
}

// Finder finds the documents of some URLs. It looks into each segment once, so
// that an edit that is called again need not. It is safe for concurrent use.
type Finder struct {
	bucket blob.Reader
	wanted func(layout.Identity) bool

	mu    sync.Mutex // protects known
	known map[string][]Match
}

// NewFinder returns a Finder of the URLs that are wanted.
func NewFinder(bucket blob.Reader, wanted func(layout.Identity) bool) *Finder {
	return &Finder{bucket: bucket, wanted: wanted, known: make(map[string][]Match)}
}

// Find returns what a listed segment has, dead or alive, by its columns.
func (f *Finder) Find(ctx context.Context, s *manifest.Segment) ([]Match, error) {
	f.mu.Lock()
	found, known := f.known[s.Key]
	f.mu.Unlock()
	if known {
		return found, nil
	}
	opened, err := partition.OpenSegment(ctx, segment.Ranges{Bucket: f.bucket}, s)
	if err != nil {
		return nil, err
	}
	identities, err := opened.Identities(ctx)
	if err != nil {
		return nil, err
	}
	for doc, id := range identities {
		if f.wanted(id) {
			found = append(found, Match{Doc: uint32(doc), ID: id})
		}
	}
	if len(found) > 0 {
		versions, err := opened.Versions(ctx)
		if err != nil {
			return nil, err
		}
		for i := range found {
			found[i].Version = versions[found[i].Doc]
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known[s.Key] = found
	return found, nil
}

// Judge asks of every listed segment, of some at once, which of its documents
// are dead from now on, for Mask; nil says that nothing changes. It leaves out
// a segment that is damaged, with an error in the log, until it is repaired:
// whole is false then.
func Judge(ctx context.Context, log *slog.Logger, m *manifest.Manifest, judge func(context.Context, *manifest.Segment) (*roaring.Bitmap, error)) (dead map[string]*roaring.Bitmap, whole bool, err error) {
	dead, whole = make(map[string]*roaring.Bitmap), true
	var mu sync.Mutex // protects dead and whole
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, s := range m.Segments {
		group.Go(func() error {
			own, err := judge(within, &s)
			if partition.IsDamaged(err) { // perhaps on the way only
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
