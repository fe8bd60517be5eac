package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/leaf"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// leaves is the number of leaves of a simulated index. Each has as many pages as the measured index.
const leaves = 100

// leafRounds is how often the measured leaf is asked each query. Each simulated leaf takes one of these times.
const leafRounds = 5

// leafKey is the secret of the root and its leaf.
const leafKey = "of the measured leaf"

// ofRoot has the times of one query in milliseconds, as its root sees them.
type ofRoot struct {
	own   float64   // what the root does by itself: its plan, the pages of the hits, their snippets
	steps []float64 // by step: the time in which the leaf answers
	wires []float64 // by step: the rest of the time for which the root waits, mostly to decode the answer
}

// measureLeaves asks queries of one kind of a root that has one leaf, by HTTP, and returns the times of the same queries
// with many such leaves, in milliseconds, ascending. Each leaf takes one of the times of the measured one for the same
// query. The slowest leaf of each step counts, and after it the root decodes all answers, on all processors.
func measureLeaves(ctx context.Context, kept *store, k queryKind, w *web, q inquiry) (all []float64, err error) {
	measured, err := q.engine(kept)
	if err != nil {
		return nil, err
	}
	l := &timedLeaf{handled: make(chan time.Duration, 1)}
	stop, err := l.serve(measured)
	if err != nil {
		return nil, err
	}
	defer stop()
	root, err := q.engine(kept)
	if err != nil {
		return nil, err
	}
	root.Leaves = []search.Leaf{l}
	random := rand.New(rand.NewPCG(1, leaves))
	for _, text := range k.texts(w, q.warm) {
		var times []ofRoot
		for round := range 1 + leafRounds {
			l.times = ofRoot{}
			began := time.Now()
			if _, err := k.ask(ctx, root, text); err != nil {
				return nil, err
			}
			l.times.own += milliseconds(time.Since(began))
			if round > 0 { // in the first one nothing is cached
				times = append(times, l.times)
			}
		}
		for _, t := range times {
			sum := t.own
			for step := range t.steps {
				slowest := 0.0
				for range leaves {
					slowest = max(slowest, times[random.IntN(len(times))].steps[step])
				}
				sum += slowest + t.wires[step]*leaves/float64(runtime.GOMAXPROCS(0))
			}
			all = append(all, sum)
		}
	}
	slices.Sort(all)
	return all, nil
}

// timedLeaf is a leaf whose answers to the query at hand are timed.
type timedLeaf struct {
	search.Leaf
	handled chan time.Duration // has the time of each answer in the leaf, until the root has taken it
	times   ofRoot             // the field own has all time for which the root waits, as a negative number
}

// Ask implements search.Leaf.
func (l *timedLeaf) Ask(ctx context.Context, a *search.Asked) (*search.Answer, error) {
	began := time.Now()
	answer, err := l.Leaf.Ask(ctx, a)
	if err != nil {
		return nil, err
	}
	waited, handled := milliseconds(time.Since(began)), milliseconds(<-l.handled)
	l.times.own -= waited
	l.times.steps = append(l.times.steps, handled)
	l.times.wires = append(l.times.wires, max(waited-handled, 0))
	return answer, nil
}

// serve answers the root on loopback by an engine, until stop is called.
func (l *timedLeaf) serve(by *engine.Engine) (stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	of, err := leaf.Parse("http://"+listener.Addr().String(), leafKey)
	if err != nil {
		return nil, err
	}
	l.Leaf = of.All[0]
	answers := of.Handler(by)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		answers.ServeHTTP(w, r)
		l.handled <- time.Since(began)
	})}
	go func() { _ = server.Serve(listener) }() // ends when it is closed
	return func() { _ = server.Close() }, nil
}

// leavesTable returns the times of simulated queries at each number of pages as a table of Markdown.
func leavesTable(pages []int, all []map[string][]float64) string {
	var out strings.Builder
	fmt.Fprintf(&out, "\n| in %d leaves | p50, ms | p95 | p99 |\n|---|---|---|---|\n", leaves)
	for _, k := range kinds {
		if !k.scatters {
			continue
		}
		out.WriteString("| " + k.name + " |")
		for _, share := range []float64{.5, .95, .99} {
			var amounts []float64
			for i := range pages {
				amounts = append(amounts, quantile(all[i][k.name], share))
			}
			out.WriteString(" " + cell(pages, amounts) + " |")
		}
		out.WriteString("\n")
	}
	return out.String()
}
