package webobject

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

var sameObject = cmp.Options{
	cmpopts.EquateEmpty(),
	cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
}

// example is a Web object with the fields of version 1 only.
var example = Object{
	URL: "http://a/", MIME: "text/plain", Data: []byte("hi"), Cost: 7 * time.Millisecond,
	Downloaded: time.UnixMilli(0).UTC(), Expires: time.UnixMilli(86_400_000).UTC(),
}

const exampleBytes = "\xFFWEBO\x01" + "\x00\x0A" + "\x00\x09" + "\x00\x00\x00\x02" + "\x00\x00\x00\x07" +
	"\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x05\x26\x5C\x00" + "text/plain" + "http://a/" + "hi"

// fullExample is a Web object with every field except Conversion.
var fullExample = Object{
	URL: example.URL, MIME: example.MIME, Data: example.Data, Cost: example.Cost,
	Downloaded: example.Downloaded, Expires: example.Expires,
	Status:      200,
	Header:      []Field{{"Etag", `"x"`}, {"Server", ""}},
	Redirects:   []string{"http://b/"},
	Address:     netip.MustParseAddr("192.0.2.1"),
	Hash:        helloHash,
	Collections: []string{"c", "dé"},
	Version:     layout.Version{Epoch: 1, Token: 300},
}

// helloHash is SHA-256 of "hi".
var helloHash = [32]byte([]byte("\x8f\x43\x43\x46\x64\x8f\x6b\x96\xdf\x89\xdd\xa9\x01\xc5\x17\x6b" +
	"\x10\xa6\xd8\x39\x61\xdd\x3c\x1a\xc8\x8b\x59\xb2\xdc\x32\x7a\xa4"))

// convertedExample is fullExample with a Conversion.
var convertedExample = func() Object {
	o := fullExample
	o.Conversion = &Conversion{HTML: []byte("<p>hi"), Omitted: []string{"pages 2 to 9"}, Reader: 300}
	return o
}()

// encode returns the object's bytes: in version 4 of the format if the object has a
// Conversion, else in version 3.
func encode(t testing.TB, o Object) []byte {
	t.Helper()
	head, err := o.appendHead(nil)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(head, o.Data...), o.tail()...)
}

// encodeV1 returns the bytes of the object in version 1 of the format. It encodes the object in a
// later version, and removes the fields that version 1 does not have.
func encodeV1(t testing.TB, o Object) []byte {
	t.Helper()
	const fixed = 34
	b := encode(t, o)[:fixed+len(o.MIME)+len(o.URL)]
	b[len(objectMagic)] = version1
	return append(b, o.Data...)
}

// page returns a page that resembles documentation, and has about the given size in bytes.
func page(n, size int) Object {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html><title>Page %d</title>\n", n)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "<p class=\"text\">Sentence %d of %d: <a href=\"page%d.html\">%x</a></p>\n", i, n, i*7%100, uint32(i*n)*2654435761)
	}
	o := fullExample
	o.URL = fmt.Sprintf("http://example.org/page%d.html", n)
	o.MIME = "text/html; charset=utf-8"
	o.Data = []byte(b.String())
	o.Hash = [32]byte{}
	return o
}

func compress(t testing.TB, objects ...Object) []Run {
	t.Helper()
	c := NewCompressor(DefaultLevel)
	var runs []Run
	for _, o := range objects {
		run, err := c.Compress(o)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	return runs
}

// smallPackage returns a package with an object of version 1 between two of version 3.
func smallPackage(t testing.TB) Package {
	t.Helper()
	runs := compress(t, fullExample, example, page(3, 300))
	old, err := NewCompressor(DefaultLevel).compress(example.URL, encodeV1(t, example), nil)
	if err != nil {
		t.Fatal(err)
	}
	runs[1] = old
	return Package{
		Base: 2, Exponent: -3, Runs: runs,
		Created: time.UnixMilli(1_700_000_000_123).UTC(), Expires: time.UnixMilli(1_700_010_800_123).UTC(),
	}
}

func build(t testing.TB, p Package) ([]byte, []Place) {
	t.Helper()
	spf, places, err := p.Build()
	if err != nil {
		t.Fatal(err)
	}
	return spf, places
}

// oneObject is a store of one object. It records the range of every Get.
type oneObject struct {
	blob.Reader // nil, so that a call of any method but Get panics
	content     []byte
	ranges      []blob.Range
}

func (s *oneObject) Get(_ context.Context, _ string, r blob.Range) ([]byte, error) {
	s.ranges = append(s.ranges, r)
	from, to, err := r.Within(int64(len(s.content)))
	if err != nil {
		return nil, err
	}
	return s.content[from:to], nil
}

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want one with %q", err, text)
	}
}
