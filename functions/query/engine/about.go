package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// About says what is in an index: how many pages, sites and languages, and examples of queries.
type About struct {
	Pages   int // number of pages that can be found
	Waiting int // number of stored pages that wait to be indexed
	// numbers of different values, as far as pages have any
	Sites, Languages, Collections int
	Largest                       []string // the sites with the most pages
	Across                        []string // languages into which queries can be translated, such as "de", sorted
	Examples                      []string // a few titles of pages, as examples of queries
}

const (
	sitesShown    = 5  // greatest number of About.Largest
	examplesShown = 4  // greatest number of About.Examples
	examplesRead  = 12 // number of pages whose titles are considered
	exampleSize   = 40 // greatest number of characters of an example
)

// abouts keeps the last About, and the snapshot that it describes. It is safe for concurrent use.
type abouts struct {
	mu   sync.Mutex // protects the fields below, and makes others wait for one who counts
	of   *snapshot
	last About
}

// About returns what is in the index at present. It counts anew only if the manifests or the takedowns have
// changed since the last call. To count, it reads the columns of all segments and a few documents, through
// the cache.
func (e *Engine) About(ctx context.Context) (About, error) {
	current, err := e.snapshots.get(ctx, e)
	if err == nil {
		err = current.allLost()
	}
	if err != nil {
		return About{}, err
	}
	e.abouts.mu.Lock()
	defer e.abouts.mu.Unlock()
	if of := e.abouts.of; of != nil && (of == current || of.same(current.generations) && of.takedowns.Version == current.takedowns.Version) {
		return e.abouts.last, nil
	}
	now, err := current.about(ctx)
	if fault, is := errors.AsType[*search.Unreadable](err); is && unusable(err) {
		if errors.Is(err, blob.ErrAbsent) {
			e.ranges.Forget(fault.Segment)
		}
		if current, err = e.without(ctx, current, fault); err == nil {
			now, err = current.about(ctx)
		}
	}
	if err != nil {
		return About{}, err
	}
	e.abouts.of, e.abouts.last = current, now
	return now, nil
}

// about counts what the snapshot has.
func (s *snapshot) about(ctx context.Context) (About, error) {
	census, err := s.index.Census(ctx, search.Site, search.Lang, search.Collection)
	if err != nil {
		return About{}, err
	}
	sample, err := s.index.Sample(ctx, examplesRead)
	if err != nil {
		return About{}, err
	}
	about := About{
		Pages: s.index.Documents(), Waiting: s.unindexed(), Examples: examplesOf(sample),
		Sites: valuesIn(census[0]), Languages: valuesIn(census[1]), Collections: valuesIn(census[2]), Largest: largest(census[0]),
	}
	for _, m := range s.manifests {
		if m.Dictionaries == nil {
			continue
		}
		for _, d := range m.Dictionaries.All {
			if !slices.Contains(about.Across, d.To) {
				about.Across = append(about.Across, d.To)
			}
		}
	}
	slices.Sort(about.Across)
	return about, nil
}

// valuesIn returns the number of values in counts, without the value "", which stands for pages without a
// value. It deletes "" from counts.
func valuesIn(counts map[string]int) int {
	delete(counts, "")
	return len(counts)
}

// largest returns the sites with the most pages, the largest first.
func largest(pages map[string]int) []string {
	sites := slices.SortedFunc(maps.Keys(pages), func(a, b string) int {
		return cmp.Or(cmp.Compare(pages[b], pages[a]), cmp.Compare(a, b))
	})
	return sites[:min(len(sites), sitesShown)]
}

// tells returns 1 for a title that is likely to say what its page is about, and 0 for a title that is a
// single word of ASCII characters, such as the name of a function.
func tells(title string) int {
	if strings.ContainsFunc(title, func(r rune) bool { return r == ' ' || r >= utf8.RuneSelf }) {
		return 1
	}
	return 0
}

// examplesOf returns examples of queries that are made from titles of pages. Each title is cut at its first
// separator, such as " | " or ": ", behind which often is the name of the site; digits at its beginning,
// such as the number of a chapter, are removed. Titles with signs of the query language, too short or too
// long titles, and repeated titles are left out. Titles of several words come first (see tells), and then
// the shorter ones.
func examplesOf(pages []segment.Document) (examples []string) {
	for i := range pages {
		title := pages[i].Title
		for _, sign := range []string{" | ", " – ", " — ", " - ", " · ", ": "} {
			title, _, _ = strings.Cut(title, sign)
		}
		title = strings.Join(strings.Fields(strings.TrimLeft(title, "0123456789. \u00a0")), " ")
		plain := !strings.ContainsAny(title, `"*~+()[]{}<>`) // it means the same as a query
		if n := utf8.RuneCountInString(title); plain && n > 3 && n <= exampleSize && !slices.Contains(examples, title) {
			examples = append(examples, title)
		}
	}
	slices.SortStableFunc(examples, func(a, b string) int {
		return cmp.Or(cmp.Compare(tells(b), tells(a)), cmp.Compare(len(a), len(b)))
	})
	return examples[:min(len(examples), examplesShown)]
}
