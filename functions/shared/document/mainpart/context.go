package mainpart

import (
	"math"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
)

// chance holds two sums over the blocks of a part of the page. The field all is the sum of their
// weights. The field kept is the sum of weight × probability. The quotient kept / all is the mean
// probability that the blocks belong to the main part. Probabilities are from 0 to 255.
type chance struct{ kept, all int }

func (c *chance) add(other chance) { c.kept, c.all = c.kept+other.kept, c.all+other.all }

const (
	// pageWeight is the weight of the whole page in the mean probability of a part of the page (see
	// the method mean). It is the weight of a block of nine words. So a part with little text gets
	// nearly the mean of the page.
	pageWeight = 12

	// likely is the least probability (0 to 255) at which a block counts as likely to belong to the
	// main part. The distances from a block to the nearest likely blocks before and after it are
	// features of the second model.
	likely = 180
)

// context holds sums from which the features of the second model are computed. Each sums up the
// probabilities that the first model gave to some blocks (see chance). The weight of a block in the
// sum is four times the square root of its number of words.
type context struct {
	*surroundings
	values []uint8
	scores []float64
	// blockSums[i]: the sums (see chance) over all blocks before block i; the last element has the
	// sums over all blocks
	blockSums   []chance
	elementSums []chance // for each element, the sums (see chance) over the blocks inside of it
	// for each run of similar sibling elements, the sums (see chance) over the blocks whose innermost
	// element belongs to the run
	runSums  []chance
	pathSums map[uint64]chance
	// for each block, its distance from the nearest likely block before it: the sum of the weights of
	// the blocks between the two; math.MaxInt32 if there is no such block. A block is likely if its
	// probability is at least the constant likely.
	since []int
	// for each block, its distance from the nearest likely block after it: the sum of the weights of
	// the blocks between the two; math.MaxInt32 if there is no such block. A block is likely if its
	// probability is at least the constant likely.
	until []int
	ends  []int // for each block, the index of the next heading after it; the number of blocks if there is none
}

// WithScores returns the features for the second model: those of f, and new ones computed from the
// scores that the first model gave to all blocks.
func (f *Features) WithScores(scores []float64) Features {
	c := f.contextOf(scores)
	out := Features{Words: f.Words, Texts: f.Texts, surroundings: f.surroundings}
	heading := -1
	for i := range scores {
		if c.isHeading(i) {
			heading = i
		}
		c.values = append(c.values, f.Row(i)...)
		c.block(i, heading)
		if i == 0 {
			out.Width = len(c.values)
			c.values = append(make([]uint8, 0, out.Width*len(scores)), c.values...)
		}
	}
	out.Values, out.steps = c.values, c.steps
	return out
}

func (f *Features) contextOf(scores []float64) *context {
	n, all := len(scores), f.page.Elements
	c := &context{
		surroundings: f.surroundings, scores: scores,
		blockSums: make([]chance, n+1), elementSums: make([]chance, len(all)), runSums: make([]chance, len(f.runs)),
		pathSums: make(map[uint64]chance, len(f.byPath)), since: make([]int, n), until: make([]int, n), ends: make([]int, n),
	}
	distance := math.MaxInt32
	for i, score := range scores {
		weight := int(math.Sqrt(float64(16 * f.Words[i])))
		kept := int(255 * probability(score))
		at, one := f.page.Blocks[i].Element, chance{kept * weight, weight}
		c.blockSums[i+1] = c.blockSums[i]
		c.blockSums[i+1].add(one)
		c.elementSums[at].add(one)
		c.runSums[f.runOf[at]].add(one)
		path := c.pathSums[f.paths[at]]
		path.add(one)
		c.pathSums[f.paths[at]] = path
		c.since[i] = distance
		if distance = min(distance+weight, math.MaxInt32); kept >= likely {
			distance = 0
		}
	}
	for i := len(all) - 1; i > 0; i-- {
		c.elementSums[all[i].Parent].add(c.elementSums[i])
	}
	distance, end := math.MaxInt32, n
	for i := n - 1; i >= 0; i-- {
		c.until[i], c.ends[i] = distance, end
		one := c.between(i, i+1)
		if distance = min(distance+one.all, math.MaxInt32); one.kept >= likely*one.all {
			distance = 0
		}
		if c.isHeading(i) {
			end = i
		}
	}
	return c
}

func (c *context) isHeading(block int) bool {
	return hypertext.IsHeading(c.page.Elements[c.page.Blocks[block].Element].Name)
}

// between returns the sums (see chance) over a range of blocks. The parameters are the index of the
// first block in the range and of the first block after it. Indexes outside of the page are
// ignored.
func (c *context) between(from, to int) chance {
	a, b := c.blockSums[max(0, from)], c.blockSums[min(to, len(c.scores))]
	return chance{b.kept - a.kept, b.all - a.all}
}

// mean adds a feature: the mean probability that the blocks of a part of the page belong to the
// main part. The fewer words the part has, the nearer the feature is to the mean of the whole page
// (see pageWeight).
func (c *context) mean(part chance) {
	page := c.blockSums[len(c.scores)]
	c.add(uint8((part.kept + pageWeight*page.kept/max(1, page.all)) / (part.all + pageWeight)))
}

func (c *context) add(values ...uint8) { c.values = append(c.values, values...) }

// block adds the features of block i for the second model. The parameter heading is the index of
// the last block up to block i that is a heading (it may be block i itself), or -1 if there is none.
func (c *context) block(i, heading int) {
	c.add(fromScore(c.scores[i]))
	for _, window := range [...]struct{ before, after int }{{1, -1}, {-1, 1}, {2, 2}, {6, 6}, {20, 20}, {6, -1}, {-1, 6}} {
		c.mean(c.between(i-window.before, i+window.after+1))
	}
	at := c.page.Blocks[i].Element
	c.mean(c.pathSums[c.paths[at]])
	c.mean(c.runSums[c.runOf[at]])
	for range 5 {
		sum, blocks := c.elementSums[at], c.trees[at].blocks
		c.mean(sum)
		for at > 0 && c.trees[at].blocks == blocks {
			c.steps++
			at = c.page.Elements[at].Parent
		}
	}
	if heading < 0 {
		c.add(0, 0)
	} else {
		c.add(fromScore(c.scores[heading]))
		c.mean(c.between(heading, c.ends[i]))
	}
	before, page := c.blockSums[i], c.blockSums[len(c.scores)]
	c.mean(page)
	c.add(share(before.kept, page.kept), share(before.all, page.all), level(page.kept/255), level(c.since[i]), level(c.until[i]))
}

// fromScore maps log-odds to a feature: 128 + 16 × the log-odds, but at least 0 and at most 255.
func fromScore(score float64) uint8 { return uint8(min(255, max(0, 128+16*score))) }
