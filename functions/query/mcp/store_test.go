package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/engine/enginetest"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
)

// store is a bucket that tests fill, with an engine on it.
type store struct {
	*querytest.Store
	engine *engine.Engine
	log    bytes.Buffer
}

func newStore(t *testing.T) *store {
	s := &store{Store: querytest.NewStore(t, 2)}
	s.engine = enginetest.New(s.Store, s.Bucket, &s.log)
	return s
}

// tools are the tools on the store's engine.
func (s *store) tools() Tools {
	return Tools{Ask: func(_ context.Context, do func(*engine.Engine) error) error { return do(s.engine) }}
}

// client is a client of the SDK that is connected to a server.
type client struct {
	t       *testing.T
	session *sdk.ClientSession
}

func (s *store) client() client { return connect(s.T.(*testing.T), s.tools()) }

// connect connects a client to a server with the tools, in memory.
func connect(t *testing.T, tools Tools) client {
	t.Helper()
	ours, theirs := sdk.NewInMemoryTransports()
	if _, err := tools.Server().Connect(t.Context(), theirs, nil); err != nil {
		t.Fatal(err)
	}
	return dial(t, ours)
}

// dial connects a client by a transport.
func dial(t *testing.T, transport sdk.Transport) client {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return client{t, session}
}

// call calls a tool and returns the text of its answer, and whether that is an error. It checks
// that the text is not too large.
func (c client) call(tool string, arguments map[string]any) (text string, failed bool) {
	c.t.Helper()
	result, err := c.session.CallTool(c.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		c.t.Fatalf("%s %v: %v", tool, arguments, err)
	}
	if len(result.Content) != 1 {
		c.t.Fatalf("%s %v: %d contents", tool, arguments, len(result.Content))
	}
	text = result.Content[0].(*sdk.TextContent).Text
	encoded, err := json.Marshal(text)
	if err != nil {
		c.t.Fatal(err)
	}
	if len(encoded) > MaxAnswer {
		c.t.Errorf("%s %v: %d bytes, want at most %d", tool, arguments, len(encoded), MaxAnswer)
	}
	return text, result.IsError
}

// must calls a tool, and ends the test if the answer is an error.
func (c client) must(tool string, arguments map[string]any) string {
	c.t.Helper()
	text, failed := c.call(tool, arguments)
	if failed {
		c.t.Fatalf("%s %v: %s", tool, arguments, text)
	}
	return text
}

// parts splits an answer into its head and the text of pages in it. It checks that this text stands between
// two lines with the same random code, and that the code occurs nowhere else but in the sentence of the head
// that names it.
func parts(t *testing.T, answer string) (head, content string) {
	t.Helper()
	head, rest, found := strings.Cut(answer, "\nBEGIN UNTRUSTED WEB CONTENT ")
	number, rest, _ := strings.Cut(rest, "\n")
	content, end, ended := strings.Cut(rest, "\nEND UNTRUSTED WEB CONTENT "+number+"\n")
	if !found || !ended || end != "" || len(number) < 20 || strings.Count(answer, number) != 3 {
		t.Fatalf("no text between two lines with one number:\n%s", answer)
	}
	return head, content
}

// cursorIn returns the cursor that an answer names; "" if it names none.
func cursorIn(answer string) string {
	_, after, _ := strings.Cut(answer, "and the cursor ")
	if after == "" {
		_, after, _ = strings.Cut(answer, "with the cursor ")
	}
	text, _, _ := strings.Cut(after, ".\n")
	return text
}
