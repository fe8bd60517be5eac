package engine

import (
	"path/filepath"
	"testing"
)

// engine is a command that indexes a corpus and runs queries. The package tests/peers/corpus
// describes its subcommands.
type engine struct {
	name    string
	command []string
	merges  bool // whether the engine has the subcommand "merge"
	own     bool // whether the engine is bucketsearch, which has the subcommand "cold"
	any     bool // true: a query (even a sentence) finds pages with any of its words; false: only those with all words
}

func engines() []engine {
	program := func(name string) []string { return []string{filepath.Join(shared.bin, name)} }
	return []engine{
		{name: "bucketsearch", command: program("bucketsearch"), merges: true, own: true, any: true},
		{name: "bluge with ice", command: program("bluge"), merges: true, any: true},
		{name: "bleve", command: program("bleve"), any: true},
		{name: "SQLite FTS5", command: []string{"python3", "../../peers/fts5/fts5.py"}},
		{name: "swish-e", command: program("swish")},
	}
}

// BenchmarkEngines measures all engines, and prints a table of their figures.
func BenchmarkEngines(b *testing.B) {
	var t table
	for _, e := range engines() {
		b.Run(e.name, func(b *testing.B) {
			for b.Loop() {
				t.add(e.measure(b))
			}
		})
	}
	t.print()
}
