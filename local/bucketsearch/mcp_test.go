package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// connect starts the command mcp with the given arguments, and connects a client to it. The function call
// calls a tool of the server with an address as its only argument, and returns the text of the result.
func connect(t *testing.T, args ...string) (call func(tool, url string) string) {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	var errOut bytes.Buffer
	ended := make(chan int, 1)
	go func() { ended <- run(context.Background(), append([]string{"mcp"}, args...), in, out, &errOut) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		if code := <-ended; code != 0 || errOut.Len() > 0 {
			t.Errorf("exit %d: %s", code, errOut.String())
		}
	})
	return func(tool, url string) string {
		t.Helper()
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"url": url}})
		if err != nil {
			t.Fatalf("%s %s: %v", tool, url, err)
		}
		return result.Content[0].(*mcp.TextContent).Text
	}
}

// TestMCPCrawl lets a client add addresses to what is crawled. Only those below the allowed ones
// must be published, each once, as a collection of their own.
func TestMCPCrawl(t *testing.T) {
	t.Parallel()
	web, data := pond(t), filepath.Join(t.TempDir(), "data")
	call := connect(t, "--data", data, "--allow-crawl", "https://example.org/docs/start.html")
	crawl := func(url string) string { return call("crawl", url) }
	if got := crawl("https://example.org/docs/"); !strings.Contains(got, "nothing has been crawled yet into "+data+"; crawl a site first") {
		t.Errorf("without a bucket: %s", got)
	}
	if got := do(t.Context(), "crawl", "--data", data, "--delay", "0", "--allow-private", web); got.code != 0 {
		t.Fatalf("crawl: %s", got.err)
	}
	if got := call("read_page", web); !strings.Contains(got, "Herons stand in the pond.") {
		t.Errorf("read_page: %s", got)
	}
	for url, want := range map[string]string{
		"https://example.org/docs/":        "are in the collection assistant now. No system runs at the moment",
		"https://www.example.org/docs/a/b": "are in the collection assistant now",
		"http://example.org/docs/a/b?c":    "are in the collection assistant now",
		"https://example.org/":             "must not be crawled (out of scope)",
		"https://example.org/docs2/":       "must not be crawled (out of scope)",
		"https://evil.example/docs/":       "must not be crawled (out of scope)",
		"nonsense":                         "is no web address",
	} {
		for range 2 {
			if got := crawl(url); !strings.Contains(got, want) {
				t.Errorf("%s: %s", url, got)
			}
		}
	}
	shown := do(t.Context(), "collections", "show", "--json", "--data", data, system.AssistantCollection)
	for _, want := range []string{`"version": 3,`, `"scope": "prefix"`, `"https://example.org/docs/"`, `"https://www.example.org/docs/a/b"`, `"http://example.org/docs/a/b?c"`, agent} {
		if !strings.Contains(shown.out, want) {
			t.Errorf("the collection lacks %s: %s%s", want, shown.out, shown.err)
		}
	}
	if got := do(t.Context(), "pause", "--data", data); got.code != 0 {
		t.Fatalf("pause: %s", got.err)
	}
	if got := crawl("https://example.org/docs/new/"); !strings.Contains(got, "The crawl is paused; a person can resume it: bucketsearch --data "+data+" resume.") {
		t.Errorf("paused: %s", got)
	}
}

// TestAllowedRules checks which addresses the rules of --allow-crawl admit.
func TestAllowedRules(t *testing.T) {
	rules, err := allowedRules([]string{"example.org", "https://example.net/a/b.html"})
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, url := range []string{"https://example.org/", "http://example.org/x/y", "https://sub.example.org/", "https://example.net/a/c", "https://example.net/", "https://example.org:8443/"} {
		at, err := collection.ParseSeed(url)
		if err != nil {
			t.Fatal(err)
		}
		got[url] = rules.Decide(at, 1, 0)
	}
	want := map[string]string{
		"https://example.org/": "", "http://example.org/x/y": "", "https://sub.example.org/": collection.OutOfScope,
		"https://example.net/a/c": "", "https://example.net/": collection.OutOfScope, "https://example.org:8443/": collection.OutOfScope,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
