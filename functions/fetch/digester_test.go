package fetch

import (
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

// A page that breaks the parser or the compressor, here by there being none,
// fails alone.
func TestPanicFailsOnePage(t *testing.T) {
	p := page{address: parsed(t, "http://a/"), answer: answer{status: 200, body: []byte("hello")}}
	o := book.Outcome{URL: "http://a/", Attempts: 1}
	if got := p.guarded(&o, nil); got.links != nil || got.run.Compressed != nil {
		t.Errorf("a result came of it: %+v", got)
	}
	if o.State != book.Failed || o.Reason != "not parsable" || o.Detail == "" {
		t.Errorf("outcome %s, %q, %q", o.State, o.Reason, o.Detail)
	}
}
