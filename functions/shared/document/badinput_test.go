package document

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/office"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// badInput is a page with invalid or extreme content, and what reading it must give.
type badInput struct {
	name, media, body string
	words             string   // words of the page that must be found although the page is bad
	omitted           []string // texts that must be in Document.Omitted, such as "5 of 10005 headings"
	size              int      // size of the decompressed content, if the body is compressed
	fails             bool     // whether reading the page must fail
}

// many is the number of pieces of a large page. With so many pieces, quadratic work takes
// noticeably long.
const many = 50_000

func repeat(piece string, n int) string { return strings.Repeat(piece, n) }

// numbered formats each of the numbers from 0 to n-1 by the given format, and returns the results
// joined.
func numbered(format string, n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, format, i)
	}
	return s.String()
}

// wide returns text encoded in UTF-16: big-endian if big is true, else little-endian.
func wide(text string, big bool) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return string(b)
}

var badMarkup = []badInput{
	{name: "nothing closed", body: "<html><head><title>first</title><body><div><p><b><i><a href=x><table><tr><td>second<ul><li>third<select><option>fourth<svg><g>last", words: "first second third"},
	{name: "only ends", body: repeat("</div></p></table></b></body></html>", many/10) + "<p>last", words: "last"},
	{name: "bold around paragraphs", body: repeat("<b><p>x</b>", many) + "<p>last", words: "last"},
	{name: "bold and slanted crossed", body: repeat("<b><i>x</b></i>", many) + "<p>last", words: "last"},
	{name: "links never closed", body: repeat("<a href=y>x", 4*many) + "<p>last", words: "last", omitted: []string{"100000 of 200000 links"}},
	{name: "links in tables in links", body: repeat("<a href=y>x<table><td>", many/2) + "last", words: "last"},
	{name: "tables in cells", body: repeat("<table><tr><td>x", many) + "last", words: "last"},
	{name: "cells without tables", body: repeat("<td>x<tr><th>y", many/2) + "<p>last", words: "last"},
	{name: "tables and forms crossed", body: repeat("<form><table><tr></form><td>x</table>", many/4) + "<p>last", words: "last"},
	{name: "tables without cells", body: repeat("<table><p>x</p>", many/2) + "last", words: "last"},
	{name: "too many elements", body: "<p>first" + repeat("<b>", hypertext.MaxElements) + "too late", words: "first", omitted: []string{"elements beyond 1000000"}},
	{name: "selects in selects", body: "<p>first" + repeat("<select><option>x", many) + "</select><p>y", words: "first"},
	{name: "templates in templates", body: "<p>first" + repeat("<template><p>x", many) + repeat("</template>", many) + "<p>last", words: "first last"},
	{name: "HTML in SVG in HTML", body: repeat("<svg><foreignObject><p>x", many/2) + "last", words: "last"},
	{name: "formulas in formulas", body: repeat("<math><mi>x<annotation-xml>", many/2) + "last", words: "last"},
	{name: "frames in frames", body: "<p>first<frameset>" + repeat("<frameset><frame src=x>", many/2) + "<noframes>last", words: "first last"},
	{name: "frames with documents", body: "<p>first" + repeat(`<iframe srcdoc="<p>x"></iframe>`, many/4) + "<p>last", words: "first last"},
	{name: "lists in items", body: repeat("<ul><li>x<ol><li>y", many/4) + "last", words: "last"},
	{name: "terms and definitions", body: repeat("<dl><dd>x<dt>y", many/2) + "last", words: "last"},
	{name: "quotes of lines", body: repeat("<blockquote><ul><li>", 80) + repeat("x<br>", many) + "last", words: "last"},
	{name: "headings around all", body: repeat("<h2><div>", 100) + repeat("word ", many) + "last", words: "last"},
	{name: "links around all", body: repeat("<a href=#><table><td>", 80) + repeat("word ", many) + "last", words: "last"},
	{name: "emphasis around all", body: repeat("<b><i><code>", 80) + repeat("<em>word</em> ", many/4) + "last", words: "last"},
	{name: "code of many blocks", body: "<pre>" + repeat("x<div>y", many) + "last", words: "last"},
	{name: "one wide row and many short", body: "<table><tr>" + repeat("<td>x", many/8) + repeat("<tr><td>y", many/8) + "</table><p>last", words: "last"},
	{name: "images in figures", body: repeat("<figure><img src=x alt=y>", many/4) + "<figcaption>last", words: "last", omitted: []string{"11500 of 12500 images"}},
	{name: "hidden and not in turn", body: repeat("<i hidden>x</i>y", many/2) + "<p>last", words: "last"},
	{name: "noscript in noscript", body: "<p>first" + repeat("<noscript>x", many/4) + "</noscript><p>y", words: "first"},
	{name: "many attributes", body: "<p" + repeat(" a", 20*many) + ">last", words: "last", omitted: []string{"999936 attributes beyond 64 of a tag"}},
	{name: "many attributes with values", body: "<p" + numbered(" a%d='b'", many) + ">last", words: "last", omitted: []string{"attributes"}},
	{name: "many equals signs", body: "<p" + repeat("=", 10*many) + ">last", words: "last"},
	{name: "a huge address", body: "<p><a href='" + repeat("x", 20*many) + "'>last</a>", words: "last", omitted: []string{"the end of 1 attributes"}},
	{name: "a huge class", body: "<p class='" + repeat("main-part ", 2*many) + "'>last", words: "last"},
	{name: "many classes", body: numbered("<p class='c%d d'>x", many/2) + "last", words: "last"},
	{name: "a huge style", body: "<p style='" + repeat("a:b;", many) + "'>last", words: "last"},
	{name: "a huge name of an element", body: "<x" + repeat("y", 10*many) + ">last", words: "last"},
	{name: "long names of elements", body: numbered("<x"+repeat("y", 500)+"%d>", 500) + numbered("</x"+repeat("y", 500)+"%d>", 500) + "last", words: "last"},
	{name: "an attribute never closed", body: "<p>first<p title='" + repeat("x>", many), words: "first"},
	{name: "comments never closed", body: "<p>first" + repeat("<!--", many), words: "first"},
	{name: "comments that end at once", body: repeat("<!--><!---><!-- --!>", many/4) + "last", words: "last"},
	{name: "half comments", body: "<p>first" + repeat("<!-", many) + "><p>last", words: "first last"},
	{name: "dashes in a comment", body: "<p>first<!--" + repeat("-", 20*many) + "><p>last", words: "first last"},
	{name: "CDATA in HTML", body: repeat("<![CDATA[x]]>", many/4) + "<p>last", words: "last"},
	{name: "CDATA never closed", body: "<p>first<svg>" + repeat("<![CDATA[x", many/4), words: "first x"},
	{name: "instructions never closed", body: "<p>first" + repeat("<?php", many), words: "first"},
	{name: "less-than signs", body: repeat("<", 10*many) + " last", words: "last"},
	{name: "ends without names", body: repeat("</ >", many) + "last", words: "last"},
	{name: "scripts in comments in scripts", body: "<p>first<script>" + repeat("<!--<script>", many) + "</script>", words: "first"},
	{name: "ends that are none in a script", body: "<p>first<script>" + repeat("</scrip", many) + "</script><p>last", words: "first last"},
	{name: "a title never closed", body: "<title>first " + repeat("<p>x ", many), words: "first"},
	{name: "many titles", body: repeat("<title>first</title>", many/4) + "<p>last", words: "first last"},
	{name: "a text area never closed", body: "<p>first<textarea>" + repeat("<p>", many), words: "first"},
	{name: "plain text", body: "<p>first<plaintext>" + repeat("</plaintext><p>", many/4) + "last", words: "first last"},
	{name: "entities", body: "<p>" + repeat("&amp;", 4*many) + " last", words: "last"},
	{name: "long entities", body: "<p>" + repeat("&CounterClockwiseContourIntegral;", many/4) + " last", words: "last"},
	{name: "entities that are none", body: "<p>" + repeat("&", 4*many) + repeat("&#", many) + repeat("&#x", many) + repeat("&nosuch;", many) + " last", words: "last"},
	{name: "numbers that are no characters", body: "<p>first&#xD800;&#xDFFF;&#x110000;&#0;&#x80;&#99999999999999999999;&#-1; last", words: "first last"},
	{name: "a pair of surrogates", body: "<p>first&#xD83D;&#xDE00;last", words: "first last"},
	{name: "zero bytes", body: "<p>fi\x00rst</p\x00>" + repeat("\x00", 10*many) + "<\x00p>la\x00st", words: "first last"},
	{name: "controls", body: "<p>first\x01\x02\x0B\x0C\x1F\x7F\u0085\u200E\u202E\u2066 last", words: "first last"},
	{name: "marks on one letter", body: "<p>first e" + repeat("\u0301", many) + " last", words: "first last"},
	{name: "white space", body: "<p>first" + repeat(" \u00A0\u2003\n\t", many) + "last", words: "first last"},
	{name: "white space in code", body: "<pre>first" + repeat(" \n\t", many) + "last", words: "first last"},
	{name: "one word", body: "<p>first " + repeat("x", 20*many), words: "first"},
	{name: "too much text", body: "<p>first" + repeat(" x y z", MaxBody/5), words: "first", omitted: []string{"text beyond 4 MiB"}},
	{name: "too many headings", body: repeat("<h2>x</h2>", MaxHeadings+5) + "last", words: "last", omitted: []string{"5 of 10005 headings"}},
	{name: "bad UTF-8", body: "<p>first \xFF\xFE\xC0\xAF\xED\xA0\x80\xF4\x90\x80\x80\xE3\x81 last", words: "first last"},
	{name: "lists of JSON-LD", body: "<script type=application/ld+json>" + repeat("[", many) + "</script><p>last", words: "last", omitted: []string{"JSON-LD beyond 64 levels"}},
	{name: "objects of JSON-LD", body: "<script type=application/ld+json>" + repeat(`{"@graph":`, many/4) + "1" + repeat("}", many/4) + "</script><p>last", words: "last", omitted: []string{"JSON-LD beyond 64 levels"}},
	{name: "keys of JSON-LD", body: "<script type=application/ld+json>{" + numbered(`"%d":1,`, many) + `"a":1}</script><p>last`, words: "last", omitted: []string{"or 50000 values"}},
	{name: "too much JSON-LD", body: "<script type=application/ld+json>{" + numbered(`"%d":1,`, 4*many) + `"a":1}</script><p>last`, words: "last", omitted: []string{"bytes of JSON-LD"}},
	{name: "JSON-LD that is none", body: "<script type=application/ld+json>{\"a\":\x00\xFF nonsense</script><script type=application/ld+json></script><p>last", words: "last"},
	{name: "JSON-LD of odd types", body: `<script type=application/ld+json>{"@type":{"@type":[[1]]},"author":[[]],"datePublished":7,"@graph":"x","description":[{"name":[{"name":1}]}]}</script><p>last`, words: "last"},
	{name: "JSON-LD never closed", body: "<p>first<script type=application/ld+json>{\"name\":\"x\"}", words: "first"},
	{name: "scripts of JSON-LD", body: repeat(`<script type=application/ld+json>{"@type":"Person"}</script>`, many/10) + "<p>last", words: "last"},
	{name: "many meta elements", body: repeat("<meta name=a content=b>", many) + repeat("<link rel=canonical href=x>", many/2) + "<p>last", words: "last", omitted: []string{"74488 meta and link elements"}},
	{name: "robots of many words", body: "<meta name=robots content='" + repeat("noindex,", many) + "'><p>last", words: "last", omitted: []string{"the end of 1 attributes"}},
	{name: "refresh", body: `<meta http-equiv=refresh content=";;url="><meta http-equiv=refresh content="0;url='"><meta http-equiv=refresh content="0; URL = 'x"><p>last`, words: "last"},
	{name: "bases", body: "<base href='javascript:x'><base href='http://[::1'><base href='//'><a href=x>first</a><a href='http://%zz/'>last</a>", words: "first last"},
	{name: "a base of a long path", body: "<base href='http://b.test/" + repeat("x/", 1000) + "'>" + numbered("<a href=%d>x</a>", many/2) + "<p>last", words: "last", omitted: []string{"addresses beyond 16 MiB"}},
	{name: "canonical addresses", body: "<link rel=canonical href='http://'><link rel='canonical canonical' href=:><link rel=canonical><p>last", words: "last"},
	{name: "languages", body: "<html lang='" + repeat("x-", many) + "'><html lang=de><body lang=fr><p>last", words: "last"},
}

