package search

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// fieldNames are the names of the fields in explanations of scores.
var fieldNames = [postings.Fields]string{"title", "headings", "address", "body"}

// explain sets the explanations of the hits by computing their scores again. best has the matches
// of the hits, in the same order. explain also sets each hit's LangSource: how its language is
// known, for instance declared by the page or guessed from its text.
func (s *search) explain(ctx context.Context, best []match) error {
	if len(best) == 0 {
		return nil
	}
	phrases := slices.Concat(s.plan.must, s.plan.near, s.plan.grouped)
	var found [][]occurrence
	var err error
	if len(phrases) > 0 {
		if found, err = s.occurring(withoutDeadline(ctx), best, phrases, nil); err != nil {
			return err
		}
	}
	sources, err := s.sources(ctx, best)
	if err != nil {
		return err
	}
	work := new(scan)
	work.begin(s)
	for i, f := range best {
		if of := sources[f.part]; of != nil {
			s.result.Hits[i].LangSource = strings.Join(of.Get(f.doc), "")
		}
		if !work.open(s, int(f.part)) {
			continue
		}
		root := s.explainWords(work, f.doc)
		root.add(s.explainNames(work, f.doc))
		for n, ph := range s.plan.must {
			o := &found[i][n]
			root.add(s.explainFields(fmt.Sprintf("phrase %s", ph), ph.weight, &o.freq, &o.length))
		}
		for n, ph := range s.plan.grouped {
			o := &found[i][len(s.plan.must)+len(s.plan.near)+n]
			root.add(s.explainFields(fmt.Sprintf("phrase %s", ph), ph.weight, &o.freq, &o.length))
		}
		if f.titled > 0 {
			root.add(Explanation{What: "title that the query names", Value: f.titled})
		}
		if f.defined > 0 {
			root.add(Explanation{What: "definition of a name in the query", Value: f.defined})
		}
		if f.support > 0 {
			root.add(Explanation{What: "support by similar pages", Value: f.support})
		}
		if f.newness > 0 && !s.byDate() {
			root.add(s.explainNewness(f))
		}
		if near := s.explainNear(found, i); (root.Value+near.Value)/slack <= s.scoreOf(f) { // else its score was too low to be examined for this bonus
			root.add(near)
		}
		root.What = "score"
		s.result.Hits[i].Explanation = &root
	}
	return nil
}

// sources reads the column that says how the language of each document is known, for instance
// declared by the page or guessed from its text. It reads only parts that have some of the matches.
// The result is indexed by part.
func (s *search) sources(ctx context.Context, best []match) ([]*segment.StringColumn, error) {
	sources := make([]*segment.StringColumn, len(s.parts))
	err := s.each(withoutDeadline(ctx), func(ctx context.Context, part int) (err error) {
		if slices.ContainsFunc(best, func(f match) bool { return int(f.part) == part }) {
			sources[part], err = s.parts[part].Segment.Strings(ctx, segment.LanguageSources)
		}
		return err
	})
	return sources, err
}

// explainNear explains the bonus of match i for words near each other. found[i] has the match's
// occurrences of the phrases of plan.must, followed by those of plan.near and plan.grouped.
func (s *search) explainNear(found [][]occurrence, i int) Explanation {
	e := Explanation{What: "nearness of the words"}
	for n, ph := range s.plan.near {
		o := &found[i][len(s.plan.must)+n]
		if ph.shares != nil {
			e.add(Explanation{
				What:  fmt.Sprintf("a passage with %.0f %% of %s, in %d words", 100*o.share, ph, postings.LengthOf(o.length[segment.Body])),
				Value: ph.passageScore(o.share, o.length[segment.Body]),
			})
			continue
		}
		what := fmt.Sprintf("%s in this order", ph)
		if ph.slop > 0 {
			what = fmt.Sprintf("%s at most %d words from that", ph, ph.slop)
		}
		e.add(s.explainFields(what, ph.weight, &o.freq, &o.length))
	}
	return e
}

// explainNames explains the part of a start page's score that comes from words of the query in the
// names of its site. doc is the page's document. The caller must call explainWords for this document
// first: that moves the cursors of the scan to it.
func (s *search) explainNames(work *scan, doc uint32) Explanation {
	named := 0.0
	for i := range s.plan.words {
		if c := &work.words[i]; c.doc == doc && !work.joined[i] {
			_, of := c.score(s.statistics)
			named += of
		}
	}
	return Explanation{What: "start page of a site with this name", Value: s.plan.naming(named)}
}

