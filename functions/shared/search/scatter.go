package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Leaf is a process that searches some of the segments of an index for another process, the root (see the section
// Leaves of the package comment).
type Leaf interface {
	// Name returns the name of the leaf, which no other has. It decides which segments the leaf searches.
	Name() string
	// Ask returns the answer of the leaf. Its error is an *Unreadable that wraps blob.ErrAbsent if the leaf does not
	// know one of the segments.
	Ask(ctx context.Context, a *Asked) (*Answer, error)
}

// LeftOut is a leaf that is left out of an answer, and the reason.
type LeftOut struct {
	Leaf string // its name
	Err  error
}

// ErrNoLeaf is the error of a search that no leaf answers, or none in time.
var ErrNoLeaf = errors.New("no leaf answers")

// leafPatience is the longest time for one answer of a leaf. A query may have more: on Lambda, what the function has.
const leafPatience = 5 * time.Second

// leafShare is what a leaf searches: some parts of the index.
type leafShare struct {
	leaf  Leaf
	parts []int32 // indexes in Index.parts, in ascending order
}

// WithLeaves returns an index of the same parts in which the leaves search (see the section Leaves of the package
// comment). Without leaves it returns ix.
func (ix *Index) WithLeaves(leaves []Leaf) *Index {
	if len(leaves) == 0 {
		return ix
	}
	scattered := *ix
	scattered.shares = divideAmong(ix.parts, leaves)
	return &scattered
}

// divideAmong divides the parts among the leaves. The division depends on the keys and sizes of the segments and on the
// names of the leaves alone, so that all roots divide alike, and a leaf finds the segments of the query before in its
// caches. It changes little when a segment or a leaf is added: each segment goes to the leaf for which a hash of both
// names is the greatest (rendezvous hashing: Thaler and Ravishankar, 1998), among those that do not have a quarter more
// documents than the mean then (bounded loads: Mirrokni, Thorup and Zadimoghaddam, 2018).
func divideAmong(parts []Part, leaves []Leaf) []leafShare {
	order, all := make([]int32, len(parts)), 0
	for i, p := range parts {
		order[i] = int32(i)
		all += p.Segment.Documents()
	}
	slices.SortFunc(order, func(a, b int32) int {
		p, q := parts[a].Segment, parts[b].Segment
		return cmp.Or(cmp.Compare(q.Documents(), p.Documents()), strings.Compare(p.Ref().Key, q.Ref().Key), cmp.Compare(a, b))
	})
	most := all/len(leaves) + all/len(leaves)/4
	shares, loads := make([]leafShare, len(leaves)), make([]int, len(leaves))
	for _, part := range order {
		from := parts[part].Segment
		best, least := -1, 0
		var greatest uint64
		for i, leaf := range leaves {
			hash := fnv.New64a()
			fmt.Fprintf(hash, "%s %s", leaf.Name(), from.Ref().Key) // a difference in the last bytes would hardly change the hash
			if sum := hash.Sum64(); loads[i]+from.Documents() <= most && (best < 0 || sum > greatest) {
				best, greatest = i, sum
			}
			if loads[i] < loads[least] {
				least = i
			}
		}
		if best < 0 {
			best = least // a segment that is too large for all
		}
		loads[best] += from.Documents()
		shares[best].parts = append(shares[best].parts, part)
	}
	for i := range shares {
		shares[i].leaf = leaves[i]
		slices.Sort(shares[i].parts)
	}
	return slices.DeleteFunc(shares, func(s leafShare) bool { return len(s.parts) == 0 })
}

// scatters reports whether leaves scan for the query. The section Leaves of the package comment names the queries that
// the root answers alone.
func (s *search) scatters() bool {
	q := s.query
	return len(s.ix.shares) > 0 && !s.plan.images && !q.Explain && q.into == nil && !q.unlimited && len(q.without)+len(q.Named)+len(q.Pinned)+len(s.plan.filter.links) == 0
}

// ask sends the same question to all leaves that have answered so far, except those in s.idle, each for its segments.
// It calls the function take with each answer, in the order of the leaves. Leaves that fail or answer too late are added
// to s.result.LeftOut, and not asked again for this query. If none answers and none is idle, the error is ErrNoLeaf.
func (s *search) ask(ctx context.Context, a Asked, take func(of leafShare, answer *Answer) error) error {
	a.Query, a.Apart, a.Begun = *s.query, s.query.apart, s.ix.begun
	a.Unquoted = s.unquoted
	for _, l := range s.ix.languages {
		a.Languages = append(a.Languages, LanguageTotals{l.name, l.documents, l.average})
	}
	a.Patience = leafPatience
	if end, ends := ctx.Deadline(); ends {
		a.Patience = min(a.Patience, time.Until(end))
	}
	answers, failures := make([]*Answer, len(s.ix.shares)), make([]error, len(s.ix.shares))
	within, cancel := context.WithTimeout(ctx, a.Patience)
	defer cancel()
	var group errgroup.Group
	fork := meter.NewFork(within)
	for i, of := range s.ix.shares {
		if name := of.leaf.Name(); s.leavesOut(name) || slices.Contains(s.idle, name) {
			continue
		}
		group.Go(func() error {
			to := a
			for _, part := range of.parts {
				to.Segments = append(to.Segments, s.parts[part].Segment.Ref().Key)
			}
			branch := fork.Branch()
			if answers[i], failures[i] = of.leaf.Ask(branch, &to); failures[i] == nil {
				meter.Add(branch, answers[i].Spent)
			}
			return nil
		})
	}
	_ = group.Wait() // each leaf has its error
	var last error
	answered := len(s.idle) > 0
	for i, of := range s.ix.shares {
		err := failures[i]
		if err == nil && answers[i] != nil {
			err = take(of, answers[i])
			s.result.Partial = s.result.Partial || answers[i].Partial
		}
		var unknown *Unreadable
		switch {
		case errors.As(err, &unknown):
			return err
		case err != nil:
			s.result.LeftOut, last = append(s.result.LeftOut, LeftOut{of.leaf.Name(), err}), err
			s.result.Partial = true
		case answers[i] != nil:
			answered = true
		}
	}
	if !answered {
		return fmt.Errorf("%w: %w", ErrNoLeaf, cmp.Or(ctx.Err(), last))
	}
	return nil
}

// askExpansions sets s.expanded (step 1 of the type Asked). The parameter n is the number of words that are expanded.
// It takes at most half of the time for reading: if one leaf hangs, the others still have time for step 2.
func (s *search) askExpansions(ctx deadline, n int) error {
	within := ctx.read
	if end, ends := within.Deadline(); ends {
		var cancel context.CancelFunc
		within, cancel = context.WithDeadline(within, end.Add(-time.Until(end)/2))
		defer cancel()
	}
	s.expanded = make([]expansions, n)
	for i := range s.expanded {
		s.expanded[i] = make(expansions)
	}
	return s.ask(within, Asked{}, func(_ leafShare, answer *Answer) error {
		if len(answer.Expanded) != n {
			return errOtherPlan
		}
		for i, of := range answer.Expanded {
			s.expanded[i].add(of)
		}
		return nil
	})
}

// askTotals sets s.totals (step 2 of the type Asked).
func (s *search) askTotals(ctx deadline) error {
	n := len(s.names) + len(s.alternatives)
	s.totals = Totals{make([]TermTotal, n), make([]TermTotal, n)}
	textless, first := 0, true
	err := s.ask(ctx.read, Asked{Expanded: s.given()}, func(of leafShare, answer *Answer) error {
		if answer.Totals == nil || answer.Plan != s.planHash() || !answer.Totals.fit(s.gathered, s.plan) {
			return errOtherPlan
		}
		s.totals.add(answer.Totals)
		s.undated.Add(answer.Undated)
		textless += answer.Textless
		if answer.Nothing {
			s.idle = append(s.idle, of.leaf.Name())
		}
		if answer.CutPhrase {
			s.cutAlternatives.Store(true)
		}
		if first {
			s.lacking, first = answer.Unmatched, false
		}
		s.lacking = slices.DeleteFunc(s.lacking, func(note string) bool { return !slices.Contains(answer.Unmatched, note) })
		return nil
	})
	s.noteTextless(textless)
	return err
}

// given returns what the leaves need to expand the query's prefixes and words with edits as the root has done: of the
// words that each of them matches, those that are searched.
func (s *search) given() (all []map[string]uint64) {
	for _, of := range s.expanded {
		all = append(all, of)
	}
	return all
}

// askBest returns the candidates of all leaves (step 3 of the type Asked), as the method candidates does.
func (s *search) askBest(ctx deadline) ([]match, error) {
	var top topMatches
	top.reset(s.kept())
	s.carried = make(map[spot]carried)
	s.result.Total, s.result.Exact, s.result.Facets = 0, true, s.facets(1)
	err := s.ask(ctx.scan, Asked{Expanded: s.given(), Totals: &s.totals}, func(of leafShare, answer *Answer) error {
		if len(answer.Facets) != len(s.query.Facets) {
			return errOtherPlan
		}
		s.result.Total += answer.Total
		s.result.Exact = s.result.Exact && answer.Exact
		s.result.Facets = joinFacets(s.result.Facets, answer.Facets, maxLeafCounts)
		for _, c := range answer.Best {
			if c.Segment < 0 || c.Segment >= len(of.parts) || int(c.Doc) >= s.parts[of.parts[c.Segment]].Segment.Documents() ||
				len(c.Phrases) != 0 && len(c.Phrases) != len(s.plan.near) {
				return errOtherPlan
			}
			part := of.parts[c.Segment]
			if dead := s.parts[part].Dead; dead != nil && dead.Contains(c.Doc) {
				continue // the leaf has read older manifests or takedowns
			}
			f := match{
				part: part, doc: c.Doc,
				score: c.Score, words: c.Words, newness: c.Newness, titled: c.Titled, defined: c.Defined, near: c.Near,
			}
			s.carried[spot{f.part, f.doc}] = carriedBy(&c)
			top.offer(f)
		}
		return nil
	})
	for i := range s.result.Facets {
		s.result.Facets[i].order(maxCounts)
	}
	return top.sorted(), err
}

// carried is what a leaf has told about a candidate (see Candidate).
type carried struct {
	date     int
	identity *layout.Identity
	vector   segment.EncodedVector // one row; nil if it was not asked for
	phrases  []occurrence          // occurrences of the phrases of plan.near; nil if they were not looked for
}

func carriedBy(c *Candidate) carried {
	k := carried{date: c.Date, identity: c.Identity}
	if len(c.Vector) == segment.VectorSize {
		k.vector = c.Vector
	}
	for _, o := range c.Phrases {
		k.phrases = append(k.phrases, occurrence{o.Freq, o.Length, o.Share})
	}
	return k
}

// leavesOut reports whether the leaf with this name is left out.
func (s *search) leavesOut(name string) bool {
	return slices.ContainsFunc(s.result.LeftOut, func(l LeftOut) bool { return l.Leaf == name })
}

// notAnswered returns a note about the leaves that have not answered; "" if all have.
func (s *search) notAnswered() string {
	if len(s.result.LeftOut) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of the %d servers that search parts of the index did not answer: their pages are missing.", len(s.result.LeftOut), len(s.ix.shares))
}
