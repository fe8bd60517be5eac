package search

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/effort"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// gathered is the data read from the segments (the parts of the index) to answer a query.
type gathered struct {
	parts  []Part
	memory *Memory // cache of columns, and of the guides by which terms are found
	// for each part (segment), whether it could not be read before the deadline
	missing []bool
	names   []string // the query's terms; the index of a term is its number
	// synonyms of several words, which have the numbers after those of all terms
	alternatives []*synonymPhrase
	totals       Totals // how many documents have each term
	// whether alternatives were looked for in only some of the documents that have their words
	cutAlternatives atomic.Bool
	// terms of texts, by part (segment) and number; nil if the part lacks the term
	terms [][]*segment.Term
	// terms of anchors (texts of links to pages), by part and number; nil for a part without
	// anchors
	anchors [][]*segment.Term
	// for each part, the rules of analysis of its documents; nil if all languages of the query have
	// the same rules
	rules   []*documentRules
	accept  []accept                           // the documents of each part that may match
	columns []map[string]*segment.StringColumn // the columns that filters and facets need, by part and name
	// number of pages that after: and before: leave out because they state no date
	undated atomic.Int64
	dates   []ownDates // for each part, the dates that its pages state; nil if no match needs them
	// for each part, the documents without text, if the query lists documents (see plan.lists)
	textless [][]uint32
}

func newGathered(parts []Part, memory *Memory) *gathered {
	n := len(parts)
	return &gathered{
		parts: parts, memory: memory, missing: make([]bool, n), terms: make([][]*segment.Term, n), anchors: make([][]*segment.Term, n),
		rules:  make([]*documentRules, n),
		accept: make([]accept, n), columns: make([]map[string]*segment.StringColumn, n), dates: make([]ownDates, n),
	}
}

// each calls the function do for all parts (segments) of the index that are not missing, at the
// same time. If the call for a part is ended by the deadline for reading, each marks the part as
// missing.
func (g *gathered) each(ctx deadline, do func(ctx context.Context, part int) error) error {
	group, within := errgroup.WithContext(ctx.read)
	fork := meter.NewFork(within)
	for part := range g.parts {
		if g.missing[part] {
			continue
		}
		group.Go(func() error {
			err := do(fork.Branch(), part)
			if err != nil && ctx.passed(ctx.read) && errors.Is(err, context.DeadlineExceeded) {
				g.missing[part] = true
				return nil
			}
			return g.named(part, err)
		})
	}
	return group.Wait()
}

// named returns err wrapped in an Unreadable that names the segment of the part. If err is nil or
// an Unreadable already, named returns it unchanged.
func (g *gathered) named(part int, err error) error {
	if _, is := errors.AsType[*Unreadable](err); is || err == nil {
		return err
	}
	return &Unreadable{g.parts[part].Segment.Ref().Key, err}
}

// read reads all data that the scan needs, in one step:
//
//	the terms of all words; also their positions, if the plan has phrases, or words that give a
//	bonus if they are near each other
//	the terms of the anchors (texts of links)
//	the positions of synonyms of several words (see synonymPhrase), in a second request if they are large
//	the columns for filters and facets
//
// In the same step it calls the given functions for each part (segment), to read further data. Then it sets
// g.totals. The variants of the words must have their numbers (see gathered.number).
func (g *gathered) read(ctx deadline, p *plan, facets []string, also []func(ctx context.Context, part int) error) error {
	positions := p.hasPhrases() || len(p.near)+len(p.alternatives) > 0
	readPart := func(ctx context.Context, part int) (err error) {
		if err := effort.Spend(ctx, perTerm*len(g.names)); err != nil {
			return err
		}
		unvisited := g.parts[part].Unvisited
		anchored := (g.parts[part].Anchors != nil || unvisited) && !p.images
		selects := len(facets) > 0 || !p.filter.empty()
		if !selects {
			g.accept[part].dead = g.parts[part].Dead
		}
		if !selects && !anchored && !unvisited && len(also) == 0 {
			g.terms[part], err = g.parts[part].Segment.TermsBy(ctx, g.names, positions, g.memory)
			return err
		}
		group, ctx := errgroup.WithContext(ctx)
		fork := meter.NewFork(ctx)
		if selects {
			group.Go(func() error { return g.readColumns(fork.Branch(), part, &p.filter, facets) })
		}
		if anchored {
			group.Go(func() error { return g.readAnchors(fork.Branch(), part) })
		}
		for _, do := range also {
			group.Go(func() error { return do(fork.Branch(), part) })
		}
		group.Go(func() (err error) {
			if unvisited {
				g.terms[part] = make([]*segment.Term, len(g.names))
				return nil
			}
			g.terms[part], err = g.parts[part].Segment.TermsBy(fork.Branch(), g.names, positions, g.memory)
			return err
		})
		return group.Wait()
	}
	if err := effort.Expect(ctx, perTerm*len(g.names)*len(g.parts)); err != nil {
		return err
	}
	err := g.each(ctx, func(ctx context.Context, part int) error {
		if err := readPart(ctx, part); err != nil || len(g.alternatives) == 0 {
			return err
		}
		return g.addAlternatives(ctx, part)
	})
	if err == nil {
		g.setTotals(p)
	}
	return err
}

