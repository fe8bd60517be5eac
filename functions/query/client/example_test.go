package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query"
	"github.com/bucketsearch/bucketsearch/functions/query/client"
	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/query/web"
)

// newServer starts a server with two pages about PostgreSQL and twelve manuals.
func newServer(t testing.TB) (*querytest.Store, *httptest.Server) {
	s := querytest.NewStore(t, 1)
	s.Publish(append(querytest.Manual(12),
		querytest.Page{URL: "https://example.org/vacuum", MIME: "text/html", Data: "<title>Vacuum</title><h1>Vacuum</h1><p>Vacuum tidies a <i>table</i>.</p>", Title: "Vacuum", Body: "Vacuum tidies a table.", Lang: "en", Date: querytest.Noon},
		querytest.Page{URL: "https://example.org/index", MIME: "text/html", Data: "<title>Index</title><p>An index finds rows of a table.</p>", Title: "Index", Body: "An index finds rows of a table.", Lang: "en"},
	)...)
	answers, err := engine.New(s.Bucket, engine.Options{Settings: s.Settings(s.Bucket), Now: s.Clock.Now, Age: time.Second, Log: slog.New(slog.DiscardHandler)})
	s.Check(err)
	return s, httptest.NewServer(query.Handler(web.Site{Engine: answers}))
}

// example is the testing.TB of examples, which have none: an error ends the program.
type example struct{ testing.TB }

func (example) Helper()                  {}
func (example) Context() context.Context { return context.Background() }
func (example) Fatal(args ...any)        { log.Fatal(args...) }

func ExampleClient_Search() {
	_, server := newServer(example{}) // a real program has the address of a server in place of it
	defer server.Close()
	c := client.Client{URL: server.URL}
	answer, err := c.Search(context.Background(), client.Query{Text: "table vacuum", Facets: []string{"lang"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Total, "pages match;", answer.Facets["lang"][0].Pages, "are in", answer.Facets["lang"][0].Value)
	best := answer.Results[0]
	fmt.Println(best.Title, best.URL)
	for _, mark := range best.Marks.Snippet {
		fmt.Println("marked:", string([]rune(best.Snippet)[mark[0]:mark[1]]))
	}
	// Output:
	// 2 pages match; 2 are in en
	// Vacuum https://example.org/vacuum
	// marked: Vacuum
	// marked: table
}

func ExampleClient_All() {
	_, server := newServer(example{})
	defer server.Close()
	c := client.Client{URL: server.URL}
	n := 0
	for _, err := range c.All(context.Background(), client.Query{Text: "manual", N: 5}) {
		if err != nil {
			log.Fatal(err)
		}
		n++
	}
	fmt.Println(n, "results")
	// Output: 12 results
}

func ExampleClient_Multi() {
	_, server := newServer(example{})
	defer server.Close()
	c := client.Client{URL: server.URL}
	outcomes, err := c.Multi(context.Background(), client.Query{Text: "vacuum"}, client.Query{Text: "table", Lang: []string{"en"}}, client.Query{})
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			fmt.Println(o.Err)
		} else {
			fmt.Println(o.Answer.Total, "pages match")
		}
	}
	// Output:
	// 1 pages match
	// 2 pages match
	// 400 Bad Request: The query is missing; ask like /v1/search?q=words.
}

func ExampleClient_Suggest() {
	_, server := newServer(example{})
	defer server.Close()
	c := client.Client{URL: server.URL}
	suggestions, err := c.Suggest(context.Background(), "vac", 5)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range suggestions {
		fmt.Println(s.Text, s.URL)
	}
	// Output: Vacuum https://example.org/vacuum
}

func ExampleClient_Page() {
	_, server := newServer(example{})
	defer server.Close()
	c := client.Client{URL: server.URL}
	page, err := c.Page(context.Background(), "https://example.org/vacuum", time.Time{})
	if err != nil {
		log.Fatal(err)
	}
	for _, part := range page.Parts {
		fmt.Printf("%s: %s\n", part.Kind, part.Text)
	}
	// Output:
	// heading: Vacuum
	// paragraph: Vacuum tidies a table.
}

func ExampleProblem() {
	_, server := newServer(example{})
	defer server.Close()
	c := client.Client{URL: server.URL}
	_, err := c.Search(context.Background(), client.Query{Text: "vacuum", N: 1000})
	if p, is := errors.AsType[*client.Problem](err); is {
		fmt.Println(p.Status, p.Parameter)
		fmt.Println(p.Detail)
	}
	// Output:
	// 400 n
	// n is "1000"; write a whole number from 1 to 100.
}
