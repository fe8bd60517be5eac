// Package corpus is the common part of the commands that run other search engines (peers) for
// benchmarks. It reads corpus files, which tests/bench/corpus writes, and queries, one per
// line. Each command has these subcommands:
//
//	PEER index DIRECTORY < corpus     indexes the corpus
//	PEER query DIRECTORY < queries    prints for each query its microseconds and number of results, at most 10
//	PEER merge DIRECTORY < corpus     makes segments and merges them (not all peers can); prints the size
//	                                  of the segments in bytes, and the microseconds of merging
package corpus

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"
)

// Page is one page of a corpus, with its text.
type Page struct {
	URL      string
	Title    string
	Headings []string
	Bytes    int    // length of Body in bytes
	Body     string `json:"-"`
}

// Peer is a search engine that is compared with this one.
type Peer interface {
	// Index indexes the pages that next returns. It ends when next returns io.EOF.
	Index(directory string, next func() (Page, error)) error
	// Open opens the index in a directory, and returns a function that runs a query and returns
	// the number of results, at most 10.
	Open(directory string) (search func(words []string) (int, error), err error)
}

// Merger is a Peer that can also merge segments on request, so that merging can be timed.
type Merger interface {
	// Merge indexes the pages into several segments, and then merges these into one. It
	// returns the total size of the segments before merging, in bytes, and the time of merging.
	Merge(next func() (Page, error)) (size int64, took time.Duration, err error)
}

// Main is the main function of a command that runs a search engine. It executes the subcommand in
// os.Args (see the package comment).
func Main(p Peer) {
	var err error
	switch input := bufio.NewReaderSize(os.Stdin, 1<<20); {
	case len(os.Args) == 3 && os.Args[1] == "index":
		err = p.Index(os.Args[2], func() (Page, error) { return read(input) })
	case len(os.Args) == 3 && os.Args[1] == "query":
		err = query(p, os.Args[2], input)
	case len(os.Args) == 3 && os.Args[1] == "merge":
		var size int64
		var took time.Duration
		size, took, err = p.(Merger).Merge(func() (Page, error) { return read(input) })
		fmt.Println(size, took.Microseconds())
	default:
		err = fmt.Errorf("usage: %s index|query|merge DIRECTORY", os.Args[0])
	}
	if err != nil {
		log.Fatal(err)
	}
}

// read reads the next page of a corpus. At the end it returns io.EOF.
func read(r *bufio.Reader) (p Page, err error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(line, &p); err != nil {
		return p, err
	}
	body := make([]byte, p.Bytes+1)
	_, err = io.ReadFull(r, body)
	p.Body = string(body[:p.Bytes])
	return p, err
}

// query runs each query of the input, and prints the microseconds that it took and the number of
// its results.
func query(p Peer, directory string, input io.Reader) error {
	search, err := p.Open(directory)
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(input); lines.Scan(); {
		words := strings.Fields(lines.Text())
		began := time.Now()
		found, err := search(words)
		if err != nil {
			return err
		}
		fmt.Println(time.Since(began).Microseconds(), found)
	}
	return nil
}
