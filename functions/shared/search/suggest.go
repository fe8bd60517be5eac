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
	// URL is the address of a page, if the suggestion is the title of this page alone: then the reader probably
	// wants the page. It is "" if the suggestion is to be searched for: a title of several pages, a heading, or a
	// word.
	URL string
	// Pages is an estimate of the number of pages that have the text. If the text is only an anchor (a text of
	// links), it is the number of pages to which these links lead. The estimate lacks pages of segments in which
	// the text is not among the best suggestions. It includes pages of which only an older version has the text.
	Pages int
}

// Weights of suggestions (see candidate.setScore), in the scale of segment.Rank, in which 8 more means twice the
// rank.
const (
	meanRank   = 33 // for a page whose rank is not known: the mean segment.Rank of pages
	titleBonus = 24
	pagesBonus = 4  // for each doubling of the number of pages
	startBonus = 32 // if a typed word begins the suggestion
	wordBonus  = 16 // if a typed word begins a word of it, and is not only inside a word
	wholeBonus = 4  // if a typed word is a whole word of it
	// binary logarithm of a number of pages. An anchor (text of links) that leads to so many pages or more, such
	// as "here", describes none of them, and is not suggested.
	manyPages     = 2
	lengthPenalty = 2 // for each eight characters of the suggestion
)

// candidate is a suggestion that matches the typed words. Its text is not read yet.
type candidate struct {
	segment.Suggested
	source int // index in suggesting.from
	score  int
}

// setScore sets the score of a candidate. The parameter ranks has the ranks of the documents of its segment; it is
// empty if they are not known.
func (c *candidate) setScore(ranks []segment.Rank) {
	c.score = meanRank
	if int(c.Doc) < len(ranks) && ranks[c.Doc] != segment.NoRank {
		c.score = int(ranks[c.Doc])
	}
	if c.IsTitle {
		c.score += titleBonus
	} else if !isAnchor(c.source) {
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
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.source, b.source), cmp.Compare(a.Number, b.Number))
}

// Suggest returns suggestions for a text that somebody is typing, the best first, each text once. A suggestion is
// a title (without the name of the site), a heading, or an anchor (a text of links to a page). For each typed
// word, it has a word that begins with the typed one; the order of the words does not matter. Suggestions of pages
// with a higher rank (Part.Ranks) come first. Also preferred are titles, suggestions that begin with a typed word,
// short ones, and headings of many pages.
//
// If there are fewer than half of q.Size suggestions, and the text is a single word without filters, words of the
// index that begin with it follow, the most frequent first.
//
// Suggest reads in two steps, each in parallel for all segments and their anchors: the pages of keys that may begin
// with the typed words, with the ranks of the documents; then the texts of the best suggestions. It reads words only if
// words follow. Its errors are those of Search.
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
	s := &suggesting{Suggesting: q, ix: ix, gathered: newGathered(ix.parts, ix.memory), from: make([]*segment.Suggestions, 2*len(ix.parts))}
	s.filter = newFilter(&Query{Site: q.Site, Lang: q.Lang, Collection: q.Collection})
	best, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.texts(ctx, best)
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
	// sources of suggestions, two for each part: the suggestions of its pages, then those of its anchors (texts of
	// links); nil if the part has none of this kind
	from []*segment.Suggestions
}

// isAnchor reports whether suggestions are anchors (texts of links), given the index of their source in
// suggesting.from.
func isAnchor(source int) bool { return source%2 == 1 }

