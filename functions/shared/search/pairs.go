package search

import "slices"

// nearPairs is the greatest number of pairs of neighbouring words of a query that are looked
// for near each other in documents, for a bonus. Of more pairs, those with the rarest words are
// taken.
const nearPairs = 16

// setNear sets p.near, the phrases that give a document a bonus. It makes them of the words that the
// query has without quotes or signs. A run is a word of a script without spaces, which analysis has
// divided into overlapping pairs of characters. The phrases are
//
//	for two neighbours    the two exactly as in the query, and the two with slop; a neighbour is a
//	                      word or a run (see addNear)
//	for a run             see addRun
//
// Prefixes (fox*) and words with edits (foks~) are left out.
func (p *plan) setNear() {
	var last *queryPhrase // the last word of what is read, or the run at its end
	for _, together := range p.plain {
		n := len(together.words)
		if together.open {
			n--
		}
		for i := 0; i < n; {
			run := together.runAt(i)
			i += len(run.words)
			if run.words[0].begins {
				last = nil
				continue
			}
			if len(run.words) > 1 {
				p.addRun(run)
			}
			if last != nil {
				gap := last.at[len(last.at)-1] + 1
				if last.words[len(last.words)-1].isPair() {
					gap++
				}
				if start := i - len(run.words); start > 0 {
					gap = last.at[len(last.at)-1] + together.at[start] - together.at[start-1]
				}
				p.addNear(last, run, gap)
			}
			last = run
		}
		if together.open {
			last = nil
		}
	}
}

// runAt returns the run of overlapping pairs of characters that begins with word i of the phrase, such as
// AB, BC, CD for the text ABCD. If word i is not a pair, or no pair that overlaps it follows, runAt
// returns word i alone.
func (ph *queryPhrase) runAt(i int) *queryPhrase {
	run := &queryPhrase{words: ph.words[i : i+1], at: []uint32{0}}
	for end := i + 1; end < len(ph.words) && ph.words[end-1].isPair() && ph.words[end].isPair() && ph.at[end] == ph.at[end-1]+1; end++ {
		run.words, run.at = ph.words[i:end+1], append(run.at, ph.at[end]-ph.at[i])
	}
	return run
}

// addRun adds phrases to p.near for a run of overlapping pairs of characters. Two successive pairs make two
// phrases: an exact one, and one with slop (see MaxSlop). The whole run makes an exact phrase if it has at
// most maxRun pairs. For example, the text ABCD has the run AB, BC, CD and makes the phrases
//
//	AB BC       exact
//	AB BC       with slop
//	BC CD       exact
//	BC CD       with slop
//	AB BC CD    exact
func (p *plan) addRun(run *queryPhrase) {
	for i := 1; i < len(run.words); i++ {
		if run.words[i-1] != run.words[i] {
			pair, at := run.words[i-1:i+1], []uint32{0, 1}
			p.near = append(p.near, &queryPhrase{words: pair, at: at, overlap: true}, &queryPhrase{words: pair, at: at, slop: nearSlop, overlap: true})
		}
	}
	if len(run.words) <= maxRun {
		p.near = append(p.near, &queryPhrase{words: run.words, at: run.at, run: true})
	}
}

// addNear adds two phrases to p.near for two neighbours a and b in the query: an exact phrase, and one with
// slop. Each neighbour is one word, or a run of pairs of characters (see setNear), where each pair counts
// as a word. Both phrases have all words of a, and then all words of b. If these are more than maxRun
// words, the phrases have only the last word of a and the first word of b. gap is the number of positions
// from the beginning of a to the beginning of b.
func (p *plan) addNear(a, b *queryPhrase, gap uint32) {
	if len(a.words)+len(b.words) > maxRun {
		end := len(a.words) - 1
		gap -= a.at[end]
		a, b = &queryPhrase{words: a.words[end:], at: []uint32{0}}, &queryPhrase{words: b.words[:1], at: b.at[:1]}
	}
	if len(a.words) == 1 && len(b.words) == 1 && a.words[0] == b.words[0] {
		return
	}
	words, at := slices.Concat(a.words, b.words), slices.Clone(a.at)
	for _, offset := range b.at {
		at = append(at, gap+offset)
	}
	p.near = append(p.near, &queryPhrase{words: words, at: at}, &queryPhrase{words: words, at: at, slop: nearSlop})
}
