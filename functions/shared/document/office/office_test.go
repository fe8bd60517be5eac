package office

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// archiveOf returns a zip archive with the members, which are given as "name: content".
func archiveOf(t testing.TB, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		name, content, _ := strings.Cut(m, ": ")
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const core = `docProps/core.xml: <cp:coreProperties><dc:title>The title</dc:title><dc:language>de-AT</dc:language><dcterms:modified>2026-11-26T10:00:00Z</dcterms:modified></cp:coreProperties>`

func rels(part string, relations ...string) string {
	out := part + `: <Relationships>`
	for _, r := range relations {
		id, rest, _ := strings.Cut(r, " ")
		kind, target, _ := strings.Cut(rest, " ")
		mode := ""
		if strings.Contains(target, "://") {
			mode = ` TargetMode="External"`
		}
		out += `<Relationship Id="` + id + `" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/` + kind + `" Target="` + target + `"` + mode + `/>`
	}
	return out + `</Relationships>`
}

var docx = []string{
	rels("_rels/.rels", "r1 officeDocument word/document2.xml"), core,
	rels("word/_rels/document2.xml.rels", "s styles styles.xml", "l hyperlink https://a.test/?x=1&amp;y", "f footnotes /word/footnotes.xml", "m hyperlink mailto://x"),
	`word/styles.xml: <w:styles><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Mine"><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style></w:styles>`,
	`word/footnotes.xml: <w:footnotes><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnotes>`,
	`word/document2.xml: <w:document><w:body>
<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>Chap</w:t></w:r><w:r><w:t>ter</w:t></w:r></w:p>
<w:p><w:pPr><w:pStyle w:val="Mine"/></w:pPr><w:r><w:t>Third level</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">Go </w:t></w:r><w:hyperlink r:id="l"><w:r><w:t>there</w:t></w:r></w:hyperlink><w:r><w:tab/><w:t>now</w:t></w:r>
<w:hyperlink r:id="m"><w:r><w:t>mail</w:t></w:r></w:hyperlink><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>
<mc:AlternateContent><mc:Choice><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>twice</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>
</w:body></w:document>`,
}

var pptx = []string{
	rels("_rels/.rels", "r1 officeDocument ppt/presentation.xml"), core,
	rels("ppt/_rels/presentation.xml.rels", "a slide slides/slide1.xml", "b slide slides/slide2.xml", "c slide slides/slide3.xml"),
	`ppt/presentation.xml: <p:presentation><p:sldIdLst><p:sldId id="256" r:id="b"/><p:sldId id="257" r:id="a"/><p:sldId id="258" r:id="c"/></p:sldIdLst></p:presentation>`,
	rels("ppt/slides/_rels/slide2.xml.rels", "l hyperlink http://a.test/", "n notesSlide ../notesSlides/notesSlide1.xml"),
	`ppt/notesSlides/notesSlide1.xml: <p:notes><p:sp><a:p><a:r><a:t>Say hello</a:t></a:r><a:fld><a:t>7</a:t></a:fld></a:p></p:sp></p:notes>`,
	`ppt/slides/slide1.xml: <p:sld><p:sp><a:p><a:r><a:t>last</a:t></a:r></a:p></p:sp></p:sld>`,
	`ppt/slides/slide2.xml: <p:sld><p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>Welcome</a:t></a:r></a:p></p:txBody></p:sp>
<p:sp><a:p><a:r><a:rPr><a:hlinkClick r:id="l"/></a:rPr><a:t>first </a:t></a:r><a:r><a:t>point</a:t></a:r></a:p></p:sp></p:sld>`,
	`ppt/slides/slide3.xml: <p:sld show="0"><p:sp><a:p><a:r><a:t>hidden</a:t></a:r></a:p></p:sp></p:sld>`,
}

var xlsx = []string{
	rels("_rels/.rels", "r1 officeDocument xl/workbook.xml"), core,
	rels("xl/_rels/workbook.xml.rels", "a worksheet worksheets/sheet1.xml", "b worksheet worksheets/sheet2.xml", "s sharedStrings sharedStrings.xml"),
	`xl/workbook.xml: <x:workbook><x:sheets><x:sheet name="Prices" r:id="a"/><x:sheet name="Secret" state="hidden" r:id="b"/></x:sheets></x:workbook>`,
	`xl/sharedStrings.xml: <sst><si><t>name</t></si><si><r><t>Tokyo</t></r><r><t>To</t></r><rPh><t>reading</t></rPh></si></sst>`,
	rels("xl/worksheets/_rels/sheet1.xml.rels", "l hyperlink http://a.test/"),
	`xl/worksheets/sheet1.xml: <worksheet><sheetData><row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>
<row><c><f>A1*2</f><v>42</v></c><c t="inlineStr"><is><t>in line</t></is></c><c t="s"><v>99</v></c></row></sheetData>
<hyperlinks><hyperlink ref="A1" r:id="l" display="site"/></hyperlinks></worksheet>`,
	`xl/worksheets/sheet2.xml: <worksheet><row><c><v>666</v></c></row></worksheet>`,
}

const meta = `meta.xml: <office:document-meta><office:meta><dc:title>The title</dc:title><dc:language>de-AT</dc:language><dc:date>2026-11-26T10:00:00</dc:date></office:meta></office:document-meta>`

var odt = []string{
	"mimetype: " + ODT, meta,
	`content.xml: <office:document-content><office:automatic-styles><style:p>no</style:p></office:automatic-styles><office:body><office:text>
<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>
<text:h text:outline-level="1">Chapter</text:h><text:p>Go <text:a xlink:href="https://a.test/?x=1&amp;y">there</text:a><text:tab/>now<office:annotation><text:p>remark</text:p></office:annotation></text:p>
<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>
</office:text></office:body></office:document-content>`,
}

var odp = []string{
	"mimetype: " + ODP + "-template", meta,
	`content.xml: <office:presentation><draw:page><draw:frame presentation:class="title"><text:p>Welcome</text:p></draw:frame><draw:frame><text:p>first point</text:p></draw:frame></draw:page></office:presentation>`,
}

var epub = []string{
	"mimetype: " + EPUB,
	`META-INF/container.xml: <container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
	`OEBPS/book.opf: <package><metadata><dc:title>The title</dc:title><dc:language>de-AT</dc:language><dc:date>2026-11-26</dc:date></metadata><manifest>
<item id="two" href="b.xhtml"/><item id="one" href="text/a%20b.xhtml"/></manifest><spine><itemref idref="one"/><itemref idref="two"/></spine></package>`,
	`OEBPS/text/a b.xhtml: <html><head><title>no</title></head><body><script src="x"/><h1>Chapter</h1><p>Go <a href="https://a.test/?x=1&amp;y">there</a> <a href="b.xhtml">on</a></p></body></html>`,
	`OEBPS/b.xhtml: <html><body><p>The <ruby>end<rt>no</rt></ruby></p></body></html>`,
}

const there = `<a href="https://a.test/?x=1&amp;y">there</a>`

func TestHTML(t *testing.T) {
	for name, c := range map[string]struct {
		members []string
		media   string
		want    []string // in order
	}{
		"DOCX": {docx, DOCX, []string{"<h1>Chapter</h1>", "<h3>Third level</h3>", "Go " + there + " now", "mail<br>", "box<br>", "A note.<br>"}},
		"PPTX": {pptx, PPTX, []string{"<h1>Welcome</h1>", `<a href="http://a.test/">first </a>point<br>`, "Say hello<br>", "last<br>"}},
		"XLSX": {xlsx, XLSX, []string{"<h2>Prices</h2>", "name TokyoTo <br>", "42 in line  <br>", `<a href="http://a.test/">site</a>`}},
		"ODT":  {odt, ODT, []string{"<h1>Chapter</h1>", "Go " + there + " now<br>", "a b <br>"}},
		"ODP":  {odp, ODP, []string{"<h1>Welcome</h1>", "first point<br>"}},
		"EPUB": {epub, EPUB, []string{"<h1>Chapter</h1>", "Go " + there + " on<br>", "The end<br>"}},
	} {
		t.Run(name, func(t *testing.T) {
			data := archiveOf(t, c.members...)
			if media := Type(data); media != c.media {
				t.Errorf("type %q", media)
			}
			b, err := HTML(data)
			if err != nil {
				t.Fatal(err)
			}
			page := string(b.HTML)
			at := 0
			for _, want := range append([]string{`lang="de-AT"`, `<title>The title</title><meta name="last-modified" content="2026-11-26`}, c.want...) {
				i := strings.Index(page[at:], want)
				if i < 0 {
					t.Fatalf("no %q after byte %d of\n%s", want, at, page)
				}
				at += i
			}
			for _, unwanted := range []string{"gone", "hidden", "twice", "Secret", "666", "reading", "A1*2", "remark", "no<", "mailto", "7<"} {
				if strings.Contains(page, unwanted) {
					t.Errorf("%q in\n%s", unwanted, page)
				}
			}
		})
	}
}

