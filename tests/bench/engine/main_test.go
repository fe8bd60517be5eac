// Package engine measures indexing and querying by bucketsearch and other search engines. All of
// them get the same queries and the same text:
//
//	bash tests/bench/engine/run small|large
//
// Each engine runs in a process of its own. bucketsearch returns documents with marked titles
// and snippets, the others return only the names of documents. bucketsearch, bleve and bluge stem
// English words, and find pages with any word of a query in title, headings or body. SQLite's FTS5
// and swish-e find only pages with all words.
package engine

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/tests/bench/corpus"
	"github.com/bucketsearch/bucketsearch/tests/programs"
)

// queries is the number of queries, each of which runs several times.
const queries = 200

// bench holds the files and queries that all benchmarks of a run of this package use.
type bench struct {
	bin    string // directory of the engines' programs
	corpus string // file with the corpus
	pages  int
	text   int64  // size of the corpus's text, in bytes
	asked  string // text of the queries, one per line
	// longer queries: the key is their number of words, and the value holds one query per line
	sentences map[int]string
}

// shared is the bench of this run; TestMain sets it before benchmarks run.
var shared bench

func TestMain(m *testing.M) {
	if !programs.Benchmarking() { // an ordinary run of all tests: nothing is prepared
		os.Exit(m.Run())
	}
	var err error
	if shared, err = prepare(os.Getenv("BUCKETSEARCH_SITES"), os.Getenv("BUCKETSEARCH_CORPUS")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(programs.Run(m, func(dir string) { shared.bin = dir },
		programs.Build{Packages: []string{"./bucketsearch"}},
		programs.Build{Module: "../../peers", Packages: []string{"./bleve", "./bluge", "./swish"}}))
}

// prepare makes the corpus with the given name, small or large, and chooses the queries. The
// unpacked Debian packages are in the given directory.
func prepare(sites, name string) (b bench, err error) {
	all := map[string][]string{"small": corpus.Small, "large": append(corpus.Small, corpus.Large...)}[name]
	if all == nil || sites == "" {
		return b, fmt.Errorf("no corpus %q: run bash tests/bench/engine/run small|large", name)
	}
	b.corpus = filepath.Join(sites, name+".corpus")
	if err := corpus.Extract(b.corpus, sites, all); err != nil {
		return b, err
	}
	open := func() (io.ReadCloser, error) { return os.Open(b.corpus) }
	file, err := open()
	if err != nil {
		return b, err
	}
	defer file.Close()
	for p, err := range corpus.Read(file) {
		if err != nil {
			return b, err
		}
		b.pages++
		b.text += int64(p.Text())
	}
	asked, err := corpus.Queries(open, queries)
	if err != nil {
		return b, err
	}
	b.asked, b.sentences = strings.Join(asked, "\n")+"\n", make(map[int]string)
	for _, words := range []int{20, 70} {
		if asked, err = corpus.Sentences(open, queries, words); err != nil {
			return b, err
		}
		b.sentences[words] = strings.Join(asked, "\n") + "\n"
	}
	return b, nil
}
