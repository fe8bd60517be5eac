package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// growth holds the costs of all operations at each number of pages.
type growth struct {
	pages []int
	costs []map[string]*cost // the index is that of pages
}

func (g *growth) add(pages int, costs map[string]*cost) {
	g.pages, g.costs = append(g.pages, pages), append(g.costs, costs)
}

// operations lists all operations in the order in which they are shown. If forPage is true, its costs are divided
// by the number of pages, otherwise by the number of calls.
var operations = []struct {
	name    string
	forPage bool
}{
	{"schedule", true}, {"fetch", true}, {"pack", true}, {"index", true}, {"merge", true}, {"rank", true}, {"sweep", true},
	{"rebuild", true}, {"verify", true}, {"idle sweep", false}, {"status", false}, {"forget", false}, {"cold query", false}, {"warm query", false},
}

// quantity is one of the quantities of which costs consist.
type quantity struct {
	name  string
	whole bool                // true: it is not divided by a number of pages or calls
	of    func(*cost) float64 // its amount
}

var quantities = []quantity{
	{"requests", false, func(c *cost) float64 { return float64(c.requests) }},
	{"KB", false, func(c *cost) float64 { return float64(c.bytes) / 1e3 }},
	{"CPU, ms", false, func(c *cost) float64 { return c.seconds * 1e3 }},
	{"memory, MB", true, func(c *cost) float64 { return float64(c.memory) / 1e6 }},
}

// amounts returns the amounts of a quantity of an operation: one for each number of pages.
func (g *growth) amounts(operation string, forPage bool, q quantity) (amounts []float64) {
	for i, pages := range g.pages {
		c := g.costs[i][operation]
		if c == nil {
			return nil
		}
		amount := q.of(c)
		switch {
		case q.whole:
		case forPage:
			amount /= float64(pages)
		default:
			amount /= float64(c.calls)
		}
		amounts = append(amounts, amount)
	}
	return amounts
}

// table returns the costs as a table of Markdown.
func (g *growth) table() string {
	var out strings.Builder
	out.WriteString("| |")
	for _, q := range quantities {
		out.WriteString(" " + q.name + " |")
	}
	out.WriteString("\n|---|" + strings.Repeat("---|", len(quantities)) + "\n")
	for _, o := range operations {
		fmt.Fprintf(&out, "| %s, a %s |", o.name, map[bool]string{true: "page", false: "call"}[o.forPage])
		for _, q := range quantities {
			out.WriteString(" " + cell(g.pages, g.amounts(o.name, o.forPage, q)) + " |")
		}
		out.WriteString("\n")
	}
	return out.String()
}

// cell returns the amounts at each number of pages, and their exponent if it is known, such as "3 → 30 (+1.00)".
func cell(pages []int, amounts []float64) string {
	var texts []string
	for _, amount := range amounts {
		texts = append(texts, number(amount))
	}
	text := strings.Join(texts, " → ")
	if e, known := exponent(pages, amounts); known {
		text += fmt.Sprintf(" (%+.2f)", e)
	}
	return text
}

// exponent returns the exponent e by which the amounts are about proportional to (number of pages)^e: the slope of
// the straight line that is nearest to their logarithms (least squares). It is not known for fewer than two
// amounts, or if one of them is 0.
func exponent(pages []int, amounts []float64) (e float64, known bool) {
	if len(amounts) < 2 || slices.Contains(amounts, 0) {
		return 0, false
	}
	n := float64(len(amounts))
	var x, y, xx, xy float64
	for i, amount := range amounts {
		lx, ly := math.Log(float64(pages[i])), math.Log(amount)
		x, y, xx, xy = x+lx, y+ly, xx+lx*lx, xy+lx*ly
	}
	return (n*xy - x*y) / (n*xx - x*x), true
}

// number returns a number with three significant digits.
func number(v float64) string {
	if v == 0 {
		return "0"
	}
	digits := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	return strings.TrimPrefix(fmt.Sprintf("%.*f", digits, v), "0")
}