// badMedia are bad pages of other media types and charsets than HTML in UTF-8.
var badMedia = []badInput{
	{name: "two byte order marks", body: "\uFEFF\uFEFF<p>first\uFEFF last", words: "first last"},
	{name: "a wide mark before UTF-8", body: "\xFF\xFE<p>first last", media: "text/html"},
	{name: "UTF-16", body: "\xFF\xFE" + wide("<p>first 日本 last", false), words: "first 日本 last"},
	{name: "UTF-16 cut in a character", body: "\xFE\xFF" + wide("<p>first last", true) + "\x00", words: "first last"},
	{name: "UTF-16 cut in a pair", body: "\xFF\xFE" + wide("<p>first ", false) + "\x3D\xD8", words: "first"},
	{name: "UTF-16 that is UTF-8", body: "<p>first last", media: "text/html; charset=utf-16", words: "first last"},
	{name: "a charset of nonsense", body: "<meta charset='" + repeat("x", many) + "'><p>last", media: "text/html; charset=\"\xFF", words: "last"},
	{name: "many charsets", body: repeat("<meta charset=utf-7>", many/10) + "<p>last", words: "last", omitted: []string{"4744 meta"}},
	{name: "an escape never ended", body: "<p>first \x1B$B\x24", media: "text/html; charset=iso-2022-jp", words: "first"},
	{name: "half a character", body: "<p>first \x81", media: "text/html; charset=shift_jis", words: "first"},
	{name: "text of zeros", media: "text/plain", body: "first " + repeat("\x00", many) + " last", fails: true},
	{name: "text of much", media: "text/plain", body: "first" + repeat(" word", MaxBody/5+1), words: "first", omitted: []string{"bytes of text"}},
	{name: "text of one line", media: "text/plain", body: "first " + repeat("x", 20*many), words: "first"},
	{name: "XML that is none", media: "application/xml", body: "<?xml version='1.0' encoding='" + repeat("x", many) + "'?><a><b>last", words: "last"},
	{name: "XML in XML", media: "application/xhtml+xml", body: repeat("<x:y>", many) + "last", words: "last"},
	{name: "entities of entities", media: "application/xml", body: "<!DOCTYPE x [<!ENTITY a 'x'>" + numbered("<!ENTITY b%d '&a;&a;&a;&a;&a;&a;'>", 1000) + "]><doc>&b999; last", words: "last"},

	{name: "a feed of open entries", media: "application/rss+xml", body: "<rss>" + repeat("<item><title>x", many/4) + "<item><title>last", words: "x"},
	{name: "a feed of empty entries", media: "application/rss+xml", body: "<rss>" + repeat("<item/>", many) + "<item><description>last</description></item>", words: "last"},
	{name: "a feed in a feed", media: "application/rss+xml", body: repeat("<rss><channel>", many/4) + "<item><description>last</description></item>", words: "last"},
	{name: "a feed of bad markup", media: "application/rss+xml", body: "<rss><item><description><![CDATA[" + repeat("<b><p>x</b>", many/4) + "last]]></description></item>", words: "last"},
	{name: "a feed escaped twice", media: "application/rss+xml", body: "<rss><item><description>" + repeat("&amp;lt;p&amp;gt;", many/4) + "last</description></item>", words: "last"},
	{name: "a feed of a section never closed", media: "application/rss+xml", body: "<rss><item><description><![CDATA[first " + repeat("<![CDATA[", many/4), words: "first"},
	{name: "a feed of deep markup", media: "application/atom+xml", body: "<feed><entry><content type=xhtml>" + repeat("<div>", many) + "last", words: "last"},
	{name: "a feed of much", media: "application/rss+xml", body: "<rss><item><title>first</title></item>" + repeat("<item><description>"+repeat("some words ", 10)+"</description></item>", many), words: "first", omitted: []string{"text beyond 4 MiB"}},
	{name: "a feed of one title", media: "application/rss+xml", body: "<rss><title>" + repeat("word ", many) + "</title><item><description>last</description></item>", words: "last"},

	{name: "an archive cut in the middle", media: office.DOCX, body: "PK\x03\x04" + repeat("x", 1000), fails: true},
	{name: "an archive of a directory alone", media: office.DOCX, body: "PK\x05\x06" + repeat("\x00", 18), fails: true},
	{name: "a compound file of nothing", media: "application/msword", body: oleOf("WordDocument")[:600], fails: true},
	{name: "an image", media: "text/html", body: "\x89PNG\r\n\x1A\n" + repeat("<p>", many), fails: true},
}

