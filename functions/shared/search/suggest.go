package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/blevesearch/vellum"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// MaxSuggestions is the greatest number of suggestions of one call of Suggest.
const MaxSuggestions = 50

// Suggesting asks for suggestions to a text that somebody is typing.
type Suggesting struct {
	Text string // what is typed so far; its first MaxText bytes count
	Size int    // greatest number of suggestions, at most MaxSuggestions

	Site, Lang, Collection []string // filters, as in Query: only pages that pass them are suggested
}

// Suggestion is offered to somebody who is typing a query.
type Suggestion struct {
	Text string
	// URL is the address of the page, if the suggestion is the title of a single page, which is what
	// is wanted; "" if the suggestion is a query: a title of several pages, a heading, or a word.
	URL string
	// Pages is the number of pages that have the text. Pages of segments in which
	// the text is not among the best may be missing, and pages that have changed may be too many.
	Pages int
}

// Weights of suggestions (see candidate.score), in the steps of segment.Rank: 8 stand for twice the rank.
const (
	meanRank      = 33 // of a page that is not ranked: the code of the mean rank
	titleBonus    = 24
	pagesBonus    = 4  // for each doubling of the number of pages
	startBonus    = 32 // if a typed word begins the suggestion
	wordBonus     = 16 // if a typed word begins a word of it, and is not only inside a word
	wholeBonus    = 4  // if a typed word is a whole word of it
	lengthPenalty = 2  // for each eight characters
)

// candidate is a suggestion that has the typed words, before its text is read.
type candidate struct {
	segment.Suggested
	part  int
	score int
}

// setScore computes the score of a candidate. The parameter ranks has the ranks of the segment's
// documents, or nothing.
func (c *candidate) setScore(ranks []segment.Rank) {
	c.score = meanRank
	if int(c.Doc) < len(ranks) && ranks[c.Doc] != segment.NoRank {
		c.score = int(ranks[c.Doc])
	}
	if c.IsTitle {
		c.score += titleBonus
	} else {
		c.score += pagesBonus * c.Pages
	}
	switch c.At {
	case segment.AtStart:
		c.score += startBonus
	case segment.AtWord:
		c.score += wordBonus
	}
	if c.Whole {
		c.score += wholeBonus
	}
	c.score -= lengthPenalty * c.Length
}

func byCandidate(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.part, b.part), cmp.Compare(a.Number, b.Number))
}

// Suggest returns suggestions to a text that somebody is typing, the best first, each text once. These are
// titles (without the name of the site) and headings that have a word beginning with each typed word, in
// any order. The better ones are on pages of higher rank (Part.Ranks); titles, those that begin with a
// typed word, short ones, and headings of many pages are preferred. If they are less than half of Size, and
// a single word is typed, words of texts that begin with it follow, the most frequent first.
//
// Suggest reads the suggestions of each segment, with one ranged read, and the ranks of its documents at the
// same time; the dictionaries of words only for completions. Its errors are those of Search.
func (ix *Index) Suggest(ctx context.Context, q Suggesting) ([]Suggestion, error) {
	if q.Size < 0 || q.Size > MaxSuggestions {
		return nil, &Refusal{fmt.Sprintf("cannot suggest %d texts: at most %d", q.Size, MaxSuggestions)}
	}
	if len(q.Text) > MaxText {
		q.Text = cutRune(q.Text[:MaxText])
	}
	if q.Size == 0 {
		return nil, nil
	}
	found, err := ix.suggest(ctx, &q)
	if err != nil {
		return nil, fmt.Errorf("cannot suggest to %q: %w", cutRune(q.Text[:min(len(q.Text), 100)]), err)
	}
	return found, nil
}

func (ix *Index) suggest(ctx context.Context, q *Suggesting) ([]Suggestion, error) {
	s := &suggesting{Suggesting: q, ix: ix, gathered: newGathered(ix.parts), from: make([]*segment.Suggestions, len(ix.parts))}
	s.filter = newFilter(&Query{Site: q.Site, Lang: q.Lang, Collection: q.Collection})
	best, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.texts(best)
	if err != nil || len(found) >= (q.Size+1)/2 {
		return found, err
	}
	return s.complete(ctx, found)
}

// suggesting holds the data of one call of Suggest while it runs.
type suggesting struct {
	*Suggesting
	*gathered
	ix     *Index
	filter filter
	from   []*segment.Suggestions // the suggestions of each part; nil if it has none
}

// find returns the best candidates of all parts, the best first: four times as many as are asked for, since
// some may have the same text, or be on dead pages.
func (s *suggesting) find(ctx context.Context) ([]candidate, error) {
	most := 4 * s.Size
	found := make([][]candidate, len(s.parts))
	err := s.each(withoutDeadline(ctx), func(ctx context.Context, part int) (err error) {
		if s.parts[part].Unvisited {
			return nil
		}
		var ranks []segment.Rank
		if err := s.load(ctx, part, &ranks); err != nil || s.from[part] == nil {
			return err
		}
		best, least := make([]candidate, 0, 2*most), math.MinInt // candidates with lower scores are not among the best
		err = s.from[part].Find(ctx, s.Text, func(of segment.Suggested) {
			if of.Pages == 0 && !s.accept[part].takes(of.Doc) {
				return
			}
			c := candidate{Suggested: of, part: part}
			c.setScore(ranks)
			if c.score < least {
				return
			}
			if len(best) == 2*most {
				slices.SortFunc(best, byCandidate)
				best, least = best[:most], best[most-1].score
			}
			best = append(best, c)
		})
		found[part] = best
		return err
	})
	best := slices.Concat(found...)
	slices.SortFunc(best, byCandidate)
	return best[:min(len(best), most)], err
}

