package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// A page over which its parser breaks down is found by its title, and the log
// and those who count are told, with the package and the address.
func TestParserPanics(t *testing.T) {
	const broken = "http://a.test/broken.html"
	var noted []string
	var log strings.Builder
	for name, parse := range map[string]func([]byte, string) (*document.Document, error){
		"panics":      func([]byte, string) (*document.Document, error) { panic("oh") },
		"says that":   func([]byte, string) (*document.Document, error) { return nil, fmt.Errorf("oh: %w", document.ErrPanic) },
		"gives worse": func([]byte, string) (*document.Document, error) { return nil, nil },
	} {
		noted, log = nil, strings.Builder{}
		r := extractor{pageRules{new(settings.Settings), ""}, parse}
		entry := webobject.Entry{Object: webobject.Object{
			URL: broken, MIME: "text/html", Data: []byte("<title>Broken words</title><body>text of it"),
		}}
		ctx := message.Listen(t.Context(), message.Listener{Noted: func(what string) { noted = append(noted, what) }})
		message.Each(ctx, slog.New(slog.NewTextHandler(&log, nil)), events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1"}}},
			func(ctx context.Context, _ string) error {
				p, err := r.page(ctx, "packages/p", entry)
				if err != nil || p.Title != "Broken words" || p.Body != "" || p.Silent || p.URL != broken {
					t.Errorf("%s: document %+v, %v", name, p.Document, err)
				}
				return err
			})
		if diff := cmp.Diff([]string{"parser panicked"}, noted); diff != "" {
			t.Errorf("%s: noted (-want +got):\n%s", name, diff)
		}
		for _, part := range []string{"parser panicked", "packages/p", broken} {
			if !strings.Contains(log.String(), part) {
				t.Errorf("%s: log lacks %q: %s", name, part, log.String())
			}
		}
	}
}

// What cannot be read for a reason of its own is no fault of the parser.
func TestUnreadableIsNotNoted(t *testing.T) {
	r := extractor{pageRules{new(settings.Settings), ""}, func([]byte, string) (*document.Document, error) { return nil, errors.New("needs a password") }}
	ctx := message.Listen(t.Context(), message.Listener{Noted: func(what string) { t.Errorf("noted %q", what) }})
	p, err := r.page(ctx, "packages/p", webobject.Entry{Object: webobject.Object{URL: "http://a.test/b.html", MIME: "text/html", Data: []byte("x")}})
	if err != nil || p.Title != "b.html" {
		t.Errorf("title %q, %v", p.Title, err)
	}
}
