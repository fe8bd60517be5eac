package document

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// longManual returns a page of documentation of about 26 KB.
func longManual() []byte {
	var s strings.Builder
	s.WriteString("<!doctype html><html lang=en><meta charset=utf-8><title>Long manual</title><nav>")
	for i := range 20 {
		fmt.Fprintf(&s, `<a class="reference internal" href="chapter-%d.html">Chapter %d</a>`, i, i)
	}
	s.WriteString("</nav><div class=body>")
	for i := 0; s.Len() < 26<<10; i++ {
		fmt.Fprintf(&s, `<h2 id=s%d>Section %d<a class=headerlink href="#s%d">¶</a></h2>
<p>The function <code>read_%d</code> takes a path, as <a class="reference" href="page-%d.html#x">section %d</a> says,
and gives back what it read; nothing is kept and nothing is lost on the way.</p><pre>read_%d(path)</pre>
<dl><dt><code>path</code></dt><dd>where the page lies</dd></dl>`, i, i, i, i, i%30, i, i)
	}
	s.WriteString("</div>")
	return []byte(s.String())
}

func BenchmarkPage(b *testing.B) {
	page := longManual()
	base, err := address.Parse("http://a.test/manual/page.html")
	if err != nil {
		b.Fatal(err)
	}
	file := Parse(page)
	for _, stage := range []struct {
		name string
		run  func()
	}{
		{"decode", func() { Decode(page, "text/html") }},
		{"parse", func() { Parse(page) }},
		{"links", func() { file.Links(base) }},
		{"main part", func() { file.main() }},
		{"text", func() { Text(page, "text/html", base.URL) }},
	} {
		b.Run(stage.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(page)))
			for b.Loop() {
				stage.run()
			}
		})
	}
}
