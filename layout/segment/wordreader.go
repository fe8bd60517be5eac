package segment

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/blevesearch/vellum"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Words are some of the words of a segment, as they are written on the pages of the web, in memory. They are safe for
// concurrent use.
type Words struct {
	segment *Segment // to which errors refer
	pages   []readPage
	whole   *vellum.FST // all words, if the segment has no pages of words; else nil
}

// readPage is a page of words, or of keys of suggestions, that was read. Its words are above the string after, and not
// above the string last.
type readPage struct {
	after, last string
	backward    bool // whether its words, and these two strings, are written backward
	content     []byte
}

// Words reads the words of a segment that are in one of the sets, with at most one call of Source.Read. If the segment
// has no pages of words, because an earlier version of the program has written it, Words reads all of its words.
func (s *Segment) Words(ctx context.Context, sets ...WordSet) (*Words, error) {
	w := &Words{segment: s}
	if len(s.tail.forward) == 0 && s.hasColumn(words) {
		var err error
		w.whole, err = s.transducer(ctx)
		return w, err
	}
	var of []wordRange
	for _, set := range sets {
		of = append(of, set.ranges...)
	}
	forward, ranges := choosePages(s.tail.forward, of, false)
	backward, more := choosePages(s.tail.backward, of, true)
	w.pages, ranges = append(forward, backward...), append(ranges, more...)
	contents, err := s.unpacked(ctx, ranges)
	if err != nil {
		return nil, err
	}
	for i := range contents {
		w.pages[i].content = contents[i]
	}
	return w, nil
}

// choosePages returns those of the pages, without their content, that may have words of the ranges, and where these
// pages are in the segment. The parameter backward says whether their words are written backward.
func choosePages(pages []columnExtent, of []wordRange, backward bool) (chosen []readPage, ranges []blob.Range) {
	after := ""
	for i := range pages {
		_, last, _ := strings.Cut(pages[i].name, ":")
		page := readPage{after: after, last: last, backward: backward}
		if slices.ContainsFunc(of, page.mayHave) {
			chosen = append(chosen, page)
			ranges = append(ranges, blob.Range{Offset: pages[i].offset, Length: pages[i].size})
		}
		after = last
	}
	return chosen, ranges
}

// All reports whether these are all words of the segment, and not only those of the sets that were asked for.
func (w *Words) All() bool { return w.whole != nil }

// Each calls visit once for each word of a set, with the number of documents that contain the word. It stops when
// visit returns false. The set must be one of those that were given to Segment.Words. The words come in ascending
// order, but those of a set that Near made in any order. After the call of visit, the memory of the word is used
// again. If the segment comes from a merge that left out dead documents, the number of documents may be too high
// for a frequent word, by at most the number of documents left out.
func (w *Words) Each(set WordSet, visit func(word []byte, documents uint64) bool) error {
	var err error
	if w.whole != nil {
		err = eachOf(w.whole, &set.whole, visit)
	} else {
		err = w.eachInPages(&set, visit)
	}
	if err != nil {
		return w.segment.wrap(err)
	}
	return nil
}

// eachInPages is Each for words that were read from pages.
func (w *Words) eachInPages(set *WordSet, visit func(word []byte, documents uint64) bool) error {
	var straight []byte // the current word, if it is written backward in its page
	for n := range set.ranges {
		in := &set.ranges[n]
		do := visit
		if in.backward {
			do = func(word []byte, documents uint64) bool {
				straight = appendReversed(straight[:0], word)
				known := slices.ContainsFunc(set.ranges[:n], func(r wordRange) bool { return r.has(straight) })
				return known || visit(straight, documents)
			}
		}
		for i := range w.pages {
			if !w.pages[i].mayHave(*in) {
				continue
			}
			if more, err := w.pages[i].each(in, do); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// mayHave reports whether the page may have words of a range.
func (r *readPage) mayHave(in wordRange) bool {
	return in.backward == r.backward && in.mayHave(r.after, r.last)
}

// each calls visit for each word of the page that is in a range. It returns false if visit has returned false.
func (r *readPage) each(in *wordRange, visit func(word []byte, documents uint64) bool) (more bool, err error) {
	p := parser{data: r.content}
	var word []byte // the last word that was not skipped
	// states[i] is the state of the automaton after i bytes of the word. From the state after lost bytes on, it accepts
	// no word; lost is greater than the size of any word if there is no such state. A word that shares so many
	// bytes with the one before is not accepted either, so it is skipped.
	var states [MaxTerm + 1]int
	lost := len(states)
	if in.automaton != nil {
		states[0] = in.automaton.Start()
	}
	for p.left() > 0 {
		shared, rest := p.frontSizes(MaxTerm) // word is not the word before, if that was skipped
		other := p.take(rest)
		documents := p.number(MaxDocuments)
		if p.failed || shared < lost && shared > len(word) {
			return false, damaged("page of words does not hold what it tells of")
		}
		if shared >= lost {
			p.skipShared(lost)
			continue
		}
		word = append(word[:shared], other...)
		if lost = len(states); in.automaton != nil {
			for i := shared; i < len(word) && lost > len(word); i++ {
				states[i+1] = in.automaton.Accept(states[i], word[i])
				if !in.automaton.CanMatch(states[i+1]) {
					lost = i + 1
				}
			}
			if lost <= len(word) || !in.automaton.IsMatch(states[len(word)]) {
				continue
			}
		}
		if in.to != "" && string(word) >= in.to {
			return true, nil
		}
		if string(word) >= in.from && !visit(word, documents) {
			return false, nil
		}
	}
	return true, nil
}

// skipShared skips words of a page that share at least so many bytes with the word before, up to the first one that
// shares fewer. It may stop earlier. This loop reads most of the words when words near another one are looked for.
func (p *parser) skipShared(least int) {
	data, at := p.data, p.at
	for at < len(data) && int(data[at]>>4) >= least && data[at]>>4 < half && data[at]&half < half {
		next := at + 1 + int(data[at]&half)
		for next < len(data) && data[next] >= 1<<7 {
			next++
		}
		if next++; next > len(data) {
			break
		}
		at = next
	}
	p.at = at
}

// eachOf calls visit for each word of a transducer that is in a range, which must not be backward. It stops when visit
// returns false.
func eachOf(fst *vellum.FST, in *wordRange, visit func(word []byte, documents uint64) bool) (err error) {
	defer guard(&err)
	var to []byte
	if in.to != "" {
		to = []byte(in.to)
	}
	var walk *vellum.FSTIterator
	if in.automaton != nil {
		walk, err = fst.Search(in.automaton, []byte(in.from), to)
	} else {
		walk, err = fst.Iterator([]byte(in.from), to)
	}
	for err == nil && visit(walk.Current()) {
		err = walk.Next()
	}
	if err != nil && !errors.Is(err, vellum.ErrIteratorDone) {
		return damaged("words: %w", err)
	}
	return nil
}
