package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdaurl"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// toolsOf returns the names of the tools that a client sees, sorted.
func (c client) toolsOf() (names []string) {
	c.t.Helper()
	all, err := c.session.ListTools(c.t.Context(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, tool := range all.Tools {
		names = append(names, tool.Name)
		if tool.Description == "" || len(tool.Description) > 1000 || tool.Annotations == nil {
			c.t.Errorf("tool %s is described as %q", tool.Name, tool.Description)
		}
	}
	slices.Sort(names)
	return names
}

// TestHTTP calls all tools over streamable HTTP by the client of the SDK.
func TestHTTP(t *testing.T) {
	s := newStore(t)
	s.Publish(querytest.Page{URL: "https://example.org/trees", MIME: "text/html", Data: trees, Title: "Trees", Body: "trees"})
	server := httptest.NewServer(Handler(s.engine))
	defer server.Close()
	c := dial(t, &sdk.StreamableClientTransport{Endpoint: server.URL, DisableStandaloneSSE: true})
	if got := c.toolsOf(); !slices.Equal(got, []string{"list_collections", "read_page", "search"}) {
		t.Errorf("tools %v", got)
	}
	for tool, arguments := range map[string]map[string]any{"search": {"query": "trees"}, "read_page": {"url": "example.org/trees"}, "list_collections": nil} {
		if text, failed := c.call(tool, arguments); failed {
			t.Errorf("%s: %s", tool, text)
		}
	}
	if text, failed := c.call("read_page", map[string]any{"url": "example.org/none"}); !failed || !strings.Contains(text, "is not stored") {
		t.Errorf("%s", text)
	}
}

// TestForeignRequests checks that requests are refused which a browser sends for a page of another origin,
// which name another host, or which have a large body.
func TestForeignRequests(t *testing.T) {
	s := newStore(t)
	server := httptest.NewServer(Handler(s.engine))
	defer server.Close()
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, test := range map[string]struct {
		host, body string
		header     http.Header
		want       int
	}{
		"own":           {"", list, http.Header{}, http.StatusOK},
		"same origin":   {"", list, http.Header{"Origin": {server.URL}}, http.StatusOK},
		"other origin":  {"", list, http.Header{"Origin": {"https://evil.example"}}, http.StatusForbidden},
		"other site":    {"", list, http.Header{"Sec-Fetch-Site": {"cross-site"}}, http.StatusForbidden},
		"DNS rebinding": {"evil.example", list, http.Header{}, http.StatusForbidden},
		"large":         {"", strings.Repeat(" ", maxRequest+1) + list, http.Header{}, http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(test.body))
			s.Check(err)
			r.Header = test.header
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Host = test.host
			answer, err := server.Client().Do(r)
			s.Check(err)
			defer answer.Body.Close()
			if answer.StatusCode != test.want {
				t.Errorf("status %d, want %d", answer.StatusCode, test.want)
			}
		})
	}
}