// badOffice returns damaged or extreme office documents, which are zip archives.
func badOffice(t testing.TB) (all []badInput) {
	add := func(name, media, words string, members ...string) {
		c := badInput{name: name, media: media, words: words, body: zipOf(t, members...)}
		for _, m := range members {
			c.size += len(m)
		}
		all = append(all, c)
	}
	word := func(name, body, words string, members ...string) {
		add(name, office.DOCX, words, slices.Concat([]string{
			`_rels/.rels: <Relationship Type="x/officeDocument" Target="word/document.xml"/>`, "word/document.xml: " + body}, members)...)
	}
	word("a document never closed", repeat("<w:p><w:r><w:t>x", many)+"</w:t><w:t>last", "x last")
	word("a document in a document", repeat("<w:body><w:tbl>", many/2)+"<w:p><w:t>last</w:t>", "last")
	word("a document of deletions", "<w:t>first</w:t>"+repeat("<w:del><w:t>x", many/2), "first")
	word("a document of links to itself", repeat(`<w:hyperlink r:id="1"><w:t>x</w:t></w:hyperlink>`, many/10)+"<w:t>last</w:t>", "last",
		`word/_rels/document.xml.rels: <Relationship Id="1" Type="x/hyperlink" TargetMode="External" Target="`+repeat("http://", 10)+`"/>`)
	word("styles and notes of themselves", "<w:t>last</w:t>", "last", "word/_rels/document.xml.rels: "+
		repeat(`<Relationship Type="x/styles" Target="document.xml"/><Relationship Type="x/footnotes" Target="document.xml"/>`, 50))
	word("entities", `<!DOCTYPE x [<!ENTITY a "&a;&a;">]><w:t>`+repeat("&a;", many)+" last</w:t>", "last")

	sheet := func(name, strings, cells, words string) {
		add(name, office.XLSX, words,
			`_rels/.rels: <Relationship Type="x/officeDocument" Target="xl/workbook.xml"/>`,
			`xl/workbook.xml: <sheet name="First" r:id="1"/>`,
			`xl/_rels/workbook.xml.rels: <Relationship Id="1" Type="x/worksheet" Target="s.xml"/><Relationship Type="x/sharedStrings" Target="t.xml"/>`,
			"xl/s.xml: "+cells, "xl/t.xml: "+strings)
	}
	sheet("a cell of many runs", "<si>"+repeat("<r><t>x</t></r>", many)+"<t>last</t></si>", `<c t="s"><v>0</v></c>`, "First last")
	sheet("cells of texts that are not there", "<si><t>x</t></si>", repeat(`<c t="s"><v>-1</v></c><c t="s"><v>99999999999999999999</v></c><c t="s"><v>x</v></c>`, many/10)+"<t>last</t>", "last")
	sheet("rows never closed", "", repeat("<row><c><v>1", many/2)+"<t>last", "First")

	slides := numbered(`<p:sldId r:id="%d"/>`, many/10)
	add("one slide many times", office.PPTX, "last",
		`_rels/.rels: <Relationship Type="x/officeDocument" Target="ppt/presentation.xml"/>`,
		"ppt/presentation.xml: "+repeat(`<p:sldId r:id="1"/>`, many/10)+slides,
		`ppt/_rels/presentation.xml.rels: <Relationship Id="1" Target="s.xml"/>`, "ppt/s.xml: <a:t>last</a:t>")
	add("one chapter many times", office.EPUB, "last",
		"mimetype: "+office.EPUB, `META-INF/container.xml: <rootfile full-path="o/p.opf"/>`,
		`o/p.opf: <item id="1" href="c.xhtml"/>`+repeat(`<itemref idref="1"/><itemref idref="2"/>`, many/20), "o/c.xhtml: <p>last</p>")
	add("a package of itself", office.EPUB, "",
		"mimetype: "+office.EPUB, `META-INF/container.xml: <rootfile full-path="o/p.opf"/>`, `o/p.opf: <item id="1" href="p.opf"/><itemref idref="1"/>`)
	odt := func(name, content, words string) {
		add(name, office.ODT, words, "mimetype: "+office.ODT, "content.xml: "+content)
	}
	odt("rows that end before they begin", repeat("</table:table-row>", many/4)+"<text:p>last</text:p>", "last")
	odt("headings of odd levels", `<text:h text:outline-level="-9999999999999999999">first</text:h><text:h text:outline-level="x">last</text:h>`, "first last")
	odt("notes never closed", "<text:p>first</text:p>"+repeat("<office:annotation>", many), "first")

	// Archives with wrong lengths of a member or of the directory, or a wrong place of the directory.
	whole := zipOf(t, "mimetype: "+office.ODT, "content.xml: <text:p>"+repeat("first ", 1000)+"</text:p>")
	at := strings.LastIndex(whole, "PK\x05\x06")
	central := strings.LastIndex(whole, "PK\x01\x02")
	for name, lie := range map[string]struct {
		at    int
		bytes string
		fails bool
	}{
		"the number of members":   {at + 10, "\xFF\xFF", true},
		"the size of a directory": {at + 12, "\xFF\xFF\xFF\x7F", true},
		"the place of one":        {at + 16, "\xFF\xFF\xFF\x7F", true},
		"the size of a member":    {central + 24, "\xFF\xFF\xFF\x7F", false},
		"its compressed size":     {central + 20, "\x05\x00\x00\x00", false},
		"its place":               {central + 42, "\xFF\xFF\xFF\x7F", false},
		"its checksum":            {central + 16, "\x00\x00\x00\x00", false},
		"its method":              {central + 10, "\x63\x00", false},
		"the length of its name":  {central + 28, "\xFF\xFF", true},
	} {
		b := []byte(whole)
		copy(b[lie.at:], lie.bytes)
		all = append(all, badInput{name: "an archive that lies about " + name, media: office.ODT, body: string(b), fails: lie.fails})
	}
	return all
}