func TestNoDocument(t *testing.T) {
	many := make([]string, MaxMembers+1)
	for i := range many {
		many[i] = strings.Repeat("x", i%200+1) + "/" + strings.Repeat("y", i/200+1) + ": "
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":          {nil, "cannot read office document: zip: not a valid zip file"},
		"another archive":  {archiveOf(t, "main.go: package main"), "cannot read office document: the archive holds none that is known"},
		"too many members": {archiveOf(t, many...), "cannot read office document: zip of 10001 members, want at most 10000"},
		"binary workbook":  {archiveOf(t, rels("_rels/.rels", "r officeDocument xl/workbook.bin")), "cannot read office document: the archive holds none that is known"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := HTML(c.data)
			if err == nil {
				t.Fatal("read")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
			if media := Type(c.data); media != "" {
				t.Errorf("type %q", media)
			}
		})
	}
}

// TestBomb reads an EPUB whose members, decompressed, are together larger than the limit. The
// reading order also names one member a thousand times. Reading must stop at the limit.
func TestBomb(t *testing.T) {
	var manifest, spine strings.Builder
	bomb := append([]string{}, epub[:2]...)
	for i := range 40 {
		fmt.Fprintf(&manifest, `<item id="%d" href="%d"/>`, i, i)
		fmt.Fprintf(&spine, `<itemref idref="%d"/>`, i)
		bomb = append(bomb, fmt.Sprintf("OEBPS/%d: %s", i, strings.Repeat("<q/>", 10_000)))
	}
	bomb = append(bomb, "OEBPS/book.opf: <package><manifest>"+manifest.String()+"</manifest><spine>"+
		strings.Repeat(`<itemref idref="0"/>`, 1000)+spine.String()+"</spine></package>")
	a, err := open(archiveOf(t, bomb...))
	if err != nil {
		t.Fatal(err)
	}
	a.left = 1 << 20
	if page := a.book(); len(page.HTML) > 1000 || a.left != 0 || !a.cut {
		t.Errorf("%d bytes, %d left to read, cut %v", len(page.HTML), a.left, a.cut)
	}
}

