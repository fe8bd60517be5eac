// Package judged writes judged sets, queries with the pages that answer them, in the form that
// package eval reads. The commands in the folders beside it make such sets.
package judged

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Set is a judged set: for the text of each query, the addresses of the pages that answer it.
type Set map[string][]string

// Add adds a page as an answer to a query, unless it is one already.
func (s Set) Add(query, answer string) {
	if !slices.Contains(s[query], answer) {
		s[query] = append(s[query], answer)
	}
}

// Write writes the queries to the file queries.tsv and the answers to qrels.tsv. The prefix is
// put before these names and may begin with a directory. Every answer has the grade 1.
func (s Set) Write(prefix string) error {
	var queries, qrels strings.Builder
	for n, query := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&queries, "%d\t%s\n", n, query)
		for _, answer := range slices.Sorted(slices.Values(s[query])) {
			fmt.Fprintf(&qrels, "%d\t%s\t1\n", n, answer)
		}
	}
	if err := os.MkdirAll(filepath.Dir(prefix+"queries.tsv"), 0o755); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(prefix+"queries.tsv", []byte(queries.String()), 0o644), os.WriteFile(prefix+"qrels.tsv", []byte(qrels.String()), 0o644))
}

// Read reads a set from the files to which Write has written it, with the same prefix.
func Read(prefix string) (Set, error) {
	queries, err := os.ReadFile(prefix + "queries.tsv")
	if err != nil {
		return nil, err
	}
	qrels, err := os.ReadFile(prefix + "qrels.tsv")
	if err != nil {
		return nil, err
	}
	texts, s := make(map[string]string), make(Set)
	for line := range strings.Lines(string(queries)) {
		number, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		texts[number] = text
	}
	for line := range strings.Lines(string(qrels)) {
		if fields := strings.Split(line, "\t"); len(fields) == 3 {
			s.Add(texts[fields[0]], fields[1])
		}
	}
	return s, nil
}
