package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/effort"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/dictionary"
)

const (
	// MaxAcross is the greatest number of languages into which a query is translated (Across.Into).
	MaxAcross = 8
	// MaxAcrossHits is the greatest sum of From and Size of a Query with Across. Such a query is
	// translated into other languages. It takes one search for each language, and each of these searches
	// reads From + Size hits.
	MaxAcrossHits = 1000
	// acrossAtOnce is the greatest number of languages that are searched at the same time.
	acrossAtOnce = 4
	// dictionaryPatience is the longest time for which a search waits for the dictionaries by which
	// it translates the query.
	dictionaryPatience = 5 * time.Second
)

// Across asks for pages in other languages than the query's. To find them, the query is translated
// word by word.
type Across struct {
	Into []string // languages into which the query is translated, such as "de"; at most MaxAcross
	// Open returns the dictionary from one language to another; nil if there is none. If it returns
	// an error, the search goes on without the dictionary.
	Open func(ctx context.Context, from, to string) (*dictionary.Dictionary, error)
}

// Translated says how a query was translated into a language.
type Translated struct {
	From, To string
	Words    []TranslatedWord // words of the query, in their order in the query
}

// TranslatedWord is a word of a query with the terms by which it was searched.
type TranslatedWord struct {
	Word string
	// translations of the word; nil if the dictionary lacks the word, which was then searched
	// untranslated
	As []dictionary.Translation
}

