package tests

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCP connects a client of the Model Context Protocol to the command mcp. The client searches and
// reads a page before the command up runs on the same data directory, while it runs, and after it. While
// up runs, the client also adds an address to the crawl, and connects to up itself over HTTP.
func TestMCP(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, func(int, []string) http.Handler {
		mux := http.NewServeMux()
		page := func(at, name string) {
			mux.HandleFunc("GET "+at, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, "<title>%s</title><h1>%[1]s</h1><p>This is the page about the %[1]s.<h2 id=use>Use</h2><p>One uses the %[1]s with care.", name)
			})
		}
		page("/docs/", "hammer")
		page("/more/", "chisel")
		page("/secret/", "sword")
		return mux
	})
	p := newPlace(t)
	p.crawl("--scope", "prefix", s.origins[0]+"/docs/")
	ctx := t.Context()
	implementation := &mcp.Implementation{Name: "test", Version: "1"}
	command := exec.CommandContext(ctx, program, "mcp", "--data", p.data, "--allow-crawl", s.origins[0]+"/more/")
	command.Stderr = os.Stderr
	local, err := mcp.NewClient(implementation, nil).Connect(ctx, &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(session *mcp.ClientSession, tool string, arguments map[string]any) (string, bool) {
		t.Helper()
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			t.Fatalf("%s %v: %v", tool, arguments, err)
		}
		return result.Content[0].(*mcp.TextContent).Text, result.IsError
	}
	check := func(when string, session *mcp.ClientSession) {
		t.Helper()
		for tool, test := range map[string]struct {
			arguments map[string]any
			want      string
		}{
			"search":           {map[string]any{"query": "hammer"}, s.origins[0] + "/docs/\n"},
			"read_page":        {map[string]any{"url": s.origins[0] + "/docs/#use"}, "\n## Use\n\nOne uses the hammer with care.\n"},
			"list_collections": {nil, "default: 1 pages"},
		} {
			if text, failed := ask(session, tool, test.arguments); failed || !strings.Contains(text, test.want) {
				t.Errorf("%s, %s: %s", when, tool, text)
			}
		}
	}
	check("before up", local)
	if text, failed := ask(local, "crawl", map[string]any{"url": s.origins[0] + "/secret/"}); !failed || !strings.Contains(text, "must not be crawled (out of scope)") {
		t.Errorf("crawl of what is not allowed: %s", text)
	}
	run := p.start("up", crawling("--listen", "127.0.0.1:0")...)
	home := run.searchPage(t)
	check("beside up", local)
	remote, err := mcp.NewClient(implementation, nil).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: home + "mcp", DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	check("of up", remote)
	tools, err := remote.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(tools.Tools, func(tool *mcp.Tool) bool { return tool.Name == "crawl" }) {
		t.Error("clients of HTTP can crawl")
	}
	if text, failed := ask(local, "crawl", map[string]any{"url": s.origins[0] + "/more/"}); failed || !strings.Contains(text, "The system that runs crawls them") {
		t.Errorf("crawl: %s", text)
	}
	run.await(t, func() bool {
		text, _ := ask(remote, "search", map[string]any{"query": "chisel", "collection": "assistant"})
		return strings.Contains(text, s.origins[0]+"/more/\n")
	})
	if err := remote.Close(); err != nil {
		t.Error(err)
	}
	if err := run.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := run.wait(); err != nil {
		t.Errorf("up after Ctrl-C: %v", err)
	}
	check("after up", local)
	if err := local.Close(); err != nil {
		t.Errorf("the command does not end with its client: %v", err)
	}
}