// number numbers the variants of the plan's words (variant.number), and sets g.names.
func (g *gathered) number(p *plan) {
	numbers := make(map[string]int)
	numberOf := func(term string) int {
		n, known := numbers[term]
		if !known {
			n = len(g.names)
			numbers[term] = n
			g.names = append(g.names, term)
		}
		return n
	}
	p.each(func(w *queryWord) {
		for i := range w.variants {
			v := &w.variants[i]
			v.number, v.named, v.defined = numberOf(v.term), -1, -1
		}
		for i := range w.neighbours {
			w.neighbours[i].number = numberOf(w.neighbours[i].term)
		}
	})
	for _, w := range p.words {
		for i := range w.variants {
			v := &w.variants[i]
			if !p.images && !analysis.IsOutside(v.term) {
				v.named, v.defined = numberOf(segment.NameTerm(v.term)), numberOf(segment.DefinitionTerm(v.term))
			}
		}
		for i := range w.neighbours {
			if v := &w.neighbours[i]; !p.images {
				v.defined = numberOf(segment.DefinitionTerm(v.term))
			}
		}
	}
	g.numberAlternatives(p)
}

// readAnchors reads the terms of a part's anchors (texts of links to pages). Anchors have no names of sites and no
// names that pages define, so these terms are not looked up. The error is an Unreadable with the key of the segment of
// anchors.
func (g *gathered) readAnchors(ctx context.Context, part int) error {
	from := g.parts[part].Anchors
	if g.parts[part].Unvisited {
		from = g.parts[part].Segment
	}
	var numbers []int
	var names []string
	for number, name := range g.names {
		if !segment.IsNameTerm(name) {
			numbers, names = append(numbers, number), append(names, name)
		}
	}
	found, err := from.TermsBy(ctx, names, false, g.memory)
	if err != nil {
		return &Unreadable{from.Ref().Key, err}
	}
	g.anchors[part] = make([]*segment.Term, len(g.names))
	for i, number := range numbers {
		g.anchors[part][number] = found[i]
	}
	return nil
}

