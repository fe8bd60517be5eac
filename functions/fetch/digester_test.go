package fetch

import (
	"sync"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// A page that breaks the parser or the compressor, here by there being none,
// fails alone.
func TestPanicFailsOnePage(t *testing.T) {
	none := sync.Pool{New: func() any { return (*webobject.Compressor)(nil) }}
	p := page{address: parsed(t, "http://a/"), answer: answer{status: 200, body: []byte("hello")}}
	o := book.Outcome{URL: "http://a/", Attempts: 1}
	if got := p.guarded(&o, &none); got.links != nil || got.run.Compressed != nil {
		t.Errorf("a result came of it: %+v", got)
	}
	if o.State != book.Failed || o.Reason != "not parsable" || o.Detail == "" {
		t.Errorf("outcome %s, %q, %q", o.State, o.Reason, o.Detail)
	}
}
