package search

import (
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// cursor walks the documents of a segment that hold a word: any of its
// variants.
type cursor struct {
	lists  []listCursor // one a variant that occurs
	doc    uint32       // the least of the lists'
	common uint64       // postings, all lists together
	most   float64      // bound of the word's score
	bound  float64      // of the word's score, from the window's start
	last   int64        // document for which the bound holds
}

type listCursor struct {
	it     postings.Iterator
	doc    uint32
	weight float64 // idf of the word times the worth of the variant
	bound  float64 // of its scores
	last   int64   // document for which the bound holds
}

// reset lets the cursor walk no list, and keeps its memory.
func (c *cursor) reset() {
	c.lists, c.common, c.doc, c.last, c.most = c.lists[:0], 0, postings.NoMore, -1, 0
}

// add lets the cursor walk a list too, from the beginning.
func (c *cursor) add(l *postings.List, weight float64, t *totals) {
	if len(c.lists) < cap(c.lists) {
		c.lists = c.lists[:len(c.lists)+1]
	} else {
		c.lists = append(c.lists, listCursor{})
	}
	at := &c.lists[len(c.lists)-1]
	at.it.Reset(l)
	at.weight, at.last = weight, -1
	at.doc = at.it.Next()
	c.doc = min(c.doc, at.doc)
	c.most = max(c.most, t.bound(weight, l.Summary().Impacts))
	c.common += uint64(l.Summary().Documents)
}

// advance moves to the first document from doc on, and returns it.
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

// next moves behind the current document.
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

// window computes a bound of the scores from doc on, and returns the last
// document for which it holds.
func (c *cursor) window(doc uint32, t *totals) (last uint32) {
	if int64(doc) > c.last {
		c.bound, c.last = 0, postings.NoMore
		for i := range c.lists {
			l := &c.lists[i]
			if from := max(doc, l.doc); int64(from) > l.last {
				l.last = int64(l.it.Shallow(from))
				l.bound = t.bound(l.weight, l.it.BlockImpacts())
			}
			c.bound = max(c.bound, l.bound)
			c.last = min(c.last, l.last)
		}
	}
	return uint32(c.last)
}

// score returns the score of the current document: that of its best variant.
func (c *cursor) score(t *totals) (score float64) {
	for i := range c.lists {
		if l := &c.lists[i]; l.doc == c.doc {
			freq, length, _ := l.it.Payload()
			score = max(score, t.bm25(l.weight, freq, length))
		}
	}
	return score
}

// occurrences adds to sum how often the word occurs in the fields of doc,
// which the cursor must have reached, and gives their lengths.
func (c *cursor) occurrences(doc uint32, sum *[postings.Fields]uint32, lengths *[postings.Fields]uint8) {
	for i := range c.lists {
		if l := &c.lists[i]; l.doc == doc {
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

// err returns the damage that a walk met.
func (c *cursor) err() error {
	for i := range c.lists {
		if err := c.lists[i].it.Err(); err != nil {
			return err
		}
	}
	return nil
}
