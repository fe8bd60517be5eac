// Package knownitem measures how high the right page stands among the results of bucketsearch, of SQLite's
// FTS5 and of Pagefind, for the same queries on the same pages, three manuals:
//
//	bash tests/bench/knownitem/run
//
// The judged sets are made from the manuals (see the commands bookindex, glossary, inventory and linktexts in
// the folders beside it), and questions.tsv has questions of persons.
package knownitem

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/tests/programs"
)

// program is the path of bucketsearch, which TestMain builds for benchmarks.
var program string

func TestMain(m *testing.M) {
	if !programs.Benchmarking() { // an ordinary run of all tests: nothing is prepared
		os.Exit(m.Run())
	}
	built := func(dir string) { program = filepath.Join(dir, programs.Command.Output) }
	os.Exit(programs.Run(m, built, programs.Command))
}

// BenchmarkKnownItem runs the queries of all sets by all engines. The file ranks.tsv among its artifacts has the
// rank of the right page for each of them: manual, set, engine, rank (0: not among the first ten), query.
func BenchmarkKnownItem(b *testing.B) {
	packages := os.Getenv("BUCKETSEARCH_SITES")
	if packages == "" {
		b.Fatal("BUCKETSEARCH_SITES is not set: run bash tests/bench/knownitem/run")
	}
	ranks, err := os.Create(filepath.Join(b.ArtifactDir(), "ranks.tsv"))
	if err != nil {
		b.Fatal(err)
	}
	defer ranks.Close()
	for _, m := range manuals {
		s := m.prepare(b, packages)
		for _, e := range engines {
			if missing := e.lacks(); missing != "" {
				b.Run(e.name, func(b *testing.B) { b.Skipf("%s is not installed", missing) })
				continue
			}
			var queries []string
			for _, set := range s.sets {
				queries = slices.AppendSeq(queries, maps.Keys(set))
			}
			slices.Sort(queries)
			queries = slices.Compact(queries)
			results := make(map[string][]string)
			for i, found := range e.search(b, s, queries) {
				results[queries[i]] = found
			}
			for _, name := range slices.Sorted(maps.Keys(s.sets)) {
				set := s.sets[name]
				b.Run(m.name+"/"+name+"/"+e.name, func(b *testing.B) {
					var all []int
					for _, query := range slices.Sorted(maps.Keys(set)) {
						rank := rankOf(results[query], set[query])
						fmt.Fprintln(ranks, strings.Join([]string{m.name, name, e.name, fmt.Sprint(rank), query}, "\t"))
						all = append(all, rank)
					}
					report(b, all)
				})
			}
		}
	}
}

// rankOf returns the rank of the first answer among results, from 1; 0 if there is none. Results are addresses,
// answers names of pages.
func rankOf(results, answers []string) int {
	for i, result := range results {
		if slices.Contains(answers, nameOf(result)) {
			return i + 1
		}
	}
	return 0
}

// nameOf returns the name of the page at an address, or "index.html" in a folder.
func nameOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	name := strings.TrimPrefix(u.Path, "/")
	if name == "" || strings.HasSuffix(name, "/") {
		name += "index.html"
	}
	return name
}

// report reports the measures of ranks: the mean of 1 ÷ rank, and the shares of queries whose answer is the first
// result or among the first ten.
func report(b *testing.B, ranks []int) {
	var reciprocal, first, ten float64
	for _, rank := range ranks {
		if rank > 0 {
			reciprocal += 1 / float64(rank)
			ten++
		}
		if rank == 1 {
			first++
		}
	}
	n := float64(len(ranks))
	b.ReportMetric(n, "queries")
	b.ReportMetric(reciprocal/n, "MRR@10")
	b.ReportMetric(first/n, "success@1")
	b.ReportMetric(ten/n, "success@10")
}
