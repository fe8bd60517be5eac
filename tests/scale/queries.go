package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	costs "github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// queryKind is a kind of queries that are measured.
type queryKind struct {
	name  string
	texts func(w *web, n int) []string // returns at most n queries
	ask   asking

	scatters bool // whether leaves answer them, too
}

// asking is a function that answers a query, and returns the number of results that it has found.
type asking func(ctx context.Context, e *engine.Engine, text string) (found int, err error)

var kinds = []queryKind{
	{"two words", (*web).queries, find, true},
	{"20 words", (*web).sentences, find, true},
	{"prefix, four letters", func(w *web, n int) []string { return w.typed(n, func(s string) string { return s[:4] + "*" }) }, find, true},
	{"word with two letters swapped", func(w *web, n int) []string { return w.typed(n, swapped) }, find, true},
	{"suggestions for four letters", func(w *web, n int) []string { return w.typed(n, func(s string) string { return s[:4] }) }, suggest, false},
}

// typed returns at most n words of at least six letters, as the function change changes them.
func (w *web) typed(n int, change func(string) string) (all []string) {
	for _, text := range w.queries(10 * n) {
		if first, _, _ := strings.Cut(text, " "); len(first) >= 6 {
			all = append(all, change(first))
		}
	}
	return all[:min(n, len(all))]
}

// swapped returns a query that finds a word although its third and fourth letter are swapped.
func swapped(of string) string { return of[:2] + of[3:4] + of[2:3] + of[4:] + "~" }

func find(ctx context.Context, e *engine.Engine, text string) (int, error) {
	result, err := e.Search(ctx, engine.Query{Query: search.Query{Text: text, Size: 10}})
	return len(result.Hits), err
}

func suggest(ctx context.Context, e *engine.Engine, text string) (int, error) {
	found, err := e.Suggest(ctx, search.Suggesting{Text: text, Size: 10})
	return len(found), err
}

// inquiry says how queries are measured.
type inquiry struct {
	warm, cold int           // numbers of queries of each kind
	firstByte  time.Duration // time that each read of a cold query takes
	memory     int64         // size of the caches of an engine, in bytes; 0 for engine.DefaultMemory
}

// standard is the inquiry of the command. A small GET to S3 takes about firstByte.
var standard = inquiry{warm: 200, cold: 20, firstByte: 60 * time.Millisecond}

// rounds is how often each warm query is measured. The shortest time counts, so that other programs on the machine
// count less.
const rounds = 3

// latency is what the queries of one kind have taken.
type latency struct {
	warm, cold             []float64 // time of each query in milliseconds, ascending
	processor              float64   // time of processors for a warm query in milliseconds, on average
	missed                 float64   // requests of a warm query, on average: more than 0 if the caches are too small
	requests, steps, bytes float64   // of a cold query, on average
}

// measureQueries returns the latencies of all kinds of queries in webs of the given sizes, as a table of Markdown, and
// those in a simulated index of many leaves as another. The indexes of the webs are in the directory dir, or are made
// and left there.
func measureQueries(ctx context.Context, pages []int, dir string, q inquiry) (string, error) {
	all, scattered := make([]map[string]*latency, len(pages)), make([]map[string][]float64, len(pages))
	for i, n := range pages {
		w := newWeb(n, func() {})
		kept, err := keptIndex(ctx, w, dir)
		if err != nil {
			return "", fmt.Errorf("with %d pages: %w", n, err)
		}
		defer kept.Close() //nolint:errcheck // nothing is written
		all[i], scattered[i] = make(map[string]*latency), make(map[string][]float64)
		for _, k := range kinds {
			l := new(latency)
			all[i][k.name] = l
			if err := l.measureWarm(ctx, kept, k, w, q); err != nil {
				return "", fmt.Errorf("with %d pages: %s: %w", n, k.name, err)
			}
			if err := l.measureCold(ctx, kept, k, w, q); err != nil {
				return "", fmt.Errorf("with %d pages: %s: %w", n, k.name, err)
			}
			if !k.scatters {
				continue
			}
			if scattered[i][k.name], err = measureLeaves(ctx, kept, k, w, q); err != nil {
				return "", fmt.Errorf("with %d leaves of %d pages: %s: %w", leaves, n, k.name, err)
			}
		}
	}
	return latencyTable(pages, all) + leavesTable(pages, scattered), nil
}