func (e *Explanation) add(part Explanation) {
	if part.Value != 0 {
		e.Value += part.Value
		e.Parts = append(e.Parts, part)
	}
}

// explainWords explains the part of a document's score that comes from the single words of the query.
func (s *search) explainWords(work *scan, doc uint32) (words Explanation) {
	held := 0
	for i, w := range s.plan.words {
		c := &work.words[i]
		if c.advance(doc) != doc {
			continue
		}
		if !w.isOptional() {
			held++
		}
		words.add(s.explainWord(w, c))
	}
	if held >= 2 && held >= s.plan.written() {
		more := s.plan.weights.AllWords - 1
		words.add(Explanation{What: fmt.Sprintf("holds all words: %.4g × their sum", more), Value: more * words.Value})
	}
	return words
}

// explainWord explains the score of a word in the cursor's document. Several terms may stand for the word.
// The score is the sum of two scores: that of the best of these terms in the page's text, and that of the
// best one in the page's anchors (texts of links to it).
func (s *search) explainWord(w *queryWord, c *cursor) (best Explanation) {
	var anchors Explanation
	what := fmt.Sprintf("word %q: %s, idf %.4g", w.text, s.plan.rarity(w), w.idf)
	if w.times > 1 {
		what += fmt.Sprintf(", %d times in the query: × %.4g", w.times, s.plan.weights.repeated(w.times))
	}
	best.What = what
	for i := range c.lists {
		l := &c.lists[i]
		if l.doc != c.doc {
			continue
		}
		if l.kind == ofName || l.kind == ofDefinition {
			continue
		}
		if l.anchors != nil {
			if e := explainAnchors(l, c.weight(l)); e.Value > anchors.Value {
				anchors = e
			}
			continue
		}
		freq, length, _ := l.it.Payload()
		weight := c.weight(l)
		e := s.explainFields("", weight, freq, length)
		if e.Value < best.Value {
			continue
		}
		best = e
		best.What = what
		if weight != w.weight {
			best.What += fmt.Sprintf(", worth %.4g", weight/w.weight)
		}
	}
	best.add(anchors)
	return best
}

// explainFields explains the BM25F score of a word or phrase by the contribution of each field. The first
// argument is the text for Explanation.What, which names the word or phrase.
func (s *search) explainFields(what string, weight float64, freq *[postings.Fields]uint32, length *[postings.Fields]uint8) Explanation {
	e := Explanation{What: what}
	all := s.statistics.frequency(freq, length)
	for f, n := range freq {
		if n == 0 {
			continue
		}
		fieldWeight, _ := s.plan.weights.field(f)
		counted := s.statistics.counted(f, n, length[f])
		gain := counted * s.statistics.gain[f][length[f]]
		times := fmt.Sprintf("%d times", n)
		if counted < float64(n) {
			times += ", too often for a text, of which one counts"
		}
		e.add(Explanation{
			What: fmt.Sprintf("in %s × %g: %s, length %d, %.4g of a frequency of %.4g", fieldNames[f], fieldWeight,
				times, postings.LengthOf(length[f]), gain, all),
			Value: weight * s.plan.weights.saturated(all) * gain / all,
		})
	}
	return e
}

// rarity returns a text that says how many documents of the query's likeliest language have a
// word.
func (p *plan) rarity(w *queryWord) string {
	l := p.likeliest()
	if l == nil {
		return fmt.Sprintf("%d documents", w.documents)
	}
	language := l.name
	if language == "" {
		language = "an unknown language"
	}
	for i := range p.languages {
		if &p.languages[i] == l {
			return fmt.Sprintf("%.0f of %.0f documents in %s, the query's language with probability %.2g", w.in[i], l.documents, language, l.share)
		}
	}
	return ""
}

// String returns the words of the phrase.
func (ph *queryPhrase) String() string {
	text := ""
	for i, w := range ph.words {
		if i > 0 {
			text += " "
		}
		text += w.text
	}
	return fmt.Sprintf("%q", text)
}