// find returns the best candidates of all parts, the best first. It returns up to four times as many as are asked
// for, because some may have the same text, or only be on dead pages.
func (s *suggesting) find(ctx context.Context) ([]candidate, error) {
	most := 4 * s.Size
	found := make([][]candidate, len(s.parts))
	err := s.each(withoutDeadline(ctx), func(ctx context.Context, part int) (err error) {
		if s.parts[part].Unvisited {
			return nil
		}
		var ranks []segment.Rank
		if err := s.load(ctx, part, &ranks); err != nil {
			return err
		}
		best, least := make([]candidate, 0, 2*most), math.MinInt // candidates with lower scores are not among the best
		for source := 2 * part; source < 2*part+2; source++ {
			if s.from[source] == nil {
				continue
			}
			err = s.from[source].Find(ctx, s.Text, func(of segment.Suggested) {
				if of.Pages == 0 && !s.accept[part].takes(of.Doc) || isAnchor(source) && of.Pages >= manyPages {
					return
				}
				c := candidate{Suggested: of, source: source}
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
			if err != nil {
				return err
			}
		}
		found[part] = best
		return nil
	})
	best := slices.Concat(found...)
	slices.SortFunc(best, byCandidate)
	return best[:min(len(best), most)], err
}

// load reads the suggestions of a part and of its anchors, the ranks of its documents, and what the filters need.
// It makes all these reads at the same time.
func (s *suggesting) load(ctx context.Context, part int, ranks *[]segment.Rank) error {
	p := s.parts[part]
	reads := []func(context.Context) error{func(ctx context.Context) (err error) {
		s.from[2*part], err = s.ix.suggestions(ctx, p.Segment, s.Text)
		return err
	}}
	if p.Anchors != nil {
		reads = append(reads, func(ctx context.Context) (err error) {
			if s.from[2*part+1], err = s.ix.suggestions(ctx, p.Anchors, s.Text); err != nil {
				err = &Unreadable{p.Anchors.Ref().Key, err}
			}
			return err
		})
	}
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

// texts reads the texts of the candidates, and returns at most Size suggestions. Candidates with the same text,
// apart from case and accents, become one suggestion. It leads to a page only if a single page has this title.
func (s *suggesting) texts(ctx context.Context, best []candidate) (found []Suggestion, err error) {
	read, err := s.read(ctx, best)
	if err != nil {
		return nil, err
	}
	at := make(map[string]int) // index in found of each folded text
	for _, c := range best {
		text := read[c.source][0]
		read[c.source] = read[c.source][1:]
		alive := slices.IndexFunc(text.Docs, s.accept[c.source/2].takes)
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
		if known && isAnchor(c.source) { // probably its pages were counted for an equal title or heading
			continue
		}
		if text.IsTitle && text.Pages == 1 && same.URL == "" {
			same.URL = text.URLs[alive]
		} else if text.IsTitle {
			same.URL = ""
		}
		same.Pages += int(text.Pages)
	}
	return found, nil
}

// read reads the suggestions that the candidates stand for: for each source, those of its candidates in their order. It
// reads from all sources at the same time.
func (s *suggesting) read(ctx context.Context, best []candidate) ([][]segment.Suggestion, error) {
	numbers := make([][]uint32, len(s.from))
	for _, c := range best {
		numbers[c.source] = append(numbers[c.source], c.Number)
	}
	found := make([][]segment.Suggestion, len(s.from))
	err := s.each(withoutDeadline(ctx), func(ctx context.Context, part int) (err error) {
		for source := 2 * part; source < 2*part+2 && err == nil; source++ {
			if len(numbers[source]) == 0 {
				continue
			}
			if found[source], err = s.from[source].Get(ctx, numbers[source]); err != nil && isAnchor(source) {
				err = &Unreadable{s.parts[part].Anchors.Ref().Key, err}
			}
		}
		return err
	})
	return found, err
}

// complete adds words of the index that begin with the typed word, the most frequent first. It adds nothing in
// three cases:
//
//	several words are typed                the index does not tell which words stand together on pages
//	there are filters                      it does not tell which words the pages have that pass them
//	more than maxSeen words begin with it  not all are read, so the most frequent are not known
func (s *suggesting) complete(ctx context.Context, found []Suggestion) ([]Suggestion, error) {
	typed := strings.TrimLeftFunc(s.Text, unicode.IsSpace)
	words := analysis.Query(typed, []*analysis.Analyzer{analysis.For("")})
	if len(words) != 1 || words[0].Text == "" || words[0].Start > 0 || words[0].End < len(typed) || !s.filter.empty() {
		return found, nil
	}
	begin, beginning := words[0].Text, segment.Beginning(words[0].Text)
	of := make([]expansions, len(s.parts))
	err := s.each(withoutDeadline(ctx), func(ctx context.Context, part int) error {
		words, err := s.ix.words(ctx, part, []segment.WordSet{beginning})
		if err != nil {
			return err
		}
		of[part] = expansions{}
		return of[part].collect(ctx, words, beginning)
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

// suggestions returns the suggestions of a segment for a typed text; nil if the segment has none. It reads them, or
// takes all suggestions from the cache: there are those of a segment that an earlier version of the program has built,
// of which suggestions cannot be read alone.
func (ix *Index) suggestions(ctx context.Context, from *segment.Segment, typed string) (*segment.Suggestions, error) {
	if s := ix.memory.suggestions(from.Ref().Key); s != nil {
		return s, nil
	}
	s, err := from.Suggestions(ctx, typed)
	if err == nil && s != nil && s.All() {
		ix.memory.putSuggestions(from.Ref().Key, s)
	}
	return s, err
}

// words returns the words of a part that are in one of the sets. It reads them, or takes all words of the part from
// the cache: there are those of a segment that an earlier version of the program has built, of which words cannot
// be read alone.
func (ix *Index) words(ctx context.Context, part int, sets []segment.WordSet) (*segment.Words, error) {
	from := ix.parts[part].Segment
	if words := ix.memory.words(from.Ref().Key); words != nil {
		return words, nil
	}
	words, err := from.Words(ctx, sets...)
	if err == nil && words.All() {
		sizes, _ := from.Sizes()
		ix.memory.putWords(from.Ref().Key, words, sizes.Words)
	}
	return words, err
}
