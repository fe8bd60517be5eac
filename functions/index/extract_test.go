package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// TestParserPanics lets the parser panic on a page. The page must still be found by its title, and
// the log and the vital signs must name its package and its address.
func TestParserPanics(t *testing.T) {
	const broken = "http://a.test/broken.html"
	var noted []string
	var log strings.Builder
	for name, parse := range map[string]func(webobject.Object) (*document.Document, error){
		"panics": func(webobject.Object) (*document.Document, error) { panic("oh") },
		"says that": func(webobject.Object) (*document.Document, error) {
			return nil, fmt.Errorf("oh: %w", document.ErrPanic)
		},
		"gives worse": func(webobject.Object) (*document.Document, error) { return nil, nil },
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

// TestUnreadableIsNotNoted indexes a page for which the parser returns an error. Because the parser
// does not panic, no fault of the parser may be reported.
func TestUnreadableIsNotNoted(t *testing.T) {
	r := extractor{pageRules{new(settings.Settings), ""}, func(webobject.Object) (*document.Document, error) { return nil, errors.New("needs a password") }}
	ctx := message.Listen(t.Context(), message.Listener{Noted: func(what string) { t.Errorf("noted %q", what) }})
	p, err := r.page(ctx, "packages/p", webobject.Entry{Object: webobject.Object{URL: "http://a.test/b.html", MIME: "text/html", Data: []byte("x")}})
	if err != nil || p.Title != "b.html" {
		t.Errorf("title %q, %v", p.Title, err)
	}
}

// TestDates checks that documents have the page's own date, from its metadata or its header.
func TestDates(t *testing.T) {
	fetched := time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)
	header := []webobject.Field{{Name: "last-modified", Value: "Mon, 04 May 2026 10:00:00 GMT"}}
	for name, test := range map[string]struct {
		o    webobject.Object
		want string
	}{
		"metadata": {webobject.Object{MIME: "text/html", Data: []byte(`<meta name="date" content="2025-02-03"><p>Text`), Header: header}, "2025-02-03"},
		"header":   {webobject.Object{MIME: "text/html", Data: []byte(`<p>Text`), Header: header}, "2026-05-04"},
		"text":     {webobject.Object{MIME: "text/plain", Data: []byte(`Text`), Header: header}, "2026-05-04"},
		"none":     {webobject.Object{MIME: "text/html", Data: []byte(`<p>Text`)}, "0001-01-01"},
	} {
		test.o.URL, test.o.Downloaded = "http://a.test/", fetched
		p, err := extractor{pageRules{new(settings.Settings), ""}, document.Stored}.page(t.Context(), "packages/p", webobject.Entry{Object: test.o})
		if got := p.Date.Format(time.DateOnly); err != nil || got != test.want {
			t.Errorf("%s: %s (%v), want %s", name, got, err, test.want)
		}
	}
}

// TestConversionIsIndexed indexes a page, such as a PDF file, that is stored with its conversion to
// HTML: the document must be made of the conversion, whatever the page's own data is.
func TestConversionIsIndexed(t *testing.T) {
	w := newWorld(t)
	o := functionstest.Page(batch, "http://a.example/x.pdf")
	o.MIME, o.Data = "application/pdf", []byte("%PDF- that no reader reads")
	o.Conversion = &webobject.Conversion{HTML: []byte("<title>Report</title><main><h1>Report</h1>The words of it.</main>"), Reader: 1}
	pkg := w.put(0, o)
	w.list(pkg)
	w.run(pkg.Key)
	d := w.documents(w.manifest().Segments[0])
	if d[0].Title != "Report" || d[0].Body != "Report\nThe words of it." || d[0].MIME != "application/pdf" {
		t.Errorf("indexed %q, %q", d[0].Title, d[0].Body)
	}
}
