package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Collected is a collection together with what the index has of it.
type Collected struct {
	collection.Collection
	Pages     int        // number of its pages in the index
	Languages []Language // languages of these pages, those with the most pages first
	Newest    time.Time  // last time at which one of these pages was fetched; zero if there are none
}

// Language is a language with its number of pages.
type Language struct {
	Code  string // primary subtag (RFC 5646), such as de; "" for pages whose language is not known
	Pages int
}

// Collections returns all collections, sorted by name, and notes: sentences that say which pages are not
// counted. A collection that was removed but still has pages has only the field Name of
// collection.Collection. Collections reads three columns of each segment, which are cached like those for
// filters.
func (e *Engine) Collections(ctx context.Context) (all []Collected, notes []string, err error) {
	inForce, err := e.Settings.Get(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot list collections: %w", err)
	}
	current, err := e.snapshots.get(ctx, e)
	if err == nil {
		err = current.allLost()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot list collections: %w", err)
	}
	tallies, missing, err := current.tally(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot list collections: %w", err)
	}
	for _, c := range inForce.Collections {
		all = append(all, tallies[c.Name].collected(c))
		delete(tallies, c.Name)
	}
	for name, t := range tallies {
		all = append(all, t.collected(collection.Collection{Name: name}))
	}
	slices.SortFunc(all, func(a, b Collected) int { return strings.Compare(a.Name, b.Name) })
	if lost := current.anyLost(); lost != nil {
		notes = append(notes, lost.Error())
	}
	if missing += len(current.missing); missing > 0 {
		notes = append(notes, fmt.Sprintf("%d segments of the index are damaged: their pages are not counted.", missing))
	}
	if n := current.unindexed(); n > 0 {
		notes = append(notes, fmt.Sprintf("%d pages wait to be indexed, and are not counted.", n))
	}
	return all, notes, nil
}

// tally counts the pages of a collection: languages has their number by language, and newest is the last
// time at which one of them was fetched, in milliseconds since 1970.
type tally struct {
	languages map[string]int
	newest    uint64
}

func (t *tally) collected(c collection.Collection) Collected {
	all := Collected{Collection: c}
	if t == nil {
		return all
	}
	for code, pages := range t.languages {
		all.Pages += pages
		all.Languages = append(all.Languages, Language{code, pages})
	}
	slices.SortFunc(all.Languages, func(a, b Language) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), strings.Compare(a.Code, b.Code))
	})
	all.Newest = time.UnixMilli(int64(t.newest)).UTC()
	return all
}

// tally counts the documents of the snapshot for each collection, by its name. The result missing is the
// number of segments that are not counted because their columns cannot be used.
func (s *snapshot) tally(ctx context.Context) (tallies map[string]*tally, missing int, err error) {
	var pages []opened
	for _, m := range s.manifests {
		for _, listed := range m.Segments {
			if o, found := s.segments[listed.Key]; found {
				pages = append(pages, o)
			}
		}
	}
	columns := make([]*counted, len(pages))
	fork := meter.NewFork(ctx)
	var group errgroup.Group
	for i, o := range pages {
		branch := fork.Branch()
		group.Go(func() error {
			of, err := readCounted(branch, o.segment)
			if unusable(err) {
				return nil
			}
			columns[i] = of
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, 0, err
	}
	tallies = make(map[string]*tally)
	for i, of := range columns {
		if of == nil {
			missing++
			continue
		}
		of.add(tallies, pages[i])
	}
	return tallies, missing, nil
}

// counted has the columns of a segment by which tally counts.
type counted struct {
	collections, languages *segment.StringColumn
	fetched                []uint64
}

func readCounted(ctx context.Context, s *segment.Segment) (*counted, error) {
	var c counted
	fork := meter.NewFork(ctx)
	var group errgroup.Group
	for name, column := range map[string]**segment.StringColumn{segment.Collections: &c.collections, segment.Languages: &c.languages} {
		branch := fork.Branch()
		group.Go(func() (err error) {
			*column, err = s.Strings(branch, name)
			return err
		})
	}
	branch := fork.Branch()
	group.Go(func() (err error) {
		c.fetched, err = s.Numbers(branch, segment.Dates)
		return err
	})
	return &c, group.Wait()
}

// add adds the documents of the segment of to the tallies of their collections, except documents that are
// dead (replaced or erased).
func (c *counted) add(tallies map[string]*tally, of opened) {
	for doc, fetched := range c.fetched {
		if of.dead != nil && of.dead.ContainsInt(doc) {
			continue
		}
		for _, name := range c.collections.Get(uint32(doc)) {
			t := tallies[name]
			if t == nil {
				t = &tally{languages: make(map[string]int)}
				tallies[name] = t
			}
			t.newest = max(t.newest, fetched)
			code := ""
			if codes := c.languages.Get(uint32(doc)); len(codes) > 0 {
				code = codes[0]
			}
			t.languages[code]++
		}
	}
}
