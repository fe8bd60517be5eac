package mainpart

import (
	"math/bits"
	"slices"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
)

// vector computes the features of one block after another, and appends them to the field values.
type vector struct {
	*surroundings
	values []uint8

	heading hypertext.Words // groups of the words in the last heading before the block
	// levels[i] are the groups of the words in the heading of level i+1 above the block, or 0. For a
	// paragraph in section 2.3, levels[0] is for heading 2, and levels[1] for heading 2.3.
	levels       [6]hypertext.Words
	headings     int // number of headings so far
	sinceHeading int // number of words since the last heading
}

func (v *vector) add(values ...uint8) { v.values = append(v.values, values...) }

// extend appends n features to the vector, and returns them as a slice in which the caller sets their values.
func (v *vector) extend(n int) []uint8 {
	v.values = slices.Grow(v.values, n)
	v.values = v.values[:len(v.values)+n]
	return v.values[len(v.values)-n:]
}

func (v *vector) flag(set bool) {
	if set {
		v.add(1)
	} else {
		v.add(0)
	}
}

func (v *vector) block(i int) {
	b, c := &v.page.Blocks[i], &v.texts[i]
	e := &v.page.Elements[b.Element]
	text := v.page.Text[b.Start:b.End]
	v.text(b, c)
	v.place(i, e)
	v.marks(b, e)
	v.repeats(i, c)
	v.ancestors(b.Element)
	v.coreOf(b)
	v.neighbours(i)
	v.saying(e, c, text)
	in := shares(&v.repeated, text)
	v.add(in[:]...)
	v.flag(!v.repeated[2].IsEmpty())
	v.cards(i, b)
	v.wholePage(i)
	v.sinceHeading += c.words
	if hypertext.IsHeading(e.Name) {
		v.headings++
		v.sinceHeading = 0
	}
}

// text adds features of the block's text: its length, capitals, digits and punctuation.
func (v *vector) text(b *hypertext.Block, c *textCounts) {
	v.add(level(c.words), level(c.bytes), share(c.linked, c.bytes), level(c.bytes-c.linked),
		share(8*c.commas, c.words), share(8*c.stops, c.words), share(c.digits, c.bytes),
		share(c.capitals, c.words), share(c.small, c.words))
	v.flag(c.ended)
	v.flag(c.questions > 0)
	v.add(share(int(b.Emphasized), c.bytes), uint8(min(255, 10*c.bytes/max(1, c.words))))
}

// place adds features of the block's position in the page.
func (v *vector) place(i int, e *hypertext.Element) {
	n := len(v.texts)
	v.add(nameClass(e.Name), e.Depth, share(i, n), share(v.bytes[i], v.bytes[n]), level(i), level(n-i),
		signed(min(i-v.firstH1, 2000)), signed(min(i-v.lastH1, 2000)))
	v.flag(v.firstH1 >= 0)
	v.add(level(v.headings), level(v.sinceHeading))
}

// marks adds a feature for each flag that the block can have, such as hypertext.Linked. It also
// adds a feature for each group of words, such as those of menus (see hypertext.Words). This
// feature says whether an attribute such as class has a word of the group, and how near to the
// block: in the block's own element, or in an element around it.
func (v *vector) marks(b *hypertext.Block, e *hypertext.Element) {
	flags := v.extend(hypertext.FlagCount)
	for bit := range flags {
		flags[bit] = uint8(b.Flags >> bit & 1)
	}
	near, at := e.Own, b.Element
	for range 3 {
		if at = v.page.Elements[at].Parent; at <= 0 {
			break
		}
		near |= v.page.Elements[at].Own
	}
	around := e.Around &^ v.body
	groups := v.extend(hypertext.WordCount)
	for k := range groups {
		groups[k] = uint8(3*(e.Own>>k&1) | 2*(near>>k&1) | around>>k&1)
	}
	v.add(uint8(bits.OnesCount64(uint64(near))))
}

// repeats adds features that count blocks of the page: those with the same text as block i, and
// those with the same path (the names and word groups of the elements around a block).
func (v *vector) repeats(i int, c *textCounts) {
	text := v.byText[c.hash]
	text.before++
	v.byText[c.hash] = text
	same := v.byPath[v.pathOf(i)]
	v.add(uint8(min(255, text.blocks)), uint8(min(255, text.before)),
		level(same.blocks), level(same.bytes), share(same.bytes, v.bytes[len(v.texts)]))
}

