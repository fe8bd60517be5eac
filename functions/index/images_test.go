package index

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestImages indexes the images of pages. An image that is on all pages must be indexed only once,
// and a forgotten image not at all.
func TestImages(t *testing.T) {
	w := newWorld(t)
	var pages []webobject.Object
	for i := range minPages + 1 {
		o := functionstest.Page(batch, fmt.Sprintf("http://a.example/%02d.html", i))
		o.MIME = "text/html"
		o.Data = fmt.Appendf(nil, "<main><h1>Page %d</h1><p>%s</p><img src=logo.png alt=Logo><img src=cat%d.png alt='A cat'><img src=secret.png alt=Secret></main>",
			i, strings.Repeat("Cats sleep all day long, and they hunt at night. ", 9), i)
		pages = append(pages, o)
	}
	a, err := address.Parse("http://a.example/secret.png")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := takedown.Forget(t.Context(), w.bucket, takedown.URL(a, w.Now())); err != nil {
		t.Fatal(err)
	}
	pkg := w.put(0, pages...)
	w.list(pkg)
	w.run(pkg.Key)
	var got []string
	for _, d := range w.documents(w.manifest().Segments[0]) {
		for _, image := range d.Images {
			got = append(got, d.URL+" "+image.URL+" "+image.Alt)
		}
	}
	want := []string{"http://a.example/00.html http://a.example/logo.png Logo"}
	for i := range minPages + 1 {
		want = append(want, fmt.Sprintf("http://a.example/%02d.html http://a.example/cat%d.png A cat", i, i))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("images (-want +got)\n%s", d)
	}
	found, err := w.segment(w.manifest().Segments[0]).Terms(t.Context(), []string{segment.ImageTerm("logo"), "logo"}, false)
	if err != nil || found[0] == nil || found[0].Summary.Documents != 1 || found[1] != nil {
		t.Errorf("terms %+v, %v", found, err)
	}
}
