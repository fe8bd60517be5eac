package web

import (
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/structured"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// block is a part of a page in the view of its text. A list is one block with its items.
type block struct {
	Kind     string    // as structured.Kind, or "list"
	Level    int       // level of a heading, from 2
	Language string    // programming language of code
	Quote    bool      // whether it is part of a quotation
	Pieces   []piece   // the text
	Items    []item    // items of a list
	Rows     [][]piece // cells of a table
	Image    string    // address of the stored copy of an image
	Alt      string    // alternative text of the image
	Caption  piece     // caption of an image or table
}

// item is an item of a list.
type item struct {
	Depth   int // number of lists around it, from 1
	Ordinal int // number in a numbered list, 0 for none
	Pieces  []piece
}

// piece is a piece of text, with the words of the query marked, which may be a link.
type piece struct {
	Text []search.Fragment
	Link string // address; "" for none

	plain string
}

// maxDepth is the greatest depth to which lists are indented.
const maxDepth = 6

// textView is the text of a page as blocks.
type textView struct {
	blocks []block
	texts  []string // texts in which the words of a query can be marked
	asOf   time.Time
}

// newTextView returns the text of a page as blocks. Links in it lead to stored copies of the moment asOf.
func newTextView(page *structured.Page, asOf time.Time) *textView {
	v := &textView{asOf: asOf}
	last := 1 // level of the last heading; the title is the heading of level 1
	for i := range page.Parts {
		part := &page.Parts[i]
		b := block{Kind: string(part.Kind), Language: part.Language, Quote: part.Quote > 0}
		switch part.Kind {
		case structured.Heading:
			if i == 0 && part.Text == page.Title {
				continue // it is the title of our page
			}
			last = min(part.Level+1, last+1, 6) // leaves out no level
			b.Level = last
		case structured.Item:
			v.addItem(part)
			continue
		case structured.Table:
			for _, row := range part.Rows {
				cells := make([]piece, len(row))
				for n, cell := range row {
					cells[n] = v.piece(cell, "")
				}
				b.Rows = append(b.Rows, cells)
			}
		case structured.Image:
			b.Image, b.Alt = engine.CopyAddress(part.Address, asOf), part.Text
			b.Caption = v.piece(part.Caption, "")
			v.blocks = append(v.blocks, b)
			continue
		}
		b.Caption = v.piece(part.Caption, "")
		b.Pieces = v.pieces(part)
		v.blocks = append(v.blocks, b)
	}
	return v
}

// addItem adds an item to the last block if that is a list, or else begins a list.
func (v *textView) addItem(part *structured.Part) {
	const list = "list"
	if n := len(v.blocks); n == 0 || v.blocks[n-1].Kind != list || v.blocks[n-1].Quote != (part.Quote > 0) {
		v.blocks = append(v.blocks, block{Kind: list, Quote: part.Quote > 0})
	}
	of := &v.blocks[len(v.blocks)-1]
	of.Items = append(of.Items, item{Depth: min(max(part.List, 1), maxDepth), Ordinal: part.Ordinal, Pieces: v.pieces(part)})
}

// pieces divides the text of a part at its links.
func (v *textView) pieces(part *structured.Part) (all []piece) {
	rest := part.Text
	for _, link := range part.Links {
		before, after, found := strings.Cut(rest, link.Text)
		if !found || link.Text == "" {
			continue
		}
		if before != "" {
			all = append(all, v.piece(before, ""))
		}
		all = append(all, v.piece(link.Text, copyAddress(link.Address, v.asOf, "")))
		rest = after
	}
	if rest != "" {
		all = append(all, v.piece(rest, ""))
	}
	return all
}

func (v *textView) piece(text, link string) piece {
	if text != "" {
		v.texts = append(v.texts, text)
	}
	return piece{Link: link, plain: text}
}

// mark sets the texts of all pieces. The parameter marked has these texts with the words of the query
// marked, in the order of v.texts.
func (v *textView) mark(marked [][]search.Fragment) {
	next := func(p *piece) {
		if p.plain != "" {
			p.Text, marked = marked[0], marked[1:]
		}
	}
	each := func(pieces []piece) {
		for i := range pieces {
			next(&pieces[i])
		}
	}
	for i := range v.blocks {
		b := &v.blocks[i]
		for n := range b.Rows {
			each(b.Rows[n])
		}
		for n := range b.Items {
			each(b.Items[n].Pieces)
		}
		next(&b.Caption)
		each(b.Pieces)
	}
}
