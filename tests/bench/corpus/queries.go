package corpus

import (
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
)

// Queries chooses up to n queries of two or three words from a corpus, the same queries at each
// call. All words of a query occur on one page. A word occurs on 0.1 % to 5 % of the pages; but
// every fifth query has one frequent word, which occurs on 10 % to 40 % of them.
func Queries(open func() (io.ReadCloser, error), n int) ([]string, error) {
	frequencies, pages, err := countWords(open)
	if err != nil {
		return nil, err
	}
	file, err := open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	medium := func(word string) bool {
		f := frequencies[word]
		return f >= max(3, pages/1000) && f <= pages/20
	}
	frequent := func(word string) bool { return frequencies[word] > pages/10 && frequencies[word] <= pages*2/5 }
	random := rand.New(rand.NewPCG(4, 4))
	var queries []string
	at := 0
	for p, err := range Read(file) {
		if err != nil {
			return nil, err
		}
		if at++; at < len(queries)*pages/n { // spreads the queries over all pages
			continue
		}
		words := slices.Collect(wordsOf(p.Body))
		from := random.IntN(len(words) + 1)
		kinds := []func(string) bool{medium, medium, medium}[:2+random.IntN(2)]
		if len(queries)%5 == 4 {
			kinds[0] = frequent
		}
		if query := choose(words[from:], kinds); query != nil {
			queries = append(queries, strings.Join(query, " "))
		}
		if len(queries) == n {
			break
		}
	}
	return queries, nil
}

// Sentences returns up to n queries, the same ones at each call. Each query consists of consecutive
// words in the body of a page, and all queries have the given number of words. The pages are spread
// over the whole corpus.
func Sentences(open func() (io.ReadCloser, error), n, words int) ([]string, error) {
	_, pages, err := countWords(open)
	if err != nil {
		return nil, err
	}
	file, err := open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	random := rand.New(rand.NewPCG(4, uint64(words)))
	var queries []string
	at := 0
	for p, err := range Read(file) {
		if err != nil {
			return nil, err
		}
		body := slices.Collect(wordsOf(p.Body))
		if at++; at < len(queries)*pages/n || len(body) < words {
			continue
		}
		from := random.IntN(len(body) - words + 1)
		if queries = append(queries, strings.Join(body[from:from+words], " ")); len(queries) == n {
			break
		}
	}
	return queries, nil
}

// choose chooses the words of a query from a list, one for each function in kinds. The first is the
// first word for which kinds[0] returns true. The second is the next word after it for which
// kinds[1] returns true, and so on. No word is chosen twice. If there are too few suitable words,
// choose returns nil.
func choose(words []string, kinds []func(string) bool) (query []string) {
	for _, word := range words {
		if kinds[len(query)](word) && !slices.Contains(query, word) {
			if query = append(query, word); len(query) == len(kinds) {
				return query
			}
		}
	}
	return nil
}

// countWords counts the pages of a corpus, and returns the number of pages that have each word, and
// the number of all pages.
func countWords(open func() (io.ReadCloser, error)) (count map[string]int, pages int, err error) {
	file, err := open()
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	type seen struct{ pages, last int }
	all := map[string]*seen{}
	for p, err := range Read(file) {
		if err != nil {
			return nil, 0, err
		}
		pages++
		for word := range wordsOf(p.Body) {
			s := all[word]
			if s == nil {
				s = new(seen)
				all[strings.Clone(word)] = s
			}
			if s.last != pages {
				s.pages, s.last = s.pages+1, pages
			}
		}
	}
	count = make(map[string]int, len(all))
	for word, s := range all {
		count[word] = s.pages
	}
	return count, pages, nil
}

// wordsOf yields the words of a text that consist of 4 to 14 letters from a to z and have white
// space on both sides. All engines agree that these are words.
func wordsOf(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i <= len(text); i++ {
			if i < len(text) && (text[i] >= 'a' && text[i] <= 'z') {
				continue
			}
			bare := (start == 0 || text[start-1] <= ' ') && (i == len(text) || text[i] <= ' ')
			if bare && i-start >= 4 && i-start <= 14 && !yield(text[start:i]) {
				return
			}
			start = i + 1
		}
	}
}
