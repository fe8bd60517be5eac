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
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/tests/bench/corpus"
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
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		os.Exit(m.Run()) // an ordinary run of all tests: benchmarks are not prepared
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	bin, err := os.MkdirTemp("", "engine")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(bin)
	if shared, err = prepare(os.Getenv("BUCKETSEARCH_SITES"), os.Getenv("BUCKETSEARCH_CORPUS")); err != nil {
		return 1, err
	}
	shared.bin = bin
	for module, programs := range map[string][]string{
		"../../..":    {"./tests/bench/engine/bucketsearch"},
		"../../peers": {"./bleve", "./bluge", "./swish"},
	} {
		build := exec.Command("go", append([]string{"build", "-o", bin}, programs...)...)
		build.Dir, build.Stderr = module, os.Stderr
		if err := build.Run(); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
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
