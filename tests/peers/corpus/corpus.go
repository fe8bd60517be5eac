// Package corpus reads the files that tests/bench/corpus writes, and runs what
// every indexing peer has in common:
//
//	PEER index DIRECTORY < corpus
//	PEER query DIRECTORY < queries
//
//	PEER merge DIRECTORY < corpus
//
// The second prints for each query, a line of words, the microseconds that it
// took and the number of results, at most ten; the third, which not all have,
// the bytes of the segments that it made one of, and the microseconds.
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

// Page is a page and its text.
type Page struct {
	URL      string
	Title    string
	Headings []string
	Bytes    int
	Body     string `json:"-"`
}

// Peer is an engine.
type Peer interface {
	// Index indexes the pages that next returns, until it returns io.EOF.
	Index(directory string, next func() (Page, error)) error
	// Open returns a function that answers queries with the number of results.
	Open(directory string) (search func(words []string) (int, error), err error)
}

// Merger is a peer whose merging can be measured.
type Merger interface {
	// Merge makes one segment of several that it makes of the pages, and
	// returns the size of the latter and how long merging took.
	Merge(next func() (Page, error)) (size int64, took time.Duration, err error)
}

// Main runs a peer as a command.
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
