package markup

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pieces returns the tags and texts that a Scanner finds, in one line, with | between them.
func pieces(xml string) string {
	var out []string
	for s := NewScanner([]byte(xml)); s.Next(); {
		switch s.Kind {
		case Start:
			out = append(out, "<"+s.Name+" "+s.Attribute("id")+">")
		case End:
			out = append(out, "</"+s.Name+">")
		case Text:
			out = append(out, s.Text())
		}
	}
	return strings.Join(out, "|")
}

func TestScanner(t *testing.T) {
	for name, c := range map[string]struct{ xml, want string }{
		"prefixes and case": {`<w:Body r:ID="7">a</w:Body>`, "<body 7>|a|</body>"},
		"empty element":     {`<a id="1"/>b`, "<a 1>|</a>|b"},
		"no raw text":       {`<title/><script>a &lt; b</script>`, "<title >|</title>|<script >|a < b|</script>"},
		"CDATA":             {`<a><![CDATA[<b> &amp;]]></a>`, "<a >|<b> &amp;|</a>"},
		"prolog":            {`<?xml version="1.0"?><!DOCTYPE x [<!ENTITY y "z">]><!-- c --><a>&y;</a>`, `]>|<a >|&y;|</a>`},
		"broken":            {`<a <b id=2>c`, "<a 2>|c"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, pieces(c.xml)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScannerSkipsAndGathers(t *testing.T) {
	s := NewScanner([]byte(`<a><x><x/>no</x><b> one <i>two</i></b>rest</a>`))
	var got []string
	for s.Next() {
		switch {
		case s.Kind == Start && s.Name == "x":
			s.Skip()
		case s.Kind == Start && s.Name == "b":
			got = append(got, s.Inner())
		case s.Kind == Text:
			got = append(got, s.Text())
		}
	}
	if diff := cmp.Diff([]string{"one two", "rest"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAttributeOfAnyPrefix(t *testing.T) {
	s := NewScanner([]byte(`<a r:id="relation" xlink:href="h"/>`))
	s.Next()
	got := []string{s.Attribute("r:id"), s.Attribute("id"), s.Attribute("href"), s.Attribute("s:id")}
	if diff := cmp.Diff([]string{"relation", "relation", "h", ""}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWriter(t *testing.T) {
	var w Writer
	w.Heading(9)
	w.Text("a < b")
	w.Link(`http://a/?"&`)
	w.Text("c")
	w.Break()
	w.Link("")
	w.Text("d\xFF")
	want := "<!doctype html><html lang=\"en\"><head><title>&lt;t</title></head><body><main>\n" +
		"<h6>a &lt; b<a href=\"http://a/?&#34;&amp;\">c</a></h6>\nd\uFFFD<br>\n</main></body></html>\n"
	if diff := cmp.Diff(want, string(w.Page("<t", "en").HTML)); diff != "" {
		t.Error(diff)
	}
}

func TestWriterIsFull(t *testing.T) {
	var w Writer
	for range 10 {
		w.Heading(1)
		w.Link("http://a/")
		w.Text(strings.Repeat("a", MaxBytes/2))
	}
	if p := w.Page("", ""); !w.Full() || len(p.HTML) > 2*MaxBytes || len(p.Omitted) != 1 {
		t.Errorf("wrote %d bytes, omitted %q", len(p.HTML), p.Omitted)
	}
}

func FuzzScanner(f *testing.F) {
	f.Add([]byte(`<a b="c"><d/><![CDATA[e]]>&amp;</a>`))
	f.Add([]byte(`<![CDATA[<!-- <a </a/> ]]`))
	f.Fuzz(func(t *testing.T, xml []byte) {
		n := 0
		for s := NewScanner(xml); s.Next(); n++ {
			if s.Kind == Start && len(s.Name)%2 == 1 {
				_ = s.Inner()
			}
		}
		if n > 2*len(xml)+2 {
			t.Errorf("%d pieces of %d bytes", n, len(xml))
		}
	})
}