// readColumns takes the columns of a part for filters and facets from the cache, or reads them, all in parallel.
func (g *gathered) readColumns(ctx context.Context, part int, f *filter, facets []string) error {
	from := g.parts[part].Segment
	group, ctx := errgroup.WithContext(ctx)
	fork := meter.NewFork(ctx)
	names := f.names(facets)
	read := make([]*segment.StringColumn, len(names))
	for i, name := range names {
		group.Go(func() (err error) {
			read[i], err = g.memory.column(fork.Branch(), from, columns[name])
			return err
		})
	}
	var dates ownDates
	years := slices.Contains(facets, Year)
	if f.dated() || years {
		group.Go(func() (err error) {
			dates, err = g.ownDates(fork.Branch(), part)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	g.columns[part] = map[string]*segment.StringColumn{}
	for i, name := range names {
		g.columns[part][name] = read[i]
	}
	if years {
		g.columns[part][Year] = dates.years()
	}
	of, undated := f.accept(g.parts[part], g.columns[part], dates)
	g.accept[part] = of
	g.undated.Add(int64(undated))
	return nil
}

const (
	// maxCandidates is the greatest number of candidates: documents with the highest scores of their
	// words, which are examined for phrases.
	maxCandidates = 1 << 16
	// verified is the number of candidates that are examined for phrases in the first step of verify.
	// Later steps examine more.
	verified = 1024
)

// verify examines candidates, the best first, and returns the best matches: candidates that hold
// all required phrases and no excluded one. It stops in two cases:
//
//	when no further candidate can be among the best matches, and the least number of candidates
//	(see atLeast) has been examined
//	when the time for reading is over
func (s *search) verify(ctx deadline, candidates []match) ([]match, error) {
	phrases := slices.Concat(s.plan.must, s.plan.never, s.plan.grouped)
	var top topMatches
	top.reset(s.kept())
	count, looked := 0, 0
	for looked < len(candidates) && (looked < s.atLeast() || candidates[looked].score >= top.least()) {
		if ctx.passed(ctx.read) {
			s.result.Partial = true
			break
		}
		batch := candidates[looked:min(len(candidates), max(verified, 4*looked))]
		found, err := s.occurring(ctx, batch, phrases, nil)
		if err == nil && len(s.plan.demands) > 0 {
			err = s.recheck(batch, found)
		}
		if err != nil {
			return nil, err
		}
		for i, f := range batch {
			if found[i] == nil {
				continue
			}
			if score, matched := s.withPhrases(f.words, found[i]); matched {
				f.score = score + f.newness
				top.offer(f)
				count++
				if len(s.query.Facets) > 0 {
					s.see(f.part, f.doc)
				}
			}
		}
		looked += len(batch)
	}
	s.result.Exact = s.result.Exact && looked == len(candidates) && len(candidates) == s.result.Total
	s.result.Total = count
	s.result.Facets = s.facets(float64(len(candidates)) / float64(max(1, looked)))
	return top.sorted(), nil
}

// atLeast returns the number of candidates that the method verify examines at least. Even if verify has
// found the best matches earlier, it goes on to this number, because it estimates Total and the counts of
// the facets from the examined candidates.
func (s *search) atLeast() int {
	if len(s.query.Facets) > 0 {
		return 8 * verified
	}
	return verified
}

// withPhrases adds the scores of phrases to a document's score, which is so far that of the words alone: those of
// the required phrases (plan.must) and those of the phrases in conditions (plan.grouped). It returns the sum, and
// whether the document has all required phrases and no excluded one. The parameter found says how often the
// document has each phrase of plan.must, then of plan.never, then of plan.grouped.
func (s *search) withPhrases(score float64, found []occurrence) (float64, bool) {
	for i := range s.plan.must {
		if found[i].none() {
			return 0, false
		}
		score += s.statistics.bm25f(s.plan.must[i].weight, &found[i].freq, &found[i].length)
	}
	found = found[len(s.plan.must):]
	for i := range s.plan.never {
		if !found[i].none() {
			return 0, false
		}
	}
	found = found[len(s.plan.never):]
	for i, ph := range s.plan.grouped {
		score += s.statistics.bm25f(ph.weight, &found[i].freq, &found[i].length)
	}
	return score, true
}

// recheck evaluates the conditions of the plan (plan.demands) once more for the matches, now that their phrases
// are known. For each match, found says how often it has each phrase of plan.must, then of plan.never, then of
// plan.grouped. If match i fails a condition, recheck sets found[i] to nil.
func (s *search) recheck(matches []match, found [][]occurrence) error {
	work := scans.Get().(*scan)
	defer scans.Put(work)
	work.begin(s)
	order := make([]int, len(matches)) // indexes of matches, by part and document
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(matches[a].part, matches[b].part), cmp.Compare(matches[a].doc, matches[b].doc))
	})
	last := int32(-1)
	for _, i := range order {
		if found[i] == nil {
			continue
		}
		if part := matches[i].part; part != last {
			work.open(s, int(part))
			last = part
		}
		if work.meets(matches[i].doc, found[i][len(s.plan.must)+len(s.plan.never):]) != yes {
			found[i] = nil
		}
		if err := work.err(); err != nil {
			return s.named(int(last), err)
		}
	}
	return nil
}

// occurring looks for phrases in the documents of matches, in all parts of the index in parallel.
// It returns the occurrences by match and by phrase. The occurrences of a match are nil if its part
// was not read in time, or if the function may, which may be nil, has returned false for its index (see the method
// occurrences).
func (s *search) occurring(ctx deadline, matches []match, phrases []*queryPhrase, may mayMatter) ([][]occurrence, error) {
	result := make([][]occurrence, len(matches))
	if err := effort.Expect(ctx, len(matches)*effortOf(phrases)); err != nil {
		return nil, err
	}
	err := s.eachOf(ctx, matches, func(ctx context.Context, part int, of []int, docs []uint32) error {
		mayInPart := may
		if may != nil {
			mayInPart = func(i int, most []occurrence) bool { return may(of[i], most) }
		}
		found, err := s.occurrences(ctx, part, docs, phrases, mayInPart)
		if err != nil {
			return err
		}
		for i, n := range of {
			result[n] = found[i]
		}
		return nil
	})
	return result, err
}

// eachOf is like each, for those parts that have some of the matches. The function do gets the numbers of the
// documents of these matches, ascending, and for each the index of its match.
func (s *search) eachOf(ctx deadline, matches []match, do func(ctx context.Context, part int, of []int, docs []uint32) error) error {
	byPart := make([][]int, len(s.parts)) // indexes of matches
	for i, f := range matches {
		byPart[f.part] = append(byPart[f.part], i)
	}
	return s.each(ctx, func(ctx context.Context, part int) error {
		of := byPart[part]
		if len(of) == 0 {
			return nil
		}
		slices.SortFunc(of, func(a, b int) int { return int(matches[a].doc) - int(matches[b].doc) })
		docs := make([]uint32, len(of))
		for i, n := range of {
			docs[i] = matches[n].doc
		}
		return do(ctx, part, of, docs)
	})
}
