// Package judged writes the sets of queries and answers that the commands beside it make, in the form
// that package eval reads.
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

// Set holds the addresses of the pages that answer each query, by the text of the query.
type Set map[string][]string

// Add adds an answer to a query, unless the query has it.
func (s Set) Add(query, answer string) {
	if !slices.Contains(s[query], answer) {
		s[query] = append(s[query], answer)
	}
}

// Write writes the files queries.tsv and qrels.tsv, with a prefix before their names, which may begin
// with a directory. Every answer has the grade 1.
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
