package search

import (
	"math"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// mostLength is the greatest length of a field, relative to the average, that counts in the score of a short query:
// a longer field scores as if it had this length. A page with a much longer field has more content,
// not the same content in more words. For a long query the whole length counts (see plan.isLong): a very
// long page has many of its words by chance.
const mostLength = 3

// leastLength is the least length of a body, relative to the average, that counts: a shorter body scores as if it had
// this length. That the few words of a thin page are those of the query does not make it a better answer.
const leastLength = 0.25

// thinLength is the length of a body, relative to the average, below which the title promises more than the page has
// (see scan.titled).
const thinLength = 1.0 / 16

// statistics holds the average lengths of fields by which one query is scored. They are means over
// the languages of the query, weighted by the probabilities of these languages.
type statistics struct {
	weights *Weights
	// gain is the contribution of one occurrence of a word to its weighted frequency, by field and
	// by code of the field's length: weight ÷ (1 − b + b·length/average).
	gain [postings.Fields][256]float64
	// greatest frequency at which every occurrence of a word counts, by the same (see counted)
	most [postings.Fields][256]uint32
	// by the code of the body's length: 1, or less for a body that is shorter than thinLength, down to 0
	content [256]float64
}

// repeats has for each field the number of its words for which one occurrence of a word is still usual; 0: any number
// of occurrences is.
var repeats = [postings.Fields]uint32{segment.Title: 2, segment.Headings: 2, segment.Body: 8}

// mostOften returns the greatest frequency of a word that counts in a field of a page, given the field's length.
func mostOften(field int, length uint32) uint32 {
	if repeats[field] == 0 {
		return math.MaxUint32
	}
	return max(4, length/repeats[field])
}

// newStatistics returns the statistics of a query in these languages, for scores by the weights w. The parameter long
// says whether the query is a long one (see mostLength).
func newStatistics(languages []queryLanguage, w *Weights, long bool) *statistics {
	var average [postings.Fields]float64
	for i := range languages {
		for f, n := range languages[i].average {
			average[f] += languages[i].share * n
		}
	}
	t := &statistics{weights: w}
	for f := range t.gain {
		weight, b := w.field(f)
		for code := range t.gain[f] {
			relative := float64(postings.LengthOf(uint8(code))) / max(1, average[f])
			if !long {
				relative = min(mostLength, relative)
			}
			if f == segment.Body {
				t.content[code] = min(1, relative/thinLength)
				relative = max(leastLength, relative)
			}
			t.most[f][code] = mostOften(f, postings.LengthOf(uint8(code)))
			t.gain[f][code] = weight / (1 - b + b*relative)
		}
	}
	return t
}

// idf returns the inverse document frequency of BM25 for a word. It takes the number of documents
// with the word, and the number of all documents. The result is never negative, since one is added
// under the logarithm (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009, 3.1).
func idf(documents, all float64) float64 {
	n := min(documents, all)
	return math.Log(1 + (all-n+0.5)/(n+0.5))
}

// repeated returns the weight of a word that occurs the given number of times in
// a query, relative to a word that occurs once.
func (w *Weights) repeated(times int) float64 {
	n := float64(times)
	return (w.Repetition + 1) * n / (w.Repetition + n)
}

// bm25f returns the score of a word or phrase in a document (Robertson and Zaragoza, 3.5). For each
// field, freq has the frequency of the word, and length the code of the field's length.
func (t *statistics) bm25f(weight float64, freq *[postings.Fields]uint32, length *[postings.Fields]uint8) float64 {
	return weight * t.weights.saturated(t.frequency(freq, length))
}

// frequency returns the weighted frequency of a word: the sum of its frequencies in the fields,
// each times the gain of the field.
func (t *statistics) frequency(freq *[postings.Fields]uint32, length *[postings.Fields]uint8) (sum float64) {
	for f, n := range freq {
		if n > 0 {
			sum += t.counted(f, n, length[f]) * t.gain[f][length[f]]
		}
	}
	return sum
}

// counted returns how often a word that occurs n times in a field of the given length counts. It counts once if it
// occurs more often than in texts that are written for readers: more than four times, and more than once in eight
// words of a body, or in two words of a title or of headings.
func (t *statistics) counted(field int, n uint32, length uint8) float64 {
	if n > t.most[field][length] {
		return 1
	}
	return float64(n)
}

func (w *Weights) saturated(frequency float64) float64 {
	return (w.Saturation + 1) * frequency / (w.Saturation + frequency)
}

// bound returns an upper bound of a word's score in any document of a block of postings, or of a whole
// posting list. The parameter impacts has the greatest frequencies there for each field and length of the
// field.
func (t *statistics) bound(weight float64, impacts []postings.Impact) float64 {
	var most [postings.Fields]float64
	for _, i := range impacts {
		most[i.Field] = max(most[i.Field], float64(i.Freq)*t.gain[i.Field][i.Length])
	}
	return weight * t.weights.saturated(most[0]+most[1]+most[2]+most[3]) * slack // sums are rounded in another order elsewhere
}

// mostScore returns an upper bound of the score of a word of weight 1.
func (w *Weights) mostScore() float64 { return w.Saturation + 1 }

// cursor walks through the documents of a segment that have any variant of a word, that is, any of
// the terms that are searched for it.
type cursor struct {
	// posting lists: for each variant of the word, one of texts, one of anchors, one of names of sites and
	// one of names that pages define
	lists  []listCursor
	doc    uint32  // current document: the lowest of the current documents of all lists
	common uint64  // number of postings in all lists together
	most   float64 // upper bound of the word's score in the segment
	// for each kind of list, an upper bound of what lists of this kind add to the word's score
	mostOf [kinds]float64
	weak   bool    // whether mostOf[ofText] is the bound of the text lists in each window (see scan.weaken)
	bound  float64 // upper bound of the word's score in the current window
	last   int64   // last document for which cursor.bound is valid
	// rules of analysis of the segment's documents; nil if all documents have the same rules
	rules *documentRules
}

type listCursor struct {
	it   postings.Iterator
	doc  uint32
	kind int // kind of the list: ofText, ofAnchors, ofName or ofDefinition
	// weight of the word times the worth of the variant; in a list of anchors also times
	// Weights.Anchors, in a list of names of sites also times Weights.Named; in a list of names that pages
	// define it is the worth alone
	weight  float64
	rules   uint64      // bit set of the rules of analysis that give the variant (see variant.rules)
	bound   float64     // upper bound of the variant's score in the current window
	last    int64       // last document for which listCursor.bound is valid
	anchors *statistics // statistics of anchors if the list is of anchors; nil for other lists
}

// The kinds of posting lists: of texts, of anchors (texts of links), of the names of sites, and of the names that
// pages define.
const (
	ofText = iota
	ofAnchors
	ofName
	ofDefinition
	kinds
)

// most returns an upper bound of what the list adds to the score of any document in a range of documents.
// The parameter impacts has the greatest frequencies of the term in this range. The parameter texts has
// the statistics by which texts are scored.
func (l *listCursor) most(texts *statistics, impacts []postings.Impact) float64 {
	switch l.kind {
	case ofName:
		return l.weight * slack
	case ofDefinition:
		return 0
	}
	return l.from(texts).bound(l.weight, impacts)
}

// from returns the statistics by which the list is scored. For a list of anchors these are the
// statistics of anchors, for other lists the given statistics of texts.
func (l *listCursor) from(texts *statistics) *statistics {
	if l.anchors != nil {
		return l.anchors
	}
	return texts
}

// reset removes all lists. The memory that they took is used again for the next ones.
func (c *cursor) reset() {
	c.lists, c.common, c.doc, c.last = c.lists[:0], 0, postings.NoMore, -1
	c.most, c.mostOf, c.weak = 0, [kinds]float64{}, false
}

// add adds to the cursor the posting list of one variant of its word, for the occurrences in the
// texts of pages. weight is the weight of the variant in scores, and rules are its rules of analysis
// (see variant.rules). t has the average lengths by which texts are scored.
func (c *cursor) add(l *postings.List, weight float64, rules uint64, t *statistics) {
	c.open(l, listCursor{kind: ofText, weight: weight, rules: rules}, t)
}

// addAnchors adds a posting list to the cursor of a word: the list of one variant of the word, for the
// occurrences in anchors (texts of links). The parameter weight is the weight of this variant in texts of
// pages. addAnchors multiplies it by Weights.Anchors. The parameter rules has the variant's rules of
// analysis (see variant.rules). t has the average lengths by which anchors are scored.
func (c *cursor) addAnchors(l *postings.List, weight float64, rules uint64, t *statistics) {
	c.open(l, listCursor{kind: ofAnchors, weight: weight * t.weights.Anchors, anchors: t, rules: rules}, t)
}

// addNames adds a posting list to the cursor of a word: the list of one variant of the word, for the
// occurrences in names of sites. The parameter weight is the weight of this variant in texts of pages.
// addNames multiplies it by Weights.Named. t has the weights of the search, and the average lengths of
// texts.
func (c *cursor) addNames(l *postings.List, weight float64, t *statistics) {
	c.open(l, listCursor{kind: ofName, weight: weight * t.weights.Named}, t)
}

// addDefinitions adds a posting list to the cursor of a word: the list of one variant of the word, for the pages
// that define it as a name (see segment.DefinitionTerm). The list adds nothing to the word's score. The parameter
// worth is that of the variant.
func (c *cursor) addDefinitions(l *postings.List, worth float64, t *statistics) {
	c.open(l, listCursor{kind: ofDefinition, weight: worth}, t)
}

// open adds a list with the postings l to the cursor. The second argument is a template: open copies
// its kind, weight, rules and anchors to the list. If an earlier list was removed by reset, the new
// list uses its memory. t has the average lengths by which texts are scored.
func (c *cursor) open(l *postings.List, as listCursor, t *statistics) {
	if len(c.lists) < cap(c.lists) {
		c.lists = c.lists[:len(c.lists)+1]
	} else {
		c.lists = append(c.lists, listCursor{})
	}
	at := &c.lists[len(c.lists)-1]
	at.it.Reset(l)
	at.kind, at.weight, at.rules, at.last, at.anchors = as.kind, as.weight, as.rules, -1, as.anchors
	at.doc = at.it.Next()
	c.doc = min(c.doc, at.doc)
	c.mostOf[at.kind] = max(c.mostOf[at.kind], at.most(t, l.Summary().Impacts))
	c.most = c.mostOf[ofText] + c.mostOf[ofAnchors] + c.mostOf[ofName]
	c.common += uint64(l.Summary().Documents)
}

// advance moves the cursor to the first document at or after doc that has the word, and returns
// this document, or postings.NoMore if there is none.
func (c *cursor) advance(doc uint32) uint32 {
	if c.doc < doc {
		c.skip(doc)
	}
	return c.doc
}

func (c *cursor) skip(doc uint32) {
	c.doc = postings.NoMore
	for i := range c.lists {
		l := &c.lists[i]
		if l.doc < doc {
			l.doc = l.it.Advance(doc)
		}
		c.doc = min(c.doc, l.doc)
	}
}

// next moves the cursor to the next document of the word, or to postings.NoMore after the last one.
func (c *cursor) next() {
	doc := c.doc
	c.doc = postings.NoMore
	for i := range c.lists {
		l := &c.lists[i]
		if l.doc == doc {
			l.doc = l.it.Next()
		}
		c.doc = min(c.doc, l.doc)
	}
}

// window sets c.bound to an upper bound of the word's scores in the window of documents that begins
// with doc, and returns the last document of the window.
//
// The window ends with the first block of a list that ends. A block of a rare list, such as that of the names of
// sites, may be as long as many windows. The list adds nothing to the bound of a window that has none of its
// documents. Nor do the text lists of a weak word end the window.
func (c *cursor) window(doc uint32, t *statistics) (last uint32) {
	if int64(doc) > c.last {
		c.last = postings.NoMore
		for i := range c.lists {
			l := &c.lists[i]
			if c.weak && l.kind == ofText {
				continue
			}
			if from := max(doc, l.doc); int64(from) > l.last {
				l.last = int64(l.it.Shallow(from))
				l.bound = l.most(t, l.it.BlockImpacts())
			}
			c.last = min(c.last, l.last)
		}
		var bounds [kinds]float64
		if c.weak {
			bounds[ofText] = c.mostOf[ofText]
		}
		for i := range c.lists {
			l := &c.lists[i]
			if c.weak && l.kind == ofText {
				continue
			}
			if of := &bounds[l.kind]; l.bound > *of && l.occurs(doc, c.last) {
				*of = l.bound
			}
		}
		c.bound = bounds[ofText] + bounds[ofAnchors] + bounds[ofName]
	}
	return uint32(c.last)
}

// occurs reports whether the list may have a document in a window of documents, which is given by its first and its
// last document. If the list's block goes on after the window, occurs moves the list to its first document that is not
// before the window. So the list's document may be after that of its cursor, which is then before the window.
func (l *listCursor) occurs(first uint32, last int64) bool {
	if l.last > last && l.doc < first {
		l.doc = l.it.Advance(first)
	}
	return int64(l.doc) <= last
}

// weight returns the weight of a variant's list in the current document. It is lower if the variant
// comes only from rules of other languages than the document's (see foreign).
func (c *cursor) weight(l *listCursor) float64 { return l.weight * c.rules.worth(l.rules, c.doc) }

// score returns the score of the word in the current document: that of its best variant in the
// text, plus that of its best variant in the anchors. If the document is the start page of a site
// whose names contain the word, named is the word's weight as a name; else it is 0.
func (c *cursor) score(t *statistics) (score, named float64) {
	var scores [kinds]float64
	for i := range c.lists {
		if l := &c.lists[i]; l.doc == c.doc {
			of := &scores[l.kind]
			switch l.kind {
			case ofName:
				*of = max(*of, l.weight)
				continue
			case ofDefinition:
				continue
			}
			freq, length, _ := l.it.Payload()
			*of = max(*of, l.from(t).bm25f(c.weight(l), freq, length))
		}
	}
	return scores[ofText] + scores[ofAnchors], scores[ofName]
}

// naming returns the part of a start page's score that comes from words of the query in the names
// of its site: Weights.Named · W · (W/A)⁴. W is the sum of the weights of these words, and A is that of
// all words of the query. The parameter named is Weights.Named · W. If the query is just the name of a
// site, W/A is 1, and the start page comes first. If the query has further words, W/A is lower, and
// other pages come first.
func (p *plan) naming(named float64) float64 {
	if named == 0 {
		return 0
	}
	share := min(1, named/(p.weights.Named*p.weight()))
	return named * share * share * share * share
}

// weight returns the sum of the weights of all words of the query but joined words.
func (p *plan) weight() (sum float64) {
	for _, w := range p.words {
		if !w.joined {
			sum += w.weight
		}
	}
	return sum
}

// occurrences counts the word in each field of a document, and adds the counts to the numbers in sum.
// For each field that has the word, it also stores the code of the field's length in lengths. The
// document must be the cursor's current one. Anchors do not count.
func (c *cursor) occurrences(doc uint32, sum *[postings.Fields]uint32, lengths *[postings.Fields]uint8) {
	for i := range c.lists {
		if l := &c.lists[i]; l.doc == doc && l.kind == ofText {
			freq, length, _ := l.it.Payload()
			for f, n := range freq {
				if n > 0 {
					sum[f] += n
					lengths[f] = length[f]
				}
			}
		}
	}
}

func (c *cursor) err() error {
	for i := range c.lists {
		if err := c.lists[i].it.Err(); err != nil {
			return err
		}
	}
	return nil
}
