package search

import (
	"context"
	"errors"
	"hash/fnv"
	"io"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// Asked is what a root asks a leaf: to take one step of a query in some of the segments. There are three steps. Each
// needs the results of the steps before, which the root has joined from the answers of all leaves:
//
//	step  given               asked for                                                         fields of Answer
//	1     neither             the words for which prefixes and words with edits stand; a query  Expanded
//	                          without such words begins with step 2
//	2     Expanded            how many documents have each term                                 Totals, Undated, Textless, …
//	3     Expanded, Totals    the best documents                                                Best, Total, Exact, Facets
//
// A leaf keeps nothing between two steps but its caches.
type Asked struct {
	Segments []string      // keys of the segments in which the leaf searches
	Patience time.Duration // time for the answer

	Query           Query
	Apart, Unquoted bool             // how the query is read (see Index.retry)
	Languages       []LanguageTotals // all languages of the index of the root, in its order
	Begun           bool             // whether some segment of the root is as Part.begun says

	Expanded []map[string]uint64
	Totals   *Totals
}

// Steps is the greatest number of steps of a query.
const Steps = 3

// IsFirst reports whether the step is the first of its query.
func (a *Asked) IsFirst() bool { return len(a.Expanded) == 0 && a.Totals == nil }

// IsLast reports whether the step with the given answer is the last of its query.
func (a *Asked) IsLast(answer *Answer) bool { return a.Totals != nil || answer.Nothing }

// LanguageTotals are the statistics of a language of an index (see corpusLanguage).
type LanguageTotals struct {
	Name      string
	Documents float64
	Average   [postings.Fields]float64
}

// Answer is the answer of a leaf to one step of a query (see Asked).
type Answer struct {
	// Step 1: for each prefix and word with edits, the words or terms that it matches, with the number of their documents.
	Expanded []map[string]uint64 `json:",omitempty"`

	// Step 2.
	Totals    *Totals  `json:",omitempty"`
	Plan      uint64   // hash of all terms: a root of the same version, with the same synonyms, has the same
	Undated   int64    // number of pages that after: and before: leave out because they state no date
	Textless  int      // number of files without text that a list of all documents leaves out
	CutPhrase bool     // whether synonyms of several words were looked for in some of the documents only
	Unmatched []string // notes about values of filters that no document has (see unmatched)
	Nothing   bool     `json:",omitempty"` // whether no document passes the filters, or none has any term: step 3 can find nothing

	// Step 3.
	Best   []Candidate `json:",omitempty"`
	Total  int
	Exact  bool
	Facets []Facet `json:",omitempty"`

	Partial bool // whether a segment was not read or scanned in time

	Spent meter.Spent // what the step has cost; set by the leaf's engine
}

// Candidate is a document that a leaf has found, with what the root needs to rank it among those of other leaves.
// The scores are those of the type match.
type Candidate struct {
	Segment int    // index in Asked.Segments
	Doc     uint32 // number of the document in the segment

	Score, Words, Newness, Titled, Defined, Near float64

	Date   int                   // day of the page's own date (see ownDates); 0 if none is known, or if dates do not count
	Vector segment.EncodedVector // nil if similar documents do not count
	// hash of the URL, by which the root orders candidates that tie; nil if the leaf does not know it
	Identity *layout.Identity `json:",omitempty"`
	// occurrences of the phrases of plan.near; nil for a document that is too low to be examined for them
	Phrases []Occurrence
}

// Occurrence says how often a phrase occurs in each field of a document, and has the codes of the lengths of these
// fields.
type Occurrence struct {
	Freq   [postings.Fields]uint32
	Length [postings.Fields]uint8
	Share  float64 `json:",omitempty"` // of the best passage (see occurrence.share)
}

// errOtherPlan is the error of a step that was asked with the results of a query that was read in another way.
var errOtherPlan = errors.New("root and leaf read the query in different ways: run the same version of the program, and wait until both have the present synonyms")

// Answer answers a root. The index must have the segments of Asked.Segments, in this order. The errors are those of
// Search.
func (ix *Index) Answer(ctx context.Context, a *Asked) (*Answer, error) {
	own := *ix
	own.shares, own.begun, own.languages = nil, a.Begun, nil
	for _, l := range a.Languages {
		own.languages = append(own.languages, corpusLanguage{l.Name, l.Documents, l.Average})
	}
	q := a.Query
	q.apart = a.Apart
	if err := q.check(); err != nil {
		return nil, err
	}
	limited, cancel := withDeadline(ctx, time.Time{})
	defer cancel()
	s := own.newSearch(&q, own.plan(&q, a.Unquoted))
	s.isLeaf = true
	s.isGiven = a.Expanded != nil
	for _, of := range a.Expanded {
		s.expanded = append(s.expanded, of)
	}
	if err := s.expand(limited); err != nil {
		return nil, err
	}
	if !s.isGiven && len(s.expanded) > 0 {
		answer := &Answer{Partial: slices.Contains(s.missing, true)}
		for _, of := range s.expanded {
			answer.Expanded = append(answer.Expanded, of)
		}
		return answer, nil
	}
	if err := s.gather(limited); err != nil {
		return nil, err
	}
	if a.Totals == nil {
		return &Answer{
			Totals: &s.totals, Plan: s.planHash(), Undated: s.undated.Load(), Textless: s.leftTextless, CutPhrase: s.cutAlternatives.Load(),
			Unmatched: s.unmatched(), Nothing: s.findsNothing(), Partial: slices.Contains(s.missing, true),
		}, nil
	}
	if !a.Totals.fit(s.gathered, s.plan) {
		return nil, errOtherPlan
	}
	s.totals = *a.Totals
	if !s.weigh() {
		return &Answer{Exact: true, Facets: s.facets(1)}, ctx.Err()
	}
	best, err := s.candidates(limited)
	if err == nil {
		best, err = s.cutTied(limited, best)
	}
	if err != nil {
		return nil, err
	}
	answer := &Answer{Total: s.result.Total, Exact: s.result.Exact, Facets: s.result.Facets, Partial: s.result.Partial || slices.Contains(s.missing, true)}
	answer.Best, err = s.carry(limited, best)
	return answer, err
}

// findsNothing reports whether it is known before the scan that no document matches: none passes the filters, as when
// the segments have no page of the wanted site or language, or none has any term of a query that has some.
func (s *search) findsNothing() bool {
	if slices.Contains(s.missing, true) {
		return false
	}
	has := func(t TermTotal) bool { return t.Documents > 0 }
	if !s.plan.lists && !slices.ContainsFunc(s.totals.Texts, has) && !slices.ContainsFunc(s.totals.Anchors, has) {
		return true
	}
	return !slices.ContainsFunc(s.accept, func(of accept) bool { return of.allowed == nil || of.next(0) != postings.NoMore })
}

// mostTied is how many matches a leaf sends beyond those that the root needs, because they tie with the last of these.
// Without a limit, the answer to lang:en would have all documents: none of them has a score.
const mostTied = 10_000

// cutTied returns the best of the candidates, which are sorted by score. Of those that tie with the last that the root
// needs, it keeps about mostTied: the first ones in the order in which the root takes them. This is the order of their
// identities (see orderAll) or, if alike documents become one hit, the order of the documents in the index (see fold).
func (s *search) cutTied(ctx deadline, best []match) ([]match, error) {
	most := s.kept() + max(mostTied, s.window())
	if len(best) <= most {
		return best, nil
	}
	if s.byDate() || !s.folds() {
		if err := s.orderAll(ctx, best); err != nil {
			return nil, err
		}
	}
	return best[:most], nil
}

// planHash returns a hash of all terms of the query, in the order of their numbers.
func (g *gathered) planHash() uint64 {
	hash := fnv.New64a()
	for _, name := range g.names {
		_, _ = io.WriteString(hash, name+"\xff") // never fails
	}
	for _, a := range g.alternatives {
		_, _ = io.WriteString(hash, a.name+"\xff")
	}
	return hash.Sum64()
}

// carry returns the candidates for the root, with the vectors, dates and occurrences of phrases by which it ranks them.
// Only those that the root may examine (see examined) need vectors and occurrences.
func (s *search) carry(ctx deadline, best []match) ([]Candidate, error) {
	var near [][]occurrence
	var vectors []segment.EncodedVector
	if n := examined(best); s.query.Size > 0 && n > 0 {
		var err error
		if len(s.plan.near) > 0 {
			if near, err = s.occurring(ctx, best[:n], s.plan.near, nil); err != nil {
				return nil, err
			}
		}
		if s.supports() {
			if vectors, err = s.readVectors(ctx, best[:n]); err != nil {
				return nil, err
			}
		}
	}
	all := make([]Candidate, len(best))
	for i, f := range best {
		c := Candidate{
			Segment: int(f.part), Doc: f.doc, Date: s.dateOf(f),
			Score: f.score, Words: f.words, Newness: f.newness, Titled: f.titled, Defined: f.defined, Near: f.near,
		}
		if of := s.identities[f.part]; of != nil {
			c.Identity = &of[f.doc]
		}
		if i < len(vectors) {
			c.Vector = vectors[i]
		}
		if i < len(near) && near[i] != nil {
			for _, o := range near[i] {
				c.Phrases = append(c.Phrases, Occurrence{o.freq, o.length, o.share})
			}
		}
		all[i] = c
	}
	return all, nil
}