// nests returns, for each of many names of elements, a page with elements of this name deeply
// nested.
func nests() (all []badInput) {
	for name := range strings.FieldsSeq("a abbr article aside b blockquote body button caption center code dd details dialog div dl dt em fieldset figcaption figure " +
		"font footer form h1 h6 head header html i label li main mark menu nav object ol optgroup option p pre q ruby s section small span strong sub summary " +
		"table tbody td tfoot th thead tr tt u ul var video x-custom") {
		c := badInput{name: "nested " + name, body: "<p>first</p>" + repeat("<"+name+" href=x>", many/4) + "last" + repeat("</"+name+">", many/4), words: "first last"}
		switch name {
		case "aside", "footer", "header", "menu", "nav": // navigation, which may be left out
			c.words = "first"
		}
		all = append(all, c)
	}
	return all
}

// TestBadInput reads pages with invalid or extreme content. It checks that readable words are
// found, that Omitted names whatever a limit cut off, and that the memory taken is proportional to
// the size of the page.
func TestBadInput(t *testing.T) {
	base, err := address.Parse("http://a.test/b")
	if err != nil {
		t.Fatal(err)
	}
	cases := slices.Concat(badMarkup, badMedia, nests(), badOffice(t))
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.media == "" {
				c.media = "text/html"
			}
			before := allocated()
			d, err := Read([]byte(c.body), c.media)
			if err != nil {
				if !c.fails || strings.Contains(err.Error(), "panic") {
					t.Fatal(err)
				}
				return
			}
			if c.fails {
				t.Fatalf("read as %+v", d.Content())
			}
			content := d.Content()
			d.Links(base)
			d.Images(base, content)
			d.Digest()
			page := d.Structured(base)
			markdown, text := page.Markdown(), page.Text()
			taken := allocated() - before
			most := uint64(1000*max(len(c.body), c.size) + 64<<20) // the costliest take 600 times their size
			t.Logf("%d bytes: %d taken, %.1f times", len(c.body), taken, float64(taken)/float64(len(c.body)))
			if taken > most {
				t.Errorf("%d bytes take %d, want at most %d", len(c.body), taken, most)
			}
			all := content.Title + "\n" + content.Body + "\n" + content.Outside
			for word := range strings.FieldsSeq(c.words) {
				if !strings.Contains(all, word) {
					t.Errorf("%q is lost in %.200q", word, all)
				}
			}
			for _, s := range []string{all, markdown, text} {
				if !utf8.ValidString(s) {
					t.Error("a text is not UTF-8")
				}
			}
			for _, part := range c.omitted {
				if !slices.ContainsFunc(d.Omitted, func(told string) bool { return strings.Contains(told, part) }) {
					t.Errorf("%q is not told in %q", part, d.Omitted)
				}
			}
			if len(c.omitted) == 0 && len(d.Omitted) > 0 {
				t.Errorf("left out: %q", d.Omitted)
			}
		})
	}
	if len(cases) < 60 {
		t.Errorf("%d cases", len(cases))
	}
}

