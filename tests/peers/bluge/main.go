// Command bluge measures the search engine bluge, with its segment format ice, for benchmarks.
// Its subcommands are described in tests/peers/corpus.
package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/blugelabs/bluge"
	"github.com/blugelabs/bluge/analysis/lang/en"

	"github.com/bucketsearch/bucketsearch/tests/peers/corpus"
)

func main() { corpus.Main(peer{}) }

type peer struct{}

var (
	fields   = []string{"title", "headings", "body"}
	analyzer = en.NewAnalyzer()
)

func (peer) Index(directory string, next func() (corpus.Page, error)) error {
	const batch, merge = 200, 10
	w, err := bluge.OpenOfflineWriter(bluge.DefaultConfig(directory), batch, merge)
	if err != nil {
		return err
	}
	for {
		p, err := next()
		if errors.Is(err, io.EOF) {
			return w.Close()
		}
		if err != nil {
			return err
		}
		if err := w.Insert(document(p)); err != nil {
			return err
		}
	}
}

// document returns bluge's document for a page. Its fields are stored and indexed with the
// positions of words.
func document(p corpus.Page) *bluge.Document {
	d := bluge.NewDocument(p.URL)
	for i, text := range []string{p.Title, strings.Join(p.Headings, "\n"), p.Body} {
		d.AddField(bluge.NewTextField(fields[i], text).WithAnalyzer(analyzer).SearchTermPositions().StoreValue())
	}
	return d
}

func (peer) Open(directory string) (func([]string) (int, error), error) {
	reader, err := bluge.OpenReader(bluge.DefaultConfig(directory))
	if err != nil {
		return nil, err
	}
	return func(words []string) (int, error) {
		text := strings.Join(words, " ")
		query := bluge.NewBooleanQuery()
		for _, field := range fields {
			query.AddShould(bluge.NewMatchQuery(text).SetField(field).SetAnalyzer(analyzer))
		}
		matches, err := reader.Search(context.Background(), bluge.NewTopNSearch(10, query))
		if err != nil {
			return 0, err
		}
		for n := 0; ; n++ {
			match, err := matches.Next()
			if err != nil || match == nil {
				return n, err
			}
		}
	}, nil
}
