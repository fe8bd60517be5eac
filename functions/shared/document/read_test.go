package document

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/office"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/ole"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

func zipOf(t testing.TB, members ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		name, content, _ := strings.Cut(m, ": ")
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func odtOf(t testing.TB) string {
	return zipOf(t, "mimetype: "+office.ODT,
		`content.xml: <body><text:h text:outline-level="1">Chapter</text:h><text:p>Go <text:a xlink:href="http://b.test/">there</text:a>.</text:p></body>`)
}

// oleOf returns the bytes of a compound file, the container of old office formats. It has one
// entry, with the name stream.
func oleOf(stream string) string {
	b := make([]byte, 512+2*512)
	copy(b, ole.Magic)
	b[30] = 9 // sectors of 512 bytes
	for i := 76; i < 512; i++ {
		b[i] = 0xFF
	}
	binary.LittleEndian.PutUint32(b[76:], 1) // sector of the table
	for i, c := range stream {
		b[512+2*i] = byte(c)
	}
	b[512+64] = byte(2*len(stream) + 2)
	for i := 1024; i < 1536; i++ {
		b[i] = 0xFF
	}
	return string(b)
}

func TestRead(t *testing.T) {
	const feed = `<rss><channel><title>News</title><item><title>First</title><link>http://b.test/</link><description>All &lt;b&gt;of it</description></item></channel></rss>`
	type want struct {
		Title, Body string
		Headings    []string
		Links       []string
	}
	for name, c := range map[string]struct {
		body, contentType string
		want              want
	}{
		"HTML":  {`<title>T</title><h1>Chapter</h1><p>All <a href=http://b.test/>there</a>`, "text/html", want{"T", "Chapter\nAll there", []string{"Chapter"}, []string{"http://b.test/ there"}}},
		"plain": {"First line\n<b>no markup</b>", "text/plain", want{"First line", "First line\n<b>no markup</b>", nil, nil}},
		"feed":  {feed, "application/xml", want{"News", "First\nAll of it", []string{"First"}, []string{"http://b.test/ First"}}},
		"ODT":   {odtOf(t), office.ODT, want{"Chapter", "Chapter\nGo there.", []string{"Chapter"}, []string{"http://b.test/ there"}}},
		"XML":   {"<doc><p>just text</p></doc>", "text/xml", want{"", "just text", nil, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Read([]byte(c.body), c.contentType)
			if err != nil {
				t.Fatal(err)
			}
			content := d.Content()
			got := want{content.Title, content.Body, content.Headings, nil}
			base, err := address.Parse("http://a.test/")
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range d.Links(base) {
				if l.Kind != book.Anchor || l.Region != book.Text {
					t.Errorf("link %+v", l)
				}
				got.Links = append(got.Links, l.Address.URL+" "+l.Anchor)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if d.Digest().Text == 0 {
				t.Error("no digest")
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	for name, c := range map[string]struct{ body, contentType, want string }{
		"image":      {"\x89PNG\x0D\x0A\x1A\x0A", "text/html", "cannot read page: nobody reads image/png"},
		"sheet":      {oleOf("Workbook"), "application/octet-stream", "cannot read page: nobody reads application/vnd.ms-excel"},
		"broken DOC": {oleOf("WordDocument"), "application/msword", "cannot read document: not a file of Word 97 or later"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Read([]byte(c.body), c.contentType)
			if err == nil {
				t.Fatalf("read %+v", d)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(Content{Title: "name.x"}, Text([]byte(c.body), c.contentType, "http://a/name.x?y")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFirstLineIsTitle(t *testing.T) {
	memo := zipOf(t, "mimetype: "+office.ODT, `content.xml: <body><text:p>To whom it may concern</text:p><text:p>Nothing.</text:p></body>`)
	if c := Text([]byte(memo), "", "http://a/memo.odt"); c.Title != "To whom it may concern" {
		t.Errorf("title %q", c.Title)
	}
}

func TestRobotsForAnAgent(t *testing.T) {
	d := Parse([]byte(`<meta name=robots content=nofollow><meta name=ExampleBot content=noindex><meta name=otherbot content=none><meta name=description content=noindex>`))
	for agent, want := range map[string]robots.Directives{
		"ExampleBot/1.0 (+https://example.org/bot)": {NoIndex: true, NoFollow: true},
		"thirdbot": {NoFollow: true},
		"":         {NoFollow: true},
	} {
		if got := d.RobotsFor(agent); got != want {
			t.Errorf("%q is asked for %+v", agent, got)
		}
	}
}

func TestHead(t *testing.T) {
	at, err := address.Parse("http://a/")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, body, mime, title string }{
		{"a page", "<html><head><title>A &amp; b</title></head><body><h1>No</h1><a href=x>x</a>words", "text/html", "A & b"},
		{"no end of the head", "<title>Title</title><body>words", "text/html", "Title"},
		{"no title", "<html><head></head><body>words", "text/html", "page.html"},
		{"no head", "words", "text/plain", "page.html"},
		{"no text", "%PDF-1.4", "application/pdf", "page.html"},
		{"nothing", "", "text/html", "page.html"},
	} {
		d := Head([]byte(c.body), c.mime, "http://a/b/page.html?q")
		if d.Title != c.title || d.Visible() != "" || len(d.Links(at)) != 0 {
			t.Errorf("%s: title %q, text %q", c.name, d.Title, d.Visible())
		}
	}
	if d := Head([]byte(`<meta name="robots" content="noindex"><body>`), "text/html", "http://a/"); !d.Robots.NoIndex {
		t.Error("what the page asks is forgotten")
	}
}
