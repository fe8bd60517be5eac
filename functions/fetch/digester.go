package fetch

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// digester parses and compresses the fetched pages of a batch in worker goroutines, while other
// pages are fetched. When all workers have a page, the next request of the batch waits. So if the
// processors are too slow for all batches that are fetched at the same time, these request fewer
// pages, and at the deadline only a few pages are left to be parsed.
type digester struct {
	pages   chan page  // from which the workers take pages; it has no buffer
	results []digested // results of the pages, by the index of the target
	// canonicals receives the parsed pages that name another address as their canonical one, and so
	// may become aliases. A worker sends a page to this channel only after it has written the
	// page's result. So whoever receives the page may change that result.
	canonicals chan *canonicalRequest
	workers    sync.WaitGroup
	end        sync.Once // makes sure that the channel pages is closed only once
}

// newDigester returns a digester and starts its workers. The parameter outcomes has an outcome for
// each target of the batch. When a worker gets a page, it completes the outcome of this page's
// target. Batches that are fetched at the same time have a digester each. Together they digest only
// as many pages at a time as there are processors, because digesting a page takes much memory.
func newDigester(outcomes []book.Outcome, f *Function) *digester {
	d := &digester{pages: make(chan page), results: make([]digested, len(outcomes)), canonicals: make(chan *canonicalRequest, len(outcomes))}
	for range min(runtime.GOMAXPROCS(0), len(outcomes)) {
		d.workers.Go(func() {
			for p := range d.pages {
				leave, _ := f.processors.enter(context.Background(), runtime.GOMAXPROCS(0)) // without an end: a page is always parsed
				result := p.guarded(&outcomes[p.index], &f.compressors)
				leave()
				d.results[p.index] = result
				if result.canonical != nil {
					d.canonicals <- result.canonical
				}
			}
		})
	}
	return d
}

// slots are a number of places. The zero value is ready to use.
type slots struct {
	once   sync.Once
	places chan struct{} // a semaphore: one element for each place that is taken
}

// enter waits until fewer than n places are taken, and takes one. The caller must call leave once to
// give it back. enter fails if ctx ends first. All calls must have the same n.
func (s *slots) enter(ctx context.Context, n int) (leave func(), err error) {
	s.once.Do(func() { s.places = make(chan struct{}, n) })
	select {
	case s.places <- struct{}{}:
		return func() { <-s.places }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// guarded digests a page (see digest) and recovers from panics. If the parser panics, the page is
// stored without the text of its body, and the outcome says why. If storing it in this way panics,
// too, the outcome says that the page has failed.
func (p page) guarded(o *book.Outcome, compressors *sync.Pool) digested {
	before := *o
	p.sum = p.answer.sum()
	result, cause := attempt(func() digested { return p.digest(o, compressors) })
	if cause == "" {
		return result
	}
	*o = before
	result, again := attempt(func() digested {
		head := document.Head(p.answer.body, p.answer.header.Get("Content-Type"), p.address.URL)
		return p.store(o, compressors, head, func(*document.Document) verdict { return verdict{book.Stored, book.Panicked, cause} })
	})
	if again != "" {
		*o = before
		conclude(o, p.target, verdict{book.Failed, "not parsable", cause})
	}
	result.panicked = cause
	return result
}

// attempt calls a function and returns its result. If the function panics, the result cause is the
// value of the panic as a text; otherwise it is "".
func attempt(task func() digested) (result digested, cause string) {
	defer func() {
		if reason := recover(); reason != nil {
			result, cause = digested{}, fmt.Sprint("panic: ", reason)
		}
	}()
	return task(), ""
}

// wait waits until all pages are digested, and returns the results, by the index of the target.
// After the call of wait, no page may be sent to the digester any more.
func (d *digester) wait() []digested {
	d.end.Do(func() { close(d.pages) })
	d.workers.Wait()
	return d.results
}

// compress compresses a Web object with a compressor from the pool, and puts the compressor back.
// Batches share the pool because a compressor uses a megabyte of memory, and most of the many
// batches that run at the same time are waiting.
func compress(compressors *sync.Pool, o webobject.Object) (webobject.Run, error) {
	c, ok := compressors.Get().(*webobject.Compressor)
	if !ok {
		c = webobject.NewCompressor(webobject.DefaultLevel)
	}
	task, err := c.Compress(o)
	compressors.Put(c)
	return task, err
}

// object returns the Web object of a page with the given outcome. conversion describes the
// conversion of a PDF or office file to HTML, nil for a page that was not converted.
func (p page) object(o book.Outcome, conversion *webobject.Conversion) webobject.Object {
	return webobject.Object{
		URL:         o.URL,
		MIME:        mediaType(p.answer),
		Data:        p.answer.body,
		Cost:        max(0, p.answer.ended.Sub(p.answer.began)),
		Downloaded:  o.Time,
		Expires:     o.Time.Add(webobject.Lifetime(o.Exponent)),
		Status:      o.Status,
		Header:      headerLines(p.answer.header),
		Address:     p.answer.address,
		Collections: o.Collections,
		Version:     o.Version,
		Conversion:  conversion,
	}
}

// mediaType returns the media type of an answer. This is the Content-Type as the server sent it,
// with its charset, unless the first bytes of the body show another type.
func mediaType(a answer) string {
	delivered := a.header.Get("Content-Type")
	media := document.Sniff(a.body, delivered)
	if claimed, _, _ := strings.Cut(delivered, ";"); strings.EqualFold(strings.TrimSpace(claimed), media) && len(delivered) <= 255 {
		return delivered
	}
	return media
}

// headerLines returns the fields of a response header, sorted by name and without cookies. As soon
// as they would have more than maxHeaderLines bytes together, it leaves out the rest.
func headerLines(h map[string][]string) []webobject.Field {
	var lines []webobject.Field
	size := 0
	for name, values := range h {
		if strings.HasPrefix(name, "Set-Cookie") {
			continue
		}
		for _, value := range values {
			lines = append(lines, webobject.Field{Name: name, Value: value})
		}
	}
	slices.SortStableFunc(lines, func(a, b webobject.Field) int { return strings.Compare(a.Name, b.Name) })
	for i, line := range lines {
		if size += len(line.Name) + len(line.Value); size > maxHeaderLines {
			return lines[:i]
		}
	}
	return lines
}
