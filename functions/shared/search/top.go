package search

import (
	"cmp"
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// match is a matching document.
type match struct {
	score   float64 // score; if the query has phrases in quotes, only an upper bound until these were looked for
	words   float64 // score of the words, without phrases
	support float64 // part of the score that comes from similar matches (see search.support)
	// part of the score that comes from the page's date: the bonus for new pages (see search.addNewness) or, if
	// matches are sorted by date, the number that puts newer pages first (see dayWorth)
	newness float64
	titled  float64 // bonus for a title that the query names (see search.addSubjects)
	defined float64 // bonus for names of the query that the page defines (see search.addSubjects)
	near    float64 // upper bound of the bonus for words near each other
	part    int32   // number of the part (segment) of the index
	doc     uint32  // number of the document in the part
}

// topMatches keeps the matches with the highest scores of a scan, and all matches that tie with the
// worst of them.
type topMatches struct {
	size  int
	floor float64 // lowest score of a match that is kept; negative: all are kept
	best  []match // heap of at most size matches, the worst first
	ties  []match // once the heap is full: matches outside of it that have the same score as its worst match
}

func (t *topMatches) reset(size int) {
	t.size, t.floor, t.best, t.ties = size, -1, t.best[:0], t.ties[:0]
}

// least returns the lowest score with which a further match is kept. As long as fewer than size matches are kept,
// this is t.floor. If size is 0, it is a number that no score reaches.
func (t *topMatches) least() float64 {
	switch {
	case len(t.best) < t.size:
		return t.floor
	case t.size == 0:
		return maxScore
	}
	return max(t.floor, t.best[0].score)
}

const maxScore = 1e300

// offer adds a match if it is among the best so far, or ties with the worst of them. Its score must be at least
// t.floor.
func (t *topMatches) offer(f match) {
	if len(t.best) < t.size {
		t.best = append(t.best, f)
		t.up(len(t.best) - 1)
		return
	}
	if t.size == 0 || f.score < t.best[0].score {
		return
	}
	if f.score == t.best[0].score {
		t.ties = append(t.ties, f)
		return
	}
	out := t.best[0]
	t.best[0] = f
	t.down()
	if t.best[0].score == out.score {
		t.ties = append(t.ties, out)
	} else {
		t.ties = t.ties[:0]
	}
}

func (t *topMatches) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if t.best[parent].score <= t.best[i].score {
			return
		}
		t.best[parent], t.best[i] = t.best[i], t.best[parent]
		i = parent
	}
}

func (t *topMatches) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(t.best) {
			return
		}
		if child+1 < len(t.best) && t.best[child+1].score < t.best[child].score {
			child++
		}
		if t.best[i].score <= t.best[child].score {
			return
		}
		t.best[i], t.best[child] = t.best[child], t.best[i]
		i = child
	}
}

// sorted returns the best matches and those that tie with the worst, the highest score first. The
// topMatches must not be used afterwards until it is reset.
func (t *topMatches) sorted() []match {
	t.best = append(t.best, t.ties...)
	slices.SortFunc(t.best, byScore)
	return t.best
}

// byScore compares two matches: the one with the higher score comes first; equal scores are ordered
// by part, then by number of the document.
func byScore(a, b match) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.part, b.part), cmp.Compare(a.doc, b.doc))
}

// fewTied limits how many documents are read to order matches with equal scores by identity (the
// hash of the URL). The limit is the size of the page of hits plus fewTied. If more documents would
// have to be read, the identities of all documents of the segments are read instead.
const fewTied = 8

func (s *search) page(best []match) []match {
	to := min(len(best), s.query.From+s.query.Size)
	return best[min(s.query.From, to):to]
}

// tied returns the groups of matches with equal scores that are only partly on the requested page of hits:
// some matches of the group are on this page, and others are on the page before or after it. There are at
// most two such groups. The result around has all matches of the page and of these groups.
func (s *search) tied(best []match) (groups [][]match, around []match) {
	from, to := s.query.From, min(len(best), s.query.From+s.query.Size)
	if from >= to {
		return nil, nil
	}
	end := 0
	for _, border := range []int{from, to} {
		if border < max(1, end) || border == len(best) || best[border-1].score != best[border].score {
			continue
		}
		start, score := border, best[border].score
		for start > 0 && best[start-1].score == score {
			start--
		}
		for end = border; end < len(best) && best[end].score == score; {
			end++
		}
		groups = append(groups, best[start:end])
		from, to = min(from, start), max(to, end)
	}
	return groups, best[from:to]
}

// order sorts matches with equal scores by identity, so that the right ones are on the page of hits.
// It sorts only the groups that are partly on the page (see tied). Groups within the page are sorted
// later, when the documents of the page are read.
func (s *search) order(ctx deadline, best []match) (err error) {
	groups, around := s.tied(best)
	if len(groups) == 0 {
		return nil
	}
	if s.areFew(around) {
		err = s.fetch(ctx, around)
	} else {
		unread := s.unidentified(groups)
		err = s.each(ctx, func(ctx context.Context, part int) error {
			if slices.Contains(unread, part) {
				return s.identify(ctx, part)
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	for _, group := range groups {
		slices.SortFunc(group, func(a, b match) int {
			return cmp.Or(s.identity(a).Compare(s.identity(b)), cmp.Compare(a.part, b.part), cmp.Compare(a.doc, b.doc))
		})
	}
	return nil
}

// areFew reports whether the matches are so few that they can be ordered by reading their documents.
// If they are more, the identities of all documents are read instead (see fewTied).
func (s *search) areFew(around []match) bool { return len(around) <= s.query.Size+fewTied }

// unidentified returns the numbers of the parts of the index (see Part) whose identities (hashes of URLs)
// must still be read, so that the groups of matches can be sorted by identity. These parts have a match in
// one of the groups whose identity neither s.identities nor a leaf has told.
func (s *search) unidentified(groups [][]match) (parts []int) {
	for _, group := range groups {
		for _, f := range group {
			if part := int(f.part); s.identities[part] == nil && s.carried[spot{f.part, f.doc}].identity == nil && !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	return parts
}

// identify sets s.identities[part], the identities of all documents of a part of the index, from
// the cache or by reading them.
func (s *search) identify(ctx context.Context, part int) (err error) {
	from, memory := s.parts[part].Segment, s.ix.memory
	if s.identities[part] = memory.identities(from.Ref().Key); s.identities[part] == nil {
		if s.identities[part], err = from.Identities(ctx); err == nil {
			memory.putIdentities(from.Ref().Key, s.identities[part])
		}
	}
	return err
}

// identity returns the identity of a match, or the zero identity if it could not
// be read before the deadline.
func (s *search) identity(f match) (id layout.Identity) {
	if d := s.document(f); d != nil {
		return d.ID
	}
	if of := s.identities[f.part]; int(f.doc) < len(of) {
		return of[f.doc]
	}
	if of := s.carried[spot{f.part, f.doc}].identity; of != nil {
		return *of
	}
	return id
}