// searchAcross answers a query with Across. It makes several searches: one with the translated
// words for each language into which a dictionary translates, and one with the untranslated words
// for all other languages. It joins their hits to one list, by score. Scores of different searches
// are only roughly comparable, since each search uses the statistics of its own languages.
func (ix *Index) searchAcross(ctx context.Context, q *Query) (Result, error) {
	if q.From+q.Size > MaxAcrossHits {
		return Result{}, &Refusal{fmt.Sprintf("cannot return hits beyond %d across languages", MaxAcrossHits)}
	}
	plain := *q
	plain.Across = Across{}
	p := ix.plan(q, true)
	if p.lists { // no word can be translated
		return ix.search(ctx, &plain)
	}
	if err := effort.Expect(ctx, (1+len(q.Across.Into))*ix.expected(q, p)); err != nil {
		return Result{}, err
	}
	from, err := ix.languageOf(ctx, q)
	if err != nil {
		return Result{}, err
	}
	translators, notes := openAll(ctx, &q.Across, from)
	if len(translators) == 0 {
		found, err := ix.search(ctx, &plain)
		found.Notes = append(found.Notes, notes...)
		return found, err
	}
	plain.From, plain.Size = 0, q.From+q.Size
	asked := []Query{plain}
	for _, t := range translators {
		asked[0].without = append(asked[0].without, t.To)
		in := plain
		in.into, in.Named, in.Pinned = t, nil, nil
		asked = append(asked, in)
	}
	results := make([]Result, len(asked))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(acrossAtOnce)
	fork := meter.NewFork(within)
	for i := range asked {
		group.Go(func() (err error) {
			results[i], err = ix.search(fork.Branch(), &asked[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Result{}, err
	}
	for i, t := range translators {
		for n := range results[i+1].Hits {
			results[i+1].Hits[n].Across = t.To
		}
	}
	joined := join(results, q)
	joined.Notes = append(joined.Notes, notes...)
	return joined, nil
}

// languageOf returns the language in which a query is most likely written. For this it compares how many
// documents of each language have the query's words (see plan.setShares). Filters of the query by language
// do not count. It returns "" if the index has no language for the query.
func (ix *Index) languageOf(ctx context.Context, q *Query) (string, error) {
	unlimited := *q
	unlimited.unlimited = true
	p := ix.plan(&unlimited, true)
	limited, cancel := withDeadline(ctx, q.Deadline)
	defer cancel()
	s := ix.newSearch(&unlimited, p)
	if err := s.expand(limited); err != nil {
		return "", err
	}
	p.unify()
	p.filter = filter{} // columns say nothing of the language
	s.number(p)
	if err := s.read(limited, p, nil, nil); err != nil {
		return "", err
	}
	p.setShares(&s.totals)
	if l := p.likeliest(); l != nil {
		return l.name, nil
	}
	return "", nil
}

// openAll opens the dictionaries that translate from a given language into each other language of
// Across.Into. It returns a translator for each dictionary, and notes for the reader. The notes name
// dictionaries that are missing or cannot be read, and languages that are left out.
func openAll(ctx context.Context, across *Across, from string) (all []*translator, notes []string) {
	ctx, cancel := context.WithTimeout(ctx, dictionaryPatience)
	defer cancel()
	var languages []string
	for _, to := range across.Into {
		if to = strings.ToLower(to); !slices.Contains(languages, to) {
			languages = append(languages, to)
		}
	}
	if len(languages) > MaxAcross {
		notes = append(notes, fmt.Sprintf("Only the first %d languages were searched across: not %s.", MaxAcross, strings.Join(languages[MaxAcross:], ", ")))
		languages = languages[:MaxAcross]
	}
	opened, failed := make([]*dictionary.Dictionary, len(languages)), make([]error, len(languages))
	var group errgroup.Group
	fork := meter.NewFork(ctx)
	for i, to := range languages {
		if to != from {
			group.Go(func() error {
				opened[i], failed[i] = across.Open(fork.Branch(), from, to)
				return nil
			})
		}
	}
	_ = group.Wait() // each has its error
	for i, to := range languages {
		switch err := failed[i]; {
		case to == from:
			notes = append(notes, fmt.Sprintf("The query was taken as one in the language %s, and not translated into it.", to))
		case errors.Is(err, context.DeadlineExceeded):
			notes = append(notes, fmt.Sprintf("The dictionary from %s to %s was not read in time: pages in %s were searched by the words as they stand.", from, to, to))
		case err != nil:
			notes = append(notes, fmt.Sprintf("The dictionary from %s to %s cannot be read: pages in %s were searched by the words as they stand.", from, to, to))
		case opened[i] == nil:
			notes = append(notes, fmt.Sprintf("There is no dictionary from %s to %s, as too few pages translate each other: pages in %s were searched by the words as they stand.",
				cmp.Or(from, "the language of the query"), to, to))
		default:
			all = append(all, &translator{opened[i]})
		}
	}
	return all, notes
}

// join joins the results of several searches for one query, each in another language, to one result. The first
// result must be that of the search in the query's own language. Its pinned and named pages come first. All
// other hits are ordered by score or, if q.ByDate is true, by date. Hits of the same search keep their order.
// The joined result has only the page of hits that q requests (q.From, q.Size).
func join(results []Result, q *Query) Result {
	all := results[0]
	lists := make([][]Hit, len(results))
	for i := range results {
		lists[i] = results[i].Hits
		if i == 0 {
			continue
		}
		r := &results[i]
		all.Total, all.Exact, all.Partial = all.Total+r.Total, all.Exact && r.Exact, all.Partial || r.Partial
		all.Translated = append(all.Translated, r.Translated...)
		all.Facets = joinFacets(all.Facets, r.Facets, maxCounts)
		for _, note := range r.Notes {
			if !slices.Contains(all.Notes, note) {
				all.Notes = append(all.Notes, note)
			}
		}
	}
	all.Hits = nil
	first := all.Pinned // number of hits that come before all others
	if all.Named {
		first++
	}
	for n := range q.From + q.Size {
		best := -1
		for i, list := range lists {
			if len(list) > 0 && (best < 0 || list[0].before(&lists[best][0], q.ByDate)) && !(n < first && best == 0) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		if n >= q.From {
			all.Hits = append(all.Hits, lists[best][0])
		}
		lists[best] = lists[best][1:]
	}
	return all
}

// before reports whether h comes before other, a hit of another search. The hit with the higher score comes
// first. If byDate is true, the hit of the later day comes first, and scores decide between hits of the same day.
func (h *Hit) before(other *Hit, byDate bool) bool {
	if byDate && (h.isNewer(other) || other.isNewer(h)) {
		return h.isNewer(other)
	}
	return h.Score > other.Score
}

// joinFacets adds up the counts of two lists of facets, value by value, and returns the sums. Both
// lists must have the same facets in the same order. Of each facet, joinFacets keeps at most the given number of values.
func joinFacets(facets, more []Facet, most int) []Facet {
	for i := range facets {
		f := &facets[i]
		f.Sampled = f.Sampled || more[i].Sampled
		at := make(map[string]int, len(f.Values))
		for n, count := range f.Values {
			at[count.Value] = n
		}
		for _, count := range more[i].Values {
			if n, known := at[count.Value]; known {
				f.Values[n].Documents += count.Documents
			} else {
				f.Values = append(f.Values, count)
			}
		}
		f.order(most)
	}
	return facets
}
