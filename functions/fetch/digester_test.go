package fetch

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// TestPanicFailsOnePage uses a nil compressor, which panics on a page. The page must fail as not
// parsable, and the panic must not spread.
func TestPanicFailsOnePage(t *testing.T) {
	none := sync.Pool{New: func() any { return (*webobject.Compressor)(nil) }}
	p := page{address: parsed(t, "http://a/"), answer: answer{status: 200, body: []byte("hello")}, parse: document.Read}
	o := book.Outcome{URL: "http://a/", Attempts: 1}
	if got := p.guarded(&o, &none); got.links != nil || got.run.Compressed != nil {
		t.Errorf("a result came of it: %+v", got)
	}
	if o.State != book.Failed || o.Reason != "not parsable" || o.Detail == "" {
		t.Errorf("outcome %s, %q, %q", o.State, o.Reason, o.Detail)
	}
}

// TestPanicKeepsThePage lets the parser panic on a page: the page must still be stored, without
// links.
func TestPanicKeepsThePage(t *testing.T) {
	var compressors sync.Pool
	body := []byte("<title>The title</title><body><a href=/b>b</a>")
	for name, parse := range map[string]parser{
		"in the parser": func([]byte, string) (*document.Document, error) {
			return document.Read(nil, strings.Repeat("x", breakOff()))
		},
		"told by the parser": func([]byte, string) (*document.Document, error) { return nil, fmt.Errorf("oh: %w", document.ErrPanic) },
	} {
		p := page{address: parsed(t, "http://a/"), behalf: behalf{settings: new(settings.Settings)}, answer: answer{status: 200, body: body}, parse: parse}
		o := book.Outcome{URL: "http://a/", Attempts: 1}
		got := p.guarded(&o, &compressors)
		if o.State != book.Stored || o.Reason != book.Panicked || o.Detail == "" || o.Digest == 0 {
			t.Errorf("%s: outcome %s, %q, %q", name, o.State, o.Reason, o.Detail)
		}
		if len(got.run.Compressed) == 0 || len(got.links) != 0 || got.panicked == "" {
			t.Errorf("%s: %d bytes are stored, links %v, panicked %q", name, len(got.run.Compressed), got.links, got.panicked)
		}
	}
}

// TestSlowProcessorsSlowFetching sends pages to a digester while no processor is free. It takes one page for each
// of its workers; then the fetch of the next page has to wait.
func TestSlowProcessorsSlowFetching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pages = 1000
		var f Function
		var leave []func()
		for range runtime.GOMAXPROCS(0) {
			free, err := f.processors.enter(t.Context(), runtime.GOMAXPROCS(0))
			if err != nil {
				t.Fatal(err)
			}
			leave = append(leave, free)
		}
		d, taken := newDigester(make([]book.Outcome, pages), &f), 0
		go func() {
			for i := range pages {
				d.pages <- page{index: i, address: parsed(t, "http://a/"), behalf: behalf{settings: new(settings.Settings)}, parse: document.Read}
				taken++
			}
			d.wait()
		}()
		synctest.Wait()
		if taken != runtime.GOMAXPROCS(0) {
			t.Errorf("%d pages are taken while no processor is free, want %d", taken, runtime.GOMAXPROCS(0))
		}
		for _, leave := range leave {
			leave()
		}
		synctest.Wait()
		if taken != pages {
			t.Errorf("%d pages are taken in the end, want %d", taken, pages)
		}
	})
}

func breakOff() int { panic("oh") }
