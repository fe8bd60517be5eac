package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// collection writes a test collection of twelve queries of one word each. For each query there are two
// pages. The answer has the word in its text, one to twelve times. The other page is no answer, but has
// the word in its title.
func collection(t *testing.T, prefix string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), prefix)
	var docs, queries, qrels strings.Builder
	for n := range 12 {
		word := fmt.Sprintf("%sword%d", prefix, n)
		fmt.Fprintf(&docs, "{\"id\": \"%d\", \"title\": \"page\", \"text\": \"%s and more of it\"}\n", n, strings.Repeat(word+" ", n+1))
		fmt.Fprintf(&docs, "{\"id\": \"t%d\", \"title\": \"other things than %s and more\", \"text\": \"something else at length\"}\n", n, word)
		fmt.Fprintf(&queries, "%d\t%s\n", n, word)
		fmt.Fprintf(&qrels, "%d\t%d\t1\n", n, n)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"docs.jsonl": docs.String(), "queries.tsv": queries.String(), "qrels.tsv": qrels.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestTrain trains on collections in which words in titles mislead. The weights that it finds must
// give a greater mean nDCG than the standard ones, and a second training on the same collections
// must find the same weights.
func TestTrain(t *testing.T) {
	dirs := []string{collection(t, "a"), collection(t, "b")}
	out := filepath.Join(t.TempDir(), "weights.json")
	var last string
	for range 2 {
		if err := run(t.Context(), dirs, 10, out); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if last != "" && last != string(content) {
			t.Errorf("the same collections gave %s, then %s", last, content)
		}
		last = string(content)
	}
	w, err := search.ParseWeights([]byte(last))
	if err != nil {
		t.Fatal(err)
	}
	all, err := open(t.Context(), dirs, 10)
	if err != nil {
		t.Fatal(err)
	}
	before, err := all.figures(t.Context(), search.Standard())
	if err != nil {
		t.Fatal(err)
	}
	after, err := all.figures(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if len(after) != 4 || mean(before) > 0.95 || mean(after) < mean(before)+0.02 {
		t.Errorf("nDCG was %v, is %v", before, after)
	}
	if err := run(t.Context(), nil, 10, out); err == nil {
		t.Error("it trained with no collection")
	}
}
