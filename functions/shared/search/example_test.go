package search_test

import (
	"context"
	"fmt"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Example searches an index, which is a set of segments. Words of the query are looked for by their
// stems.
func Example() {
	var pages []*segments.Page
	for url, text := range map[string][2]string{
		"http://example.org/buckets":  {"Buckets", "How to carry water in a bucket."},
		"http://example.org/searches": {"Searching", "A search engine that lives in a bucket answers queries."},
	} {
		pages = append(pages, &segments.Page{Document: segment.Document{
			ID: layout.IdentityOf(url), URL: url, Title: text[0], Body: text[1], Lang: "en",
		}})
	}
	content, err := segments.Build(pages)
	if err != nil {
		fmt.Println(err)
		return
	}
	opened, err := segment.OpenBytes(content)
	if err != nil {
		fmt.Println(err)
		return
	}
	index, err := search.New([]search.Part{{Segment: opened}}, search.NewMemory(1<<20))
	if err != nil {
		fmt.Println(err)
		return
	}

	for _, text := range []string{"searches", "bucket -water", `"in a bucket"`} {
		result, err := index.Search(context.Background(), search.Query{Text: text, Size: 10})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(text, ":")
		for _, hit := range result.Hits {
			fmt.Print(" ", hit.URL)
		}
		fmt.Println()
	}
	// Output:
	// searches: http://example.org/searches
	// bucket -water: http://example.org/searches
	// "in a bucket": http://example.org/buckets http://example.org/searches
}
