package mainpart

import (
	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/linkeddata"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/phrases"
)

// Features holds the vectors of features of a page's blocks, one row for each block. A feature is
// a number from 0 to 255: the decision trees that classify blocks only compare it with thresholds.
type Features struct {
	Width  int     // number of features of a block
	Values []uint8 // the rows of all blocks, one after another, each of Width values
	Words  []int   // number of words of each block, for Choose
	Texts  []Text  // for each block, hashes of its text and position, by which copies of the text are found

	*surroundings
	steps int // amount of work, for tests: number of elements looked at
}

// Text identifies the text of a block and its position in the page. The field hash is a hash of the
// text. The field path is a hash of the names and classes of the elements around the block.
type Text struct {
	hash uint32
	path uint32
}

// copyWords is the least number of words of a block that can be a copy of another block with the
// same text. Pages have copies for another size of screen, in quotations and in tables of contents.
// Shorter texts may well be in the main part twice.
const copyWords = 10

// Row returns the values of all features of a block.
func (f *Features) Row(block int) []uint8 {
	return f.Values[block*f.Width:][:f.Width]
}

// surroundings holds data of the whole page from which the features of its blocks are computed.
type surroundings struct {
	page    *hypertext.Page
	texts   []textCounts // for each block, the number of words, characters and so on in its text
	prose   []int        // prose[i]: bytes of prose in all blocks before block i; the last element counts all blocks
	bytes   []int        // bytes[i]: bytes of text in all blocks before block i; the last element counts all blocks
	linked  []int        // linked[i]: bytes of link text in all blocks before block i; the last element counts all blocks
	words   int
	trees   []subtree // for each element, the bytes of text and other sums (see subtree) inside of it
	paths   []uint64  // for each element, a hash of the names and word groups of the element and of all elements around it
	byPath  map[uint64]pathTotal
	byText  map[uint32]sameText // number of blocks with the same text, by the hash of the text
	core    int32               // index of the innermost element that holds nearly all prose of the page (see findCore)
	body    hypertext.Words
	firstH1 int
	lastH1  int

	steps int // amount of work, for tests: number of elements looked at
	// phrases of five texts of the page: its title, its description, and three parts of its
	// JSON-LD. These are everything but comments and reviews, then the comments, then the reviews.
	// For each of the five, a feature of a block says how much of the block's text repeats it.
	repeated        [5]phrases.Set
	mains, articles int
	runs            []run   // runs of similar sibling elements, see type run
	runOf           []int32 // for each element, the run that it belongs to, as an index in runs; 0 if it has no text
	inRuns          int     // bytes of text in cards: similar sibling elements such as products (see isCards)
	prices          int     // number of blocks with a price
	told            told
	// for each group of words in the variable counted, the number of elements whose class, id, role
	// or itemprop has a word of the group
	marked [len(counted)]int
	footer int // index of the first block of the footer at the end of the page
}

// subtree holds sums over the blocks inside an element:
//
//	bytes    size of all text, in bytes
//	linked   size of the text in links
//	prose    size of the prose
//	blocks   number of all blocks
//	prices   number of the blocks with a price
type subtree struct{ bytes, linked, prose, blocks, prices int32 }

// pathTotal counts the blocks with the same path, and the bytes of their text. The path of a block
// is the names and word groups of all elements in which it lies.
type pathTotal struct{ blocks, bytes int }

// sameText counts the blocks with a certain text. The field blocks is their number in the whole
// page. The field before is their number up to the block whose features are being computed, this
// block included.
type sameText struct{ blocks, before int32 }

// Compute returns the features of a page's blocks. data is the JSON-LD of the page.
func Compute(p *hypertext.Page, data *linkeddata.Data) Features {
	s := survey(p, data)
	f := Features{Words: make([]int, len(p.Blocks)), Texts: make([]Text, len(p.Blocks)), surroundings: s}
	v := vector{surroundings: s}
	for i := range p.Blocks {
		v.block(i)
		if i == 0 {
			f.Width = len(v.values)
			v.values = append(make([]uint8, 0, f.Width*len(p.Blocks)), v.values...)
		}
		c := &s.texts[i]
		f.Words[i] = c.words
		f.Texts[i] = Text{c.hash, uint32(v.pathOf(i) >> 32)}
	}
	f.Values, f.steps = v.values, v.steps
	return f
}

// survey computes the data of the whole page from which the features of its blocks are computed. The
// parameter data is the JSON-LD of the page.
func survey(p *hypertext.Page, data *linkeddata.Data) *surroundings {
	n := len(p.Blocks)
	s := &surroundings{
		page: p, texts: make([]textCounts, n),
		prose: make([]int, n+1), bytes: make([]int, n+1), linked: make([]int, n+1),
		trees: make([]subtree, len(p.Elements)), paths: make([]uint64, len(p.Elements)),
		byPath: make(map[uint64]pathTotal), byText: make(map[uint32]sameText, n), firstH1: -1, lastH1: -1,
	}
	s.elements()
	for i := range p.Blocks {
		s.add(i)
	}
	for i := len(p.Elements) - 1; i > 0; i-- {
		t, up := &s.trees[i], &s.trees[p.Elements[i].Parent]
		up.bytes += t.bytes
		up.linked += t.linked
		up.prose += t.prose
		up.blocks += t.blocks
		up.prices += t.prices
	}
	s.findCore()
	s.findRuns()
	s.footer = n
	for s.footer > 0 && p.Blocks[s.footer-1].Flags&(hypertext.InFooter|hypertext.Hidden|hypertext.NoScript) != 0 {
		s.footer--
	}
	var description [][]byte
	for _, m := range p.Metas {
		if m.Name == "description" || m.Property == "og:description" || m.Property == "og:title" {
			description = append(description, []byte(m.Content))
		}
	}
	s.told = tell(p, data)
	s.repeated = [...]phrases.Set{phrases.Of([]byte(p.Title)), phrases.Of(description...),
		phrases.Of(s.told.texts...), phrases.Of(s.told.comments...), phrases.Of(s.told.reviews...)}
	return s
}