func TestDamagedMemberGivesWhatComesBefore(t *testing.T) {
	a, err := open(archiveOf(t, "a: "+strings.Repeat("text ", 10_000)))
	if err != nil {
		t.Fatal(err)
	}
	a.members["a"].CRC32++
	if n := len(a.read("a")); n != 50_000 {
		t.Errorf("%d bytes", n)
	}
}

func FuzzHTML(f *testing.F) {
	for _, members := range [][]string{docx, pptx, xlsx, odt, odp, epub} {
		f.Add(archiveOf(f, members...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		page, err := HTML(data)
		if err == nil != (Type(data) != "") && bytes.HasPrefix(data, []byte("PK\x03\x04")) {
			t.Errorf("type %q, error %v", Type(data), err)
		}
		if len(page.HTML) > 9<<20 {
			t.Errorf("%d bytes", len(page.HTML))
		}
	})
}

// FuzzPart changes the content of one member of an archive, and then zips all members, so that the
// archive is valid. FuzzHTML changes bytes of the archive itself. Most of these changes only break
// the compression or the checksum of a member, and so seldom test what is done with its content.
func FuzzPart(f *testing.F) {
	for _, members := range [][]string{docx, pptx, xlsx, odt, odp, epub} {
		for i, m := range members {
			_, content, _ := strings.Cut(m, ": ")
			f.Add(uint8(i), content)
		}
	}
	f.Fuzz(func(t *testing.T, part uint8, content string) {
		for _, members := range [][]string{docx, pptx, xlsx, odt, odp, epub} {
			i := int(part) % len(members)
			name, _, _ := strings.Cut(members[i], ": ")
			changed := append([]string{}, members...)
			changed[i] = name + ": " + content
			_, _ = HTML(archiveOf(t, changed...))
		}
	})
}