// measureWarm asks one engine all queries, and then again: only that is measured.
func (l *latency) measureWarm(ctx context.Context, kept *store, k queryKind, w *web, q inquiry) error {
	e, err := q.engine(kept)
	if err != nil {
		return err
	}
	texts := k.texts(w, q.warm)
	l.warm = slices.Repeat([]float64{math.Inf(1)}, len(texts))
	requests := new(costs.Meter)
	used := 0.0
	for round := range 1 + rounds {
		if round == 1 {
			ctx, used = costs.With(ctx, requests), seconds()
		}
		for i, text := range texts {
			began := time.Now()
			if _, err := k.ask(ctx, e, text); err != nil {
				return err
			}
			if round > 0 {
				l.warm[i] = min(l.warm[i], milliseconds(time.Since(began)))
			}
		}
	}
	measured := float64(rounds * len(texts))
	l.processor = (seconds() - used) * 1e3 / measured
	l.missed = float64(requests.Requests().Requests()) / measured
	slices.Sort(l.warm)
	return nil
}

// measureCold asks each query in a new engine, which has read nothing.
func (l *latency) measureCold(ctx context.Context, kept *store, k queryKind, w *web, q inquiry) error {
	for _, text := range k.texts(w, q.cold) {
		e, err := q.engine(slow{kept, q.firstByte})
		if err != nil {
			return err
		}
		m := new(costs.Meter)
		began := time.Now()
		if _, err := k.ask(costs.With(ctx, m), e, text); err != nil {
			return err
		}
		l.cold = append(l.cold, milliseconds(time.Since(began)))
		spent := m.Cost(costs.USEast1(), 0)
		l.requests += float64(spent.Requests)
		l.steps += float64(spent.DependentSteps)
		l.bytes += float64(spent.Bytes)
	}
	n := float64(len(l.cold))
	l.requests, l.steps, l.bytes = l.requests/n, l.steps/n, l.bytes/n
	slices.Sort(l.cold)
	return nil
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

// engine returns an engine that has read nothing yet.
func (q inquiry) engine(bucket blob.Bucket) (*engine.Engine, error) {
	metered := costs.Bucket(bucket)
	return engine.New(metered, engine.Options{
		Settings: &settings.Cache{Bucket: metered, Now: time.Now, Age: time.Hour}, Now: time.Now, Age: time.Hour,
		Log: slog.New(slog.DiscardHandler), Memory: q.memory,
	})
}

// slow is a bucket in which each read takes some time longer.
type slow struct {
	blob.Bucket
	time time.Duration
}

func (s slow) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	if err := blob.Sleep(ctx, s.time); err != nil {
		return nil, err
	}
	return s.Bucket.Get(ctx, key, r)
}

// figures are the columns of the table of latencies.
var figures = []struct {
	name string
	of   func(*latency) float64
}{
	{"warm p50, ms", func(l *latency) float64 { return quantile(l.warm, .5) }},
	{"p95", func(l *latency) float64 { return quantile(l.warm, .95) }},
	{"p99", func(l *latency) float64 { return quantile(l.warm, .99) }},
	{"CPU, ms", func(l *latency) float64 { return l.processor }},
	{"GETs", func(l *latency) float64 { return l.missed }},
	{"cold p50, ms", func(l *latency) float64 { return quantile(l.cold, .5) }},
	{"p95", func(l *latency) float64 { return quantile(l.cold, .95) }},
	{"GETs", func(l *latency) float64 { return l.requests }},
	{"steps", func(l *latency) float64 { return l.steps }},
	{"KB", func(l *latency) float64 { return l.bytes / 1e3 }},
}

// quantile returns the value below which the given share of the sorted values lies.
func quantile(sorted []float64, share float64) float64 {
	return sorted[int(share*float64(len(sorted)))]
}

// latencyTable returns the latencies at each number of pages as a table of Markdown.
func latencyTable(pages []int, all []map[string]*latency) string {
	var out strings.Builder
	out.WriteString("| |")
	for _, f := range figures {
		out.WriteString(" " + f.name + " |")
	}
	out.WriteString("\n|---|" + strings.Repeat("---|", len(figures)) + "\n")
	for _, k := range kinds {
		out.WriteString("| " + k.name + " |")
		for _, f := range figures {
			var amounts []float64
			for i := range pages {
				amounts = append(amounts, f.of(all[i][k.name]))
			}
			out.WriteString(" " + cell(pages, amounts) + " |")
		}
		out.WriteString("\n")
	}
	return out.String()
}
