package inventory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// fact holds the language and the media type of a page. offset is the byte at which the page begins
// in its package (packages are smaller than 4 GiB). kind is an index in kinds.all.
type fact struct{ offset, kind uint32 }

// kind describes a page by its language, by how this language is known (for instance declared by the page,
// or guessed), and by its media type. Many pages are of the same kind. So kinds are numbered, and for each
// page only the number is kept in memory (see fact).
type kind struct{ lang, source, mime string }

type kinds struct {
	all    []kind
	number map[kind]uint32
}

func (k *kinds) of(one kind) uint32 {
	n, known := k.number[one]
	if !known {
		if k.number == nil {
			k.number = make(map[kind]uint32)
		}
		n = uint32(len(k.all))
		k.all, k.number[one] = append(k.all, one), n
	}
	return n
}

// segmentsAtOnce is how many segments are read concurrently.
const segmentsAtOnce = 4

// ReadIndex reads the languages and media types of all indexed pages. If it is called before Pages, the
// pages that Pages yields have these data. ReadIndex opens each segment and reads four of its columns.
// It keeps 8 bytes in memory for each page. For each segment that cannot be read, it adds an error to
// Unindexed.
func (v *Inventory) ReadIndex(ctx context.Context) error {
	var mu sync.Mutex // protects v and the partitions
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(segmentsAtOnce)
	for _, p := range v.partitions {
		p.index = make(map[string][]fact)
		for i := range p.then.Segments {
			listed := &p.then.Segments[i]
			group.Go(func() error {
				read, err := v.readColumns(within, listed)
				mu.Lock()
				defer mu.Unlock()
				if partition.IsDamaged(err) || errors.Is(err, segment.ErrVersion) {
					v.Unindexed = append(v.Unindexed, fmt.Errorf("language and type of %d pages are not known: %w; run bucketsearch verify --repair", listed.Documents, err))
					return nil
				}
				if err == nil {
					v.learn(p, read)
				}
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("cannot read the index: %w", err)
	}
	for _, p := range v.partitions {
		for _, facts := range p.index {
			slices.SortFunc(facts, func(a, b fact) int { return cmp.Compare(a.offset, b.offset) })
		}
	}
	return nil
}

// columns holds the data that ReadIndex reads from a segment. Each element of parts is a package, with the
// number of documents that the segment has from this package. The other fields have one value for each
// document of the segment.
type columns struct {
	parts                     []segment.Part
	languages, sources, types *segment.StringColumn
	offsets                   []uint64
}

func (v *Inventory) readColumns(ctx context.Context, listed *manifest.Segment) (c columns, err error) {
	s, err := partition.OpenSegment(ctx, segment.Ranges{Bucket: v.bucket}, listed)
	if err != nil {
		return c, err
	}
	c.parts = s.Parts()
	if c.languages, err = s.Strings(ctx, segment.Languages); err != nil {
		return c, err
	}
	if c.sources, err = s.Strings(ctx, segment.LanguageSources); err != nil {
		return c, err
	}
	if c.types, err = s.Strings(ctx, segment.Types); err != nil {
		return c, err
	}
	c.offsets, err = s.Numbers(ctx, segment.Offsets)
	return c, err
}

// learn adds the language and the media type of each document of a segment to p.index. The method find
// looks them up there, by the key of the document's package and its offset in the package.
func (v *Inventory) learn(p *part, c columns) {
	doc := uint32(0)
	for _, of := range c.parts {
		key := p.keyNow(of.Package)
		facts := slices.Grow(p.index[key], of.Documents)
		for range of.Documents {
			one := kind{first(c.languages.Get(doc)), first(c.sources.Get(doc)), first(c.types.Get(doc))}
			facts = append(facts, fact{uint32(c.offsets[doc]), v.kinds.of(one)})
			doc++
		}
		p.index[key] = facts
	}
}

func first(set []string) string {
	if len(set) == 0 {
		return ""
	}
	return set[0]
}

// find returns the number of a page's kind (language and media type), given the key of its package
// and the page's offset there. found is false if the index does not have the page.
func (p *part) find(key string, offset int64) (number uint32, found bool) {
	facts := p.index[key]
	i, found := slices.BinarySearchFunc(facts, offset, func(f fact, offset int64) int { return cmp.Compare(int64(f.offset), offset) })
	if !found {
		return 0, false
	}
	return facts[i].kind, true
}
