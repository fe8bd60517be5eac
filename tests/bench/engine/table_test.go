package engine

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// row holds the figures of one engine.
type row struct {
	name   string
	values []value
}

type value struct {
	unit string
	n    float64
}

func (r *row) set(b *testing.B, unit string, n float64) {
	r.values = append(r.values, value{unit, n})
	b.ReportMetric(n, unit)
}

// table has a line for each unit and a column for each engine.
type table struct{ rows []row }

func (t *table) add(r row) { t.rows = append(t.rows, r) }

func (t *table) print() {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\n%d pages, %.1f MB of text, %d queries of two or three words\n", shared.pages, float64(shared.text)/mega, queries)
	var units []string
	fmt.Fprint(w, "\t")
	for _, r := range t.rows {
		fmt.Fprintf(w, "%s\t", r.name)
		for _, v := range r.values {
			if !slices.Contains(units, v.unit) {
				units = append(units, v.unit)
			}
		}
	}
	fmt.Fprintln(w)
	for _, unit := range units {
		fmt.Fprintf(w, "%s\t", strings.ReplaceAll(unit, "-", " "))
		for _, r := range t.rows {
			cell := "–"
			if i := slices.IndexFunc(r.values, func(v value) bool { return v.unit == unit }); i >= 0 {
				cell = fmt.Sprintf("%.2f", r.values[i].n)
			}
			fmt.Fprintf(w, "%s\t", cell)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
}
