// Command bleve measures the search engine bleve for benchmarks. Its subcommands are described
// in tests/peers/corpus.
package main

import (
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/mapping"

	"github.com/bucketsearch/bucketsearch/tests/peers/corpus"
)

func main() { corpus.Main(peer{}) }

type peer struct{}

var fields = []string{"title", "headings", "body"}

// schema returns a mapping for bleve that analyses fields as English, and stores their text
// and the positions of words.
func schema() mapping.IndexMapping {
	text := bleve.NewTextFieldMapping()
	text.Analyzer, text.Store, text.IncludeTermVectors, text.IncludeInAll, text.DocValues = en.AnalyzerName, true, true, false, false
	page := bleve.NewDocumentStaticMapping()
	for _, field := range fields {
		page.AddFieldMappingsAt(field, text)
	}
	m := bleve.NewIndexMapping()
	m.DefaultMapping = page
	return m
}

func (peer) Index(directory string, next func() (corpus.Page, error)) error {
	index, err := bleve.New(filepath.Join(directory, "index"), schema())
	if err != nil {
		return err
	}
	const size = 200
	batch := index.NewBatch()
	for {
		p, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := batch.Index(p.URL, map[string]any{"title": p.Title, "headings": strings.Join(p.Headings, "\n"), "body": p.Body}); err != nil {
			return err
		}
		if batch.Size() == size {
			if err := index.Batch(batch); err != nil {
				return err
			}
			batch.Reset()
		}
	}
	if err := index.Batch(batch); err != nil {
		return err
	}
	return index.Close()
}

func (peer) Open(directory string) (func([]string) (int, error), error) {
	index, err := bleve.Open(filepath.Join(directory, "index"))
	if err != nil {
		return nil, err
	}
	return func(words []string) (int, error) {
		any := bleve.NewDisjunctionQuery()
		for _, field := range fields {
			match := bleve.NewMatchQuery(strings.Join(words, " "))
			match.SetField(field)
			any.AddQuery(match)
		}
		result, err := index.Search(bleve.NewSearchRequest(any))
		if err != nil {
			return 0, err
		}
		return len(result.Hits), nil
	}, nil
}
