package search

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Totals say how many documents have each term of a query. A term is given by its number (see gathered.names). The
// numbers after those of all terms stand for the synonyms of several words (see synonymPhrase).
type Totals struct {
	Texts   []TermTotal // of the texts of pages
	Anchors []TermTotal // of the anchors (texts of links to pages)
}

// TermTotal says how many documents have a term.
type TermTotal struct {
	Documents uint64 `json:",omitempty"` // most terms of a long query are in no document of a leaf
	// In has the number of these documents in each language of the query, in the order of plan.languages; nil if it
	// is 0 for all languages. Documents of segments that do not store this number are counted in Unknown instead.
	In      []uint64 `json:",omitempty"`
	Unknown uint64   `json:",omitempty"`
}

// setTotals computes g.totals from the terms of all parts that were read.
func (g *gathered) setTotals(p *plan) {
	n := len(g.names) + len(g.alternatives)
	g.totals = Totals{Texts: make([]TermTotal, n), Anchors: make([]TermTotal, n)}
	for part := range g.parts {
		if !g.missing[part] {
			p.addTotals(g.totals.Texts, g.terms[part])
			p.addTotals(g.totals.Anchors, g.anchors[part])
		}
	}
}

// addTotals adds the documents of one part to the totals, which are sorted by number, as the terms are.
func (p *plan) addTotals(to []TermTotal, terms []*segment.Term) {
	for number, term := range terms {
		if term == nil {
			continue
		}
		t := &to[number]
		t.Documents += uint64(term.Summary.Documents)
		for i := range p.languages {
			n, known := term.In(p.languages[i].name)
			if !known {
				t.Unknown += uint64(term.Summary.Documents)
				break
			}
			if n > 0 {
				if t.In == nil {
					t.In = make([]uint64, len(p.languages))
				}
				t.In[i] += uint64(n)
			}
		}
	}
}

// fit reports whether totals that another process has sent are of the terms and languages of this search.
func (t *Totals) fit(g *gathered, p *plan) bool {
	n := len(g.names) + len(g.alternatives)
	other := func(total TermTotal) bool { return len(total.In) != 0 && len(total.In) != len(p.languages) }
	return len(t.Texts) == n && len(t.Anchors) == n && !slices.ContainsFunc(t.Texts, other) && !slices.ContainsFunc(t.Anchors, other)
}

// add adds the totals of other segments for the same terms.
func (t *Totals) add(other *Totals) {
	for i := range t.Texts {
		t.Texts[i].add(&other.Texts[i])
		t.Anchors[i].add(&other.Anchors[i])
	}
}

func (t *TermTotal) add(other *TermTotal) {
	t.Documents += other.Documents
	t.Unknown += other.Unknown
	if len(t.In) == 0 {
		t.In = other.In
		return
	}
	for i, n := range other.In {
		t.In[i] += n
	}
}

// having returns the totals that say how frequent a word of the query is: those of texts, or those of anchors for a
// word that is in no text.
func (t *Totals) having(w *queryWord) []TermTotal {
	if t.inTexts(w) {
		return t.Texts
	}
	return t.Anchors
}

// inTexts reports whether the given word of the query occurs in the text of any page.
func (t *Totals) inTexts(w *queryWord) bool { return holds(t.Texts, w) }

// inAnchors reports whether the given word of the query occurs in the anchors of any page (the texts
// of links to it).
func (t *Totals) inAnchors(w *queryWord) bool { return holds(t.Anchors, w) }

func holds(totals []TermTotal, w *queryWord) bool {
	for _, v := range w.variants {
		if totals[v.number].Documents > 0 {
			return true
		}
	}
	return false
}

// inNames reports whether the given word of the query occurs in the names of any site.
func (t *Totals) inNames(w *queryWord) bool {
	for _, v := range w.variants {
		if v.named >= 0 && t.Texts[v.named].Documents > 0 {
			return true
		}
	}
	return false
}

// countDocuments sets, for each word of the plan, the number of documents that have it.
func (p *plan) countDocuments(t *Totals) {
	p.each(func(w *queryWord) {
		w.documents = 0
		totals := t.having(w)
		for _, v := range w.variants {
			w.documents += totals[v.number].Documents
		}
		for _, v := range w.neighbours {
			w.documents += t.Texts[v.number].Documents + t.Anchors[v.number].Documents
		}
	})
}
