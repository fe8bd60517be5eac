package main

import (
	"bytes"
	"fmt"
	"math"
)

// Sizes in the picture, in pixels: the width of the names and of each column, the height of a row, and the length
// of the bar of the exponent 1.
const (
	nameWidth, columnWidth, rowHeight, barLength = 110, 200, 22, 110
	flat                                         = 0.03 // exponents up to this one have a bar of another colour than greater ones
)

// draw draws the growth as an SVG picture: a row for each operation, a column for each quantity, and in each field
// a bar as long as the exponent. No bar is a cost that does not grow. The bar of a cost that grows in proportion to
// the number of pages ends at the vertical line in the column.
func (g *growth) draw() []byte {
	var out bytes.Buffer
	width, height := nameWidth+len(quantities)*columnWidth, (len(operations)+2)*rowHeight
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="13">`, width, height)
	fmt.Fprint(&out, `<rect width="100%" height="100%" fill="white"/>`)
	for column, q := range quantities {
		left := nameWidth + column*columnWidth
		fmt.Fprintf(&out, `<text x="%d" y="16">%s</text>`, left, q.name)
		fmt.Fprintf(&out, `<path d="M%d,%dV%dM%d,%dV%d" stroke="silver"/>`, left, rowHeight, height-rowHeight, left+barLength, rowHeight, height-rowHeight)
	}
	for row, o := range operations {
		top := (row + 1) * rowHeight
		fmt.Fprintf(&out, `<text x="4" y="%d">%s</text>`, top+15, o.name)
		for column, q := range quantities {
			e, known := exponent(g.pages, g.amounts(o.name, o.forPage, q))
			if !known {
				continue
			}
			left, colour := nameWidth+column*columnWidth, "#2060c0"
			if e > flat {
				colour = "#c04020"
			}
			length := min(math.Max(e, 0)*barLength, 1.4*barLength)
			fmt.Fprintf(&out, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`, left, top+4, length, rowHeight-8, colour)
			fmt.Fprintf(&out, `<text x="%.1f" y="%d" font-size="11">%+.2f</text>`, float64(left+4)+length, top+15, e)
		}
	}
	fmt.Fprintf(&out, `<text x="4" y="%d">From %d to %d pages; costs of a page or a call grow as (pages)^e.</text></svg>`,
		height-6, g.pages[0], g.pages[len(g.pages)-1])
	return out.Bytes()
}