func (s *surroundings) elements() {
	all := s.page.Elements
	for i := range all {
		e := &all[i]
		if e.Parent < 0 {
			s.body = e.Own
			continue
		}
		s.paths[i] = (s.paths[e.Parent]^uint64(e.Name))*0x9E3779B97F4A7C15 + uint64(e.Own)
		for k, group := range counted {
			if e.Own&group != 0 {
				s.marked[k]++
			}
		}
		if e.Flags&hypertext.Main != 0 && all[e.Parent].Flags&hypertext.Main == 0 {
			s.mains++
		}
		switch e.Name {
		case atom.Article:
			s.articles++
		case atom.Body:
			s.body |= e.Own
		}
	}
}

// add counts the words, bytes and other properties of the text of block i (see countText), and
// adds the numbers to the sums of the page and of the block's element.
func (s *surroundings) add(i int) {
	b := &s.page.Blocks[i]
	c := countText(s.page.Text[b.Start:b.End])
	c.linked = int(b.Linked)
	s.texts[i] = c
	s.words += c.words
	if c.price {
		s.prices++
		s.trees[b.Element].prices++
	}
	s.byText[c.hash] = sameText{blocks: s.byText[c.hash].blocks + 1}
	path := s.byPath[s.paths[b.Element]]
	s.byPath[s.paths[b.Element]] = pathTotal{path.blocks + 1, path.bytes + c.bytes}
	t := &s.trees[b.Element]
	t.bytes += int32(c.bytes)
	t.linked += int32(c.linked)
	t.blocks++
	prose := 0
	if c.isProse() {
		prose = c.bytes
	}
	t.prose += int32(prose)
	s.bytes[i+1], s.linked[i+1], s.prose[i+1] = s.bytes[i]+c.bytes, s.linked[i]+c.linked, s.prose[i]+prose
	if s.page.Elements[b.Element].Name == atom.H1 && b.Flags&hypertext.Hidden == 0 {
		if s.firstH1 < 0 {
			s.firstH1 = i
		}
		s.lastH1 = i
	}
}

// findCore sets core, the innermost element that holds nearly all prose. It begins at html. As long
// as one child holds at least four fifths of the prose in the current element, it goes down to this
// child.
func (s *surroundings) findCore() {
	all := s.page.Elements
	for {
		best, most := int32(-1), int32(0)
		for child := s.core + 1; child < all[s.core].Last; child = all[child].Last {
			s.steps++
			if s.trees[child].prose > most {
				best, most = child, s.trees[child].prose
			}
		}
		if best < 0 || most*5 < s.trees[s.core].prose*4 {
			return
		}
		s.core = best
	}
}

func (s *surroundings) nameOf(block int) uint8 {
	return nameClass(s.page.Elements[s.page.Blocks[block].Element].Name)
}

func (s *surroundings) pathOf(block int) uint64 { return s.paths[s.page.Blocks[block].Element] }

// coreDistance returns how many bytes of text lie between a block and the core of the page (see
// findCore). The number is negative for a block before the core, and 0 for a block inside of it.
func (s *surroundings) coreDistance(b *hypertext.Block) int {
	core := &s.page.Elements[s.core]
	switch {
	case b.End <= core.Start:
		return -int(core.Start - b.End)
	case b.Start >= core.End:
		return int(b.Start - core.End)
	}
	return 0
}

// nameClass returns a number for the name of an element. Similar elements, such as h4 and h5, have
// the same number. All names that nameClass does not list have 0.
func nameClass(a atom.Atom) uint8 {
	switch a {
	case atom.P:
		return 1
	case atom.Div:
		return 2
	case atom.Section, atom.Article, atom.Main, atom.Body:
		return 3
	case atom.Li:
		return 4
	case atom.Dt, atom.Dd:
		return 5
	case atom.Td:
		return 6
	case atom.Th:
		return 7
	case atom.H1:
		return 8
	case atom.H2:
		return 9
	case atom.H3:
		return 10
	case atom.H4, atom.H5, atom.H6:
		return 11
	case atom.Pre:
		return 12
	case atom.Blockquote:
		return 13
	case atom.Figcaption, atom.Caption:
		return 14
	case atom.Header, atom.Hgroup:
		return 15
	case atom.Footer, atom.Nav, atom.Aside:
		return 16
	case atom.Form, atom.Fieldset:
		return 17
	case atom.Summary, atom.Details:
		return 18
	case atom.Option:
		return 19
	}
	return 0
}