// ancestors adds features of four nested elements, from sums over the text inside of each (see
// subtree). The first element is given by its index. Each further element is the nearest ancestor
// of the one before it that has more blocks inside, or the root if there is none.
func (v *vector) ancestors(at int32) {
	all := v.page.Elements
	for range 4 {
		if at < 0 {
			at = 0
		}
		t := &v.trees[at]
		v.add(share(int(t.bytes), int(v.trees[0].bytes)), share(int(t.linked), int(t.bytes)), share(int(t.prose), int(t.bytes)), level(int(t.blocks)))
		up := all[at].Parent
		for up > 0 && v.trees[up].blocks == t.blocks {
			v.steps++
			up = all[up].Parent
		}
		at = up
	}
}

// coreOf adds features of the block's position relative to the core of the page, the innermost
// element with nearly all prose (see findCore).
func (v *vector) coreOf(b *hypertext.Block) {
	all := v.page.Elements
	v.flag(v.core <= b.Element && b.Element < all[v.core].Last)
	up, steps := b.Element, 0
	for up > 0 && !(up <= v.core && v.core < all[up].Last) {
		up = all[up].Parent
		steps++
	}
	v.steps += steps
	v.add(uint8(min(steps, 255)), uint8(max(0, int(all[v.core].Depth)-int(all[up].Depth))),
		share(int(v.trees[v.core].prose), v.bytes[len(v.texts)]), signed(v.coreDistance(b)))
}

// neighbours adds features of the text near block i. First come those of six single blocks: the
// three before block i and the three after it. Then come those of two ranges of blocks: one reaches
// 8 blocks to each side of block i, the other one 24.
func (v *vector) neighbours(i int) {
	n := len(v.texts)
	for _, distance := range [...]int{-3, -2, -1, 1, 2, 3} {
		j := i + distance
		near := distance == -1 || distance == 1
		if j < 0 || j >= n {
			v.add(0, 255, 0)
			if near {
				v.add(0, 0)
			}
			continue
		}
		c := &v.texts[j]
		v.add(level(c.words), share(c.linked, c.bytes), share(8*c.stops, c.words))
		if near {
			v.add(v.nameOf(j))
			v.flag(v.pathOf(i) == v.pathOf(j))
		}
	}
	for _, width := range [...]int{8, 24} {
		from, to := max(0, i-width), min(n, i+width+1)
		bytes := v.bytes[to] - v.bytes[from]
		v.add(share(v.linked[to]-v.linked[from], bytes), share(v.prose[to]-v.prose[from], bytes), level(bytes))
	}
}

// saying adds a feature for each group of words in the variable telling, such as the words of a
// login. The feature is a sum: 4 if the block is short and has a word of the group, 2 if the last
// heading has one, 1 if that heading or a heading above it has one.
func (v *vector) saying(e *hypertext.Element, c *textCounts, text []byte) {
	own := says(c, text)
	if rank := rankOf(e.Name); rank > 0 {
		v.heading, v.levels[rank-1] = own, own
		clear(v.levels[rank:])
	}
	var above hypertext.Words
	for _, words := range v.levels {
		above |= words
	}
	values := v.extend(len(telling))
	for k, group := range telling {
		values[k] = 0
		if above&group != 0 {
			values[k] |= 1
		}
		if v.heading&group != 0 {
			values[k] |= 2
		}
		if own&group != 0 {
			values[k] |= 4
		}
	}
}

// wholePage adds features of the whole page, which are the same for all of its blocks. It also adds
// one feature that differs by block: the number of blocks between block i and the footer of the
// page.
func (v *vector) wholePage(i int) {
	n := len(v.texts)
	v.add(level(v.words), share(v.linked[n], v.bytes[n]), share(v.prose[n], v.bytes[n]), level(n),
		uint8(min(v.mains, 3)), uint8(min(v.articles, 20)),
		level(v.prices), share(v.inRuns, v.bytes[n]), signed(i-v.footer))
	for _, count := range v.marked {
		v.add(level(count))
	}
	v.add(v.told.flags[:]...)
}

// telling are the groups of words (see hypertext.Words) that are looked for also in the text of
// blocks. The other groups are looked for only in attributes of elements, such as class and id.
var telling = []hypertext.Words{
	hypertext.WordRelated, hypertext.WordShare, hypertext.WordComment, hypertext.WordAuthor, hypertext.WordDate,
	hypertext.WordSubscribe, hypertext.WordReview, hypertext.WordCart, hypertext.WordCookie, hypertext.WordProduct,
	hypertext.WordLegal, hypertext.WordSpecs, hypertext.WordFaq, hypertext.WordLogin, hypertext.WordFilter, hypertext.WordButton,
	hypertext.WordDescription, hypertext.WordForum, hypertext.WordPromo, hypertext.WordTags,
}
