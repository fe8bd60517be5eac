package search

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// storedAtOnce is the number of documents that the method Beginning reads with one request.
const storedAtOnce = 512

// Beginning returns the documents of the part whose addresses begin with the given text, such as
// https://example.org/old/. The text must be the beginning of a canonical URL, and contain the whole host.
//
// Segments have no list of addresses, but the words of addresses are indexed. So Beginning first looks up the
// documents that have all words of the text in their addresses. Then it reads these documents and compares their
// addresses. This costs as much as reading their texts. A document without any words, such as an image, is not
// found. In an unvisited part (URLs known only by links) the words of addresses are not indexed, so all
// documents of the part are read.
func (p Part) Beginning(ctx context.Context, text string) (*roaring.Bitmap, error) {
	candidates, err := p.addressed(ctx, text)
	if err != nil {
		return nil, err
	}
	found := roaring.New()
	for docs := range slices.Chunk(candidates.ToArray(), storedAtOnce) {
		read, err := p.Segment.Stored(ctx, docs)
		if err != nil {
			return nil, err
		}
		for i := range read {
			if strings.HasPrefix(read[i].URL, text) {
				found.Add(docs[i])
			}
		}
	}
	return found, nil
}

// addressed returns the documents that are not dead and whose addresses contain all words of the text beginning,
// which is the beginning of an address.
func (p Part) addressed(ctx context.Context, beginning string) (*roaring.Bitmap, error) {
	all := roaring.New()
	all.AddRange(0, uint64(p.Segment.Documents()))
	if p.Dead != nil {
		all.AndNot(p.Dead)
	}
	if p.Unvisited {
		return all, nil
	}
	words := wholeWords(beginning, p.Segment.Languages())
	var names []string
	for _, terms := range words {
		names = append(names, terms...)
	}
	found, err := p.Segment.Terms(ctx, names, false)
	if err != nil {
		return nil, err
	}
	for _, terms := range words {
		having := roaring.New()
		for _, term := range found[:len(terms)] {
			if term == nil {
				continue
			}
			it := term.List.Iterator()
			for doc := it.Next(); doc != postings.NoMore; doc = it.Next() {
				if freq, _, _ := it.Payload(); freq[segment.Address] > 0 {
					having.Add(doc)
				}
			}
			if err := it.Err(); err != nil {
				return nil, err
			}
		}
		all.And(having)
		found = found[len(terms):]
	}
	return all, nil
}

// wholeWords returns the words of the beginning of an address. Each word is given as its terms: those that the
// rules of the given languages make of it. Two kinds of words are left out:
//
//	the last word, if the text ends in it    the address may go on with more letters of this word
//	words that are not ASCII                 a whole address may be divided into other words there
func wholeWords(beginning string, languages map[string]int) (words [][]string) {
	_, text, _ := strings.Cut(beginning, "://")
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	codes := []string{""}
	for language := range languages {
		if code := analysis.Rules(language, text); !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	var analyzers []*analysis.Analyzer
	for _, code := range codes {
		analyzers = append(analyzers, analysis.For(code))
	}
	for _, w := range analysis.Query(text, analyzers) {
		isASCII := !strings.ContainsFunc(w.Text, func(r rune) bool { return r >= utf8.RuneSelf })
		last, _ := utf8.DecodeLastRuneInString(text)
		goesOn := w.End == len(text) && (unicode.IsLetter(last) || unicode.IsNumber(last))
		if w.Parts == 0 && w.Text != "" && isASCII && !goesOn && w.End-w.Start < segment.MaxTerm/2 {
			words = append(words, w.Terms)
		}
	}
	return words
}