// TestCollections lists a collection with pages, one without, and one that was removed.
func TestCollections(t *testing.T) {
	s := newStore(t)
	publish := func(name string, seeds ...string) {
		c := collection.Collection{Name: name, HostConnections: 1, Agent: "test"}
		for _, seed := range seeds {
			c.Seeds = append(c.Seeds, collection.Seed{URL: seed, Scope: collection.Prefix})
		}
		_, err := collection.Publish(t.Context(), s.Bucket, c)
		s.Check(err)
	}
	publish("docs", "https://example.org/1/", "https://example.org/2/", "https://example.org/3/", "https://example.org/4/")
	publish("empty", "https://example.net/")
	publish("gone", "https://example.com/")
	_, err := collection.Remove(t.Context(), s.Bucket, "gone")
	s.Check(err)
	page := func(url, lang string, collections ...string) querytest.Page {
		return querytest.Page{URL: url, MIME: "text/html", Data: "x", Title: "Title", Body: url, Lang: lang, Collections: collections}
	}
	s.Publish(page("https://example.org/1/a", "en", "docs"), page("https://example.org/1/b", "de", "docs"), page("https://example.org/1/c", "en", "docs", "gone"))
	s.Publish(page("https://example.org/1/c", "de", "docs", "gone"))
	for p := range layout.Partition(2) { // the last package, of one page, waits to be indexed
		s.Commit(p, func(m *manifest.Manifest) error {
			if n := len(m.Packages); n > 0 {
				m.Packages[n-1].Indexed = false
			}
			return nil
		})
	}
	got := s.client().must("list_collections", nil)
	want := "Note: 1 pages wait to be indexed, and are not counted.\n" +
		"docs: 3 pages (de 2, en 1), the last fetched 2026-11-21; from https://example.org/1/, https://example.org/2/, https://example.org/3/ and 1 more addresses\n" +
		"empty: 0 pages; from https://example.net/\n" +
		"gone: 1 pages (de 1), the last fetched 2026-11-21; it is not crawled any more\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestManyCollections lists so many collections that one answer is not enough.
func TestManyCollections(t *testing.T) {
	s := newStore(t)
	for i := range 60 {
		c := collection.Collection{Name: "c" + strings.Repeat("x", i), HostConnections: 1, Agent: "test"}
		for range 3 {
			c.Seeds = append(c.Seeds, collection.Seed{URL: "https://example.org/" + strings.Repeat("&", 60) + strings.Repeat("z", len(c.Seeds)), Scope: collection.Host})
		}
		_, err := collection.Publish(t.Context(), s.Bucket, c)
		s.Check(err)
	}
	c := s.client()
	seen := 0
	for arguments := map[string]any{}; ; {
		answer := c.must("list_collections", arguments)
		seen += strings.Count(answer, ": 0 pages")
		more := cursorIn(answer)
		if more == "" {
			break
		}
		arguments["cursor"] = more
	}
	if seen != 60 {
		t.Errorf("%d collections are listed", seen)
	}
	if text, failed := c.call("list_collections", map[string]any{"cursor": cursor{from: 1}.String()}); !failed || !strings.Contains(text, "leave it out") {
		t.Errorf("another cursor: %s", text)
	}
}

// TestCrawl checks that there is a tool crawl only if a person allowed to crawl, that it passes the address
// on to Tools.Crawl, and that it returns the sentence or the error of that function.
func TestCrawl(t *testing.T) {
	s := newStore(t)
	if got := s.client().toolsOf(); slices.Contains(got, "crawl") {
		t.Errorf("tools %v", got)
	}
	tools := s.tools()
	var asked string
	tools.Allowed = []string{"https://example.org/docs/"}
	tools.Crawl = func(_ context.Context, url string) (string, error) {
		asked = url
		if url == "" {
			return "", errors.New("no address")
		}
		return "It is crawled.", nil
	}
	c := connect(t, tools)
	if got := c.toolsOf(); !slices.Contains(got, "crawl") {
		t.Errorf("tools %v", got)
	}
	if text := c.must("crawl", map[string]any{"url": "https://example.org/docs/a"}); text != "It is crawled." || asked != "https://example.org/docs/a" {
		t.Errorf("%s, of %s", text, asked)
	}
	if text, failed := c.call("crawl", map[string]any{"url": ""}); !failed || text != "no address" {
		t.Errorf("%s", text)
	}
}

// TestFunctionURL asks as a function URL of AWS Lambda does. A request must be answered although
// none came before it.
func TestFunctionURL(t *testing.T) {
	s := newStore(t)
	s.Publish(querytest.Manual(1)...)
	answer, err := lambdaurl.Wrap(Handler(s.engine))(t.Context(), &events.LambdaFunctionURLRequest{
		RawPath: "/mcp", Headers: map[string]string{"content-type": "application/json", "accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"},
		Body:           `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"manual"}}}`,
		RequestContext: events.LambdaFunctionURLRequestContext{HTTP: events.LambdaFunctionURLRequestContextHTTPDescription{Method: http.MethodPost, Path: "/mcp"}},
	})
	s.Check(err)
	body, err := io.ReadAll(answer.Body)
	s.Check(err)
	if answer.StatusCode != http.StatusOK || !strings.Contains(string(body), "1 page matches") {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
}

// TestServe sends requests, and ends the input at once. All of them must be answered.
func TestServe(t *testing.T) {
	s := newStore(t)
	s.Publish(querytest.Manual(3)...)
	const begin = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` +
		"\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	const search = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search","arguments":{"query":"manual"}}}`
	for range 10 {
		in := begin + fmt.Sprintf(search, 1) + "\n" + fmt.Sprintf(search, 2) + "\n" + fmt.Sprintf(search, 3) // without a line feed at its end
		var out bytes.Buffer
		s.Check(s.tools().Serve(t.Context(), strings.NewReader(in), &out))
		if n := strings.Count(out.String(), "3 pages match"); n != 3 || strings.Count(out.String(), "\n") != 4 {
			t.Fatalf("%d of 3 searches are answered:\n%s", n, out.String())
		}
	}
	long := strings.NewReader(begin + strings.Repeat(" ", maxMessage) + "\n")
	if err := s.tools().Serve(t.Context(), long, io.Discard); err == nil || !strings.Contains(err.Error(), "longer than 1048576 bytes") {
		t.Errorf("a long message: %v", err)
	}
}
