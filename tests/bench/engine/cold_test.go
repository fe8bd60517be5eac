package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// coldQueries is the number of queries that are measured on a slow store.
const coldQueries = 40

// measureCold measures queries on a store that takes 63 ms for each request. It runs each query
// twice: first when nothing has been read yet ("cold"), then when the segments are open, but no
// postings have been read ("opened"). It adds the medians of both runs to the row. Their names consist
// of the run, the given text about the segments, and the figure: "cold-1-segment-GETs", for example.
func (e engine) measureCold(b *testing.B, r *row, directory, segments string) {
	b.Helper()
	asked := strings.Join(strings.SplitAfter(shared.asked, "\n")[:coldQueries], "")
	u := e.run(b, strings.NewReader(asked), "cold", directory)
	type answer struct{ us, hits, requests, bytes, steps, usd float64 }
	var answers [2][]answer
	for line := range strings.Lines(u.out) {
		var a [2]answer
		if _, err := fmt.Sscan(line, &a[0].us, &a[0].hits, &a[0].requests, &a[0].bytes, &a[0].steps, &a[0].usd,
			&a[1].us, &a[1].hits, &a[1].requests, &a[1].bytes, &a[1].steps, &a[1].usd); err != nil {
			b.Fatalf("%q: %v", line, err)
		}
		answers[0], answers[1] = append(answers[0], a[0]), append(answers[1], a[1])
	}
	held := float64(size(b, directory))
	for i, name := range []string{"cold", "opened"} {
		middle := func(of func(answer) float64) float64 {
			var all []float64
			for _, a := range answers[i] {
				all = append(all, of(a))
			}
			slices.Sort(all)
			return all[len(all)/2]
		}
		name += "-" + segments + "-"
		r.set(b, name+"p50-ms", middle(func(a answer) float64 { return a.us / 1000 }))
		r.set(b, name+"GETs", middle(func(a answer) float64 { return a.requests }))
		r.set(b, name+"steps", middle(func(a answer) float64 { return a.steps }))
		r.set(b, name+"USD/million", middle(func(a answer) float64 { return a.usd }))
		r.set(b, name+"%-read", middle(func(a answer) float64 { return a.bytes / held * 100 }))
	}
}