// allocated returns the number of bytes that the program has allocated since it began, freed ones
// included.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestCutAnywhere cuts pages off at every offset. All words before the cut must be found.
func TestCutAnywhere(t *testing.T) {
	for name, c := range map[string]struct{ media, page string }{
		"HTML": {"text/html", `<!doctype html><html lang="en"><head><meta charset=utf-8><title>word00 &amp; x</title><style>p > a {}</style>` +
			`<script>if (a < b) "</p>"</script><link rel=canonical href="http://a.test/?x=1&amp;y"><script type=application/ld+json>{"name": "x"}</script></head>` +
			`<body class='a b'><!-- a comment --><h1 id=top>word01</h1><p>word02 &lt;&#x41;&nbsp;<b>word03</b> <a href='/é?x=&quot;' title="t">wörd04</a> 日本語 <br/>word05` +
			`<svg viewBox="0 0 1 1"><![CDATA[ word06 ]]><text>word07</text></svg><table><tr><td>word08<td>word09</table>` +
			`<textarea>&lt;</textarea><pre>word10` + "\n" + `</pre><ul><li>word11<li>word12</ul><template><p>x</template><noscript>y</noscript><p>word13</p></body></html>`},
		"RSS": {"application/rss+xml", `<?xml version="1.0"?><rss version="2.0"><channel><title>word00</title><link>http://a.test/</link><!-- c -->` +
			`<item><title>word01 &amp;</title><link>http://a.test/1</link><description>word02 &lt;b&gt;word03&lt;/b&gt;</description></item>` +
			`<item><title><![CDATA[word04]]></title><description><![CDATA[<p>word05 é</p>]]></description></item></channel></rss>`},
	} {
		t.Run(name, func(t *testing.T) {
			for end := range len(c.page) + 1 {
				page := c.page[:end]
				d, err := Read([]byte(page), c.media)
				if err != nil {
					t.Fatalf("cut at %d: %v", end, err)
				}
				content := d.Content()
				all := content.Title + "\n" + content.Body + "\n" + content.Outside
				for number := 0; ; number++ {
					word := fmt.Sprintf("rd%02d", number)
					at := strings.Index(page, word)
					if at < 0 {
						break
					}
					if at+len(word) < end && !strings.Contains(all, word) {
						t.Errorf("cut behind %.40q: %q is lost in %q", page[max(0, end-40):], word, all)
					}
				}
			}
		})
	}
}