// load reads the suggestions of a part, the ranks of its documents and what filters need, all at the same
// time.
func (s *suggesting) load(ctx context.Context, part int, ranks *[]segment.Rank) error {
	p := s.parts[part]
	reads := []func(context.Context) error{func(ctx context.Context) (err error) {
		s.from[part], err = s.ix.suggestions(ctx, part)
		return err
	}}
	if p.Ranks != nil {
		reads = append(reads, func(ctx context.Context) (err error) {
			*ranks, err = p.Ranks(ctx)
			return err
		})
	}
	if s.filter.empty() {
		s.accept[part].dead = p.Dead
	} else {
		reads = append(reads, func(ctx context.Context) error { return s.readColumns(ctx, part, &s.filter, nil) })
	}
	group, ctx := errgroup.WithContext(ctx)
	fork := meter.NewFork(ctx)
	for _, read := range reads {
		group.Go(func() error { return read(fork.Branch()) })
	}
	return group.Wait()
}

// texts returns the suggestions of the candidates, at most Size. Those with the same text are one, and lead
// to the page of the best if it is the title of this page alone.
func (s *suggesting) texts(best []candidate) (found []Suggestion, err error) {
	at := make(map[string]int) // index in found of each folded text
	read := make([][]segment.Suggestion, len(s.parts))
	for part := range s.parts {
		var numbers []uint32
		for _, c := range best {
			if c.part == part {
				numbers = append(numbers, c.Number)
			}
		}
		if len(numbers) > 0 {
			if read[part], err = s.from[part].Get(numbers); err != nil {
				return nil, s.named(part, err)
			}
		}
	}
	for _, c := range best {
		text := read[c.part][0]
		read[c.part] = read[c.part][1:]
		alive := slices.IndexFunc(text.Docs, s.accept[c.part].takes)
		if alive < 0 {
			continue
		}
		folded := segment.FoldSuggestion(text.Text)
		n, known := at[folded]
		if !known {
			if len(found) == s.Size {
				continue
			}
			n = len(found)
			at[folded] = n
			found = append(found, Suggestion{Text: text.Text})
		}
		same := &found[n]
		if text.IsTitle && text.Pages == 1 && same.URL == "" {
			same.URL = text.URLs[alive]
		} else if text.IsTitle {
			same.URL = ""
		}
		same.Pages += int(text.Pages)
	}
	return found, nil
}

// complete adds the words that begin with the typed word, the most frequent first. It adds nothing to a text
// of several words, since nothing says which words stand together on pages; nothing if there are filters,
// since nothing says which words the pages have that pass them; and nothing if more than maxSeen words begin
// with the typed one.
func (s *suggesting) complete(ctx context.Context, found []Suggestion) ([]Suggestion, error) {
	typed := strings.TrimLeftFunc(s.Text, unicode.IsSpace)
	words := analysis.Query(typed, []*analysis.Analyzer{analysis.For("")})
	if len(words) != 1 || words[0].Text == "" || words[0].Start > 0 || words[0].End < len(typed) || !s.filter.empty() {
		return found, nil
	}
	begin := words[0].Text
	of := make([]expansions, len(s.parts))
	err := s.each(withoutDeadline(ctx), func(ctx context.Context, part int) error {
		words, err := s.ix.words(ctx, part)
		if err != nil {
			return err
		}
		of[part] = expansions{}
		return of[part].collect(ctx, words, nil, []byte(begin), afterPrefix(begin))
	})
	if err != nil {
		return nil, err
	}
	all := make(expansions)
	for _, words := range of {
		all.add(words)
	}
	if len(all) > maxSeen {
		return found, nil
	}
	delete(all, begin)
	for _, word := range slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(all[b], all[a]), cmp.Compare(a, b))
	}) {
		if len(found) == s.Size {
			break
		}
		folded := segment.FoldSuggestion(word)
		if !slices.ContainsFunc(found, func(other Suggestion) bool { return segment.FoldSuggestion(other.Text) == folded }) {
			found = append(found, Suggestion{Text: word, Pages: int(all[word])})
		}
	}
	return found, nil
}

// suggestions returns the suggestions of a part from the cache, or reads them; nil if it has none.
func (ix *Index) suggestions(ctx context.Context, part int) (*segment.Suggestions, error) {
	from := ix.parts[part].Segment
	if s := ix.memory.suggestions(from.Ref().Key); s != nil {
		return s, nil
	}
	s, err := from.Suggestions(ctx)
	if err == nil && s != nil {
		ix.memory.putSuggestions(from.Ref().Key, s)
	}
	return s, err
}

// words returns the dictionary of words of a part from the cache, or reads it.
func (ix *Index) words(ctx context.Context, part int) (*vellum.FST, error) {
	from := ix.parts[part].Segment
	if words := ix.memory.words(from.Ref().Key); words != nil {
		return words, nil
	}
	words, err := from.Words(ctx)
	if err == nil {
		sizes, _ := from.Sizes()
		ix.memory.putWords(from.Ref().Key, words, sizes.Words)
	}
	return words, err
}
