package document

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sectionsOf returns the sections of a content, each as "#fragment heading: beginning of its text".
func sectionsOf(c Content) (all []string) {
	for _, s := range c.Sections {
		text, _, _ := strings.Cut(c.Body[s.Start:], "\n")
		all = append(all, fmt.Sprintf("#%s %s: %s", s.Fragment, c.Headings[s.Heading], text))
	}
	return all
}

// TestSections reads pages as common generators of documentation make them, and checks the addresses of
// their sections.
func TestSections(t *testing.T) {
	text := func(about string) string {
		return "<p>" + strings.Repeat("This sentence is about "+about+", and says what there is to say of it. ", 3) + "</p>"
	}
	for name, c := range map[string]struct {
		page string
		want []string
	}{
		"Sphinx": {`<div class="body" role="main"><section id="pools"><h1>Pools<a class="headerlink" href="#pools">¶</a></h1>` + text("pools") +
			`<section id="sizes"><span id="pool-sizes"></span><h2>Sizes<a class="headerlink" href="#sizes">¶</a></h2>` + text("sizes") +
			`<section id="limits"><h3>Limits<a class="headerlink" href="#limits">¶</a></h3>` + text("limits") + `</section></section></section></div>`,
			[]string{"#pool-sizes Sizes: Sizes", "#limits Limits: Limits"}},
		"Sphinx before version 4": {`<div class="section" id="pools"><h1>Pools</h1>` + text("pools") + `<div class="section" id="sizes"><h2>Sizes</h2>` + text("sizes") + `</div></div>`,
			[]string{"#sizes Sizes: Sizes"}},
		"DocBook with names": {`<div class="chapter"><div class="titlepage"><div><div><h1 class="title"><a name="pools"></a>Pools</h1></div></div></div>` + text("pools") +
			`<div class="sect1"><div class="titlepage"><div><div><h2 class="title" style="clear: both"><a name="SIZES"></a>Sizes</h2></div></div></div>` + text("sizes") + `</div></div>`,
			[]string{"#SIZES Sizes: Sizes"}},
		"DocBook with ids": {`<div class="sect1" id="POOLS"><div class="titlepage"><div><div><h1 class="title">Pools</h1></div></div></div>` + text("pools") +
			`<div class="sect2" id="SIZES"><div class="titlepage"><div><div><h3 class="title">Sizes <a href="#SIZES" class="id_link">#</a></h3></div></div></div>` + text("sizes") + `</div></div>`,
			[]string{"#SIZES Sizes: Sizes"}},
		"Doxygen": {`<h1>Pool Class</h1>` + text("pools") + `<h2 class="groupheader"><a name="details" id="details"></a>Detailed Description</h2>` + text("details") +
			`<a id="a1f2" name="a1f2"></a><h2 class="memtitle"><span class="permalink"><a href="#a1f2">◆&#160;</a></span>size()</h2>` + text("size"),
			[]string{"#details Detailed Description: Detailed Description", "#a1f2 ◆ size(): ◆ size()"}},
		"MDN": {`<main id="content"><article><h1>Pools</h1>` + text("pools") + `<section aria-labelledby="sizes"><h2 id="sizes"><a href="#sizes">Sizes</a></h2>` + text("sizes") + `</section></article></main>`,
			[]string{"#sizes Sizes: Sizes"}},
		"MediaWiki": {`<h1 id="firstHeading">Pool</h1><div id="mw-content-text">` + text("pools") + `<h2><span id="Gr.C3.B6.C3.9Fe"></span><span class="mw-headline" id="Größe">Größe</span><span class="mw-editsection">[edit]</span></h2>` + text("sizes") +
			`<div class="mw-heading mw-heading2"><h2 id="See_also">See also</h2></div>` + text("others") + `</div>`,
			[]string{"#Größe Größe[edit]: Größe[edit]", "#See_also See also: See also"}},
		"GitHub": {`<article><div class="markdown-heading"><h1 class="heading-element">Pools</h1><a id="user-content-pools" class="anchor" href="#pools"></a></div>` + text("pools") +
			`<h2><a id="user-content-sizes" class="anchor" aria-hidden="true" href="#sizes"></a>Sizes</h2>` + text("sizes") +
			`<div class="markdown-heading"><h2 class="heading-element">Limits</h2><a id="user-content-limits" class="anchor" href="#limits"></a></div>` +
			`<div class="markdown-heading"><h3 class="heading-element">Soft</h3><a id="user-content-soft" class="anchor" href="#soft"></a></div>` + text("soft limits") + `</article>`,
			[]string{"#user-content-sizes Sizes: Sizes", "#user-content-limits Limits: Limits", "#user-content-soft Soft: Soft"}},
		"Javadoc 8": {`<h2 title="Class Pool">Class Pool</h2>` + text("pools") + `<ul class="blockList"><li class="blockList"><a name="size-int-"><!-- --></a><ul class="blockList"><li class="blockList"><h4>size</h4>` + text("size") + `</li></ul></li></ul>`,
			[]string{"#size-int- size: size"}},
		"Javadoc 17": {`<h1 class="title">Class Pool</h1>` + text("pools") + `<section class="method-details" id="method-detail"><h2>Method Details</h2><section class="detail" id="size(int)"><h3>size</h3>` + text("size") + `</section></section>`,
			[]string{"#method-detail Method Details: Method Details", "#size(int) size: size"}},
		"rustdoc": {`<h1>Struct Pool</h1>` + text("pools") + `<section id="method.size" class="method"><h4 class="code-header">pub fn size(&amp;self)</h4></section>` + text("size"),
			[]string{"#method.size pub fn size(&self): pub fn size(&self)"}},
		"Qt": {`<h1 class="title">Pool Class</h1>` + text("pools") + `<a name="details"></a><!-- @@@Pool --><div class="descr"><h2 id="details">Detailed Description</h2>` + text("details") + `</div>`,
			[]string{"#details Detailed Description: Detailed Description"}},
		"manual page": {`<h1>pool</h1>` + text("pools") + `<h2>OPTIONS<a name="OPTIONS"></a></h2>` + text("options") + `<h2>FILES<a name="FILES"></a></h2>` + text("files"),
			[]string{"#OPTIONS OPTIONS: OPTIONS", "#FILES FILES: FILES"}},
		"headings without addresses": {`<h1>Pools</h1>` + text("pools") + `<h2 id="sizes">Sizes</h2>` + text("sizes") + `<div class="note"><h3>Note</h3>` + text("notes") + `</div>` + text("more") + `<h2 id="limits">Limits</h2>` + text("limits"),
			[]string{"#sizes Sizes: Sizes", "#limits Limits: Limits"}},
		"title of level 2": {`<main><h2 id="pools">Pools</h2>` + text("pools") + `<h3 id="limits">Limits</h3>` + text("limits") + `</main>`,
			[]string{"#limits Limits: Limits"}},
		"no addresses":           {`<h1>Pools</h1>` + text("pools") + `<h2>Sizes</h2>` + text("sizes"), nil},
		"address of a paragraph": {`<h1>Pools</h1><p id="p1">` + strings.TrimPrefix(text("pools"), "<p>") + `<h2>Sizes</h2>` + text("sizes"), nil},
		"an address twice":       {`<h1>Pools</h1><p id="sizes">` + strings.TrimPrefix(text("pools"), "<p>") + `<h2 id="sizes">Sizes</h2>` + text("sizes"), nil},
		"hidden anchor":          {`<h1>Pools</h1>` + text("pools") + `<a hidden id="x"></a><h2>Sizes</h2>` + text("sizes"), nil},
		"reference in an id":     {`<h1>Pools</h1>` + text("pools") + `<h2 id="a&amp;b">Sizes</h2>` + text("sizes"), []string{"#a&b Sizes: Sizes"}},
	} {
		t.Run(name, func(t *testing.T) {
			page := "<!doctype html><html><body>" + c.page
			if diff := cmp.Diff(c.want, sectionsOf(Parse([]byte(page)).Content())); diff != "" {
				t.Errorf("sections (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTitleOutsideOfTheMainPart checks that the first heading of the main part begins a section if the
// title of the page is another heading.
func TestTitleOutsideOfTheMainPart(t *testing.T) {
	page := "<h2>Pools</h2><h3 id=sizes>Sizes</h3><p>text</p><h3 id=limits>Limits</h3><p>text</p>"
	content := Parse([]byte(page)).contentOf([]bool{false, true, true, true, true}, false)
	if diff := cmp.Diff([]string{"#sizes Sizes: Sizes", "#limits Limits: Limits"}, sectionsOf(content)); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
}

// TestSectionsWithout checks that sections follow their headings when repeated blocks are moved out of
// the main part.
func TestSectionsWithout(t *testing.T) {
	page := "<h1>Site</h1><p>menu</p><h1>One</h1><p>two</p><h2 id=a>Three</h2><p>four</p><h2 id=b>Legal notice</h2><p>imprint</p>"
	content := Parse([]byte(page)).contentOf([]bool{true, true, true, true, true, true, true, true}, false)
	repeated := map[uint64]bool{}
	for _, i := range []int{0, 1, 6, 7} {
		repeated[content.Blocks[i].Hash] = true
	}
	if diff := cmp.Diff([]string{"#a Three: Three", "#b Legal notice: Legal notice"}, sectionsOf(content)); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
	got := content.Without(func(hash uint64) bool { return repeated[hash] })
	if diff := cmp.Diff([]string{"#a Three: Three"}, sectionsOf(got)); diff != "" || got.Body != "One\ntwo\nThree\nfour" {
		t.Errorf("sections of %q (-want +got):\n%s", got.Body, diff)
	}
}

// TestFragmentsBeyondTheLimit checks that Document.Omitted tells how many anchors and fragments are beyond the
// limits.
func TestFragmentsBeyondTheLimit(t *testing.T) {
	var page strings.Builder
	page.WriteString("<h1>Pools</h1><p id=" + strings.Repeat("x", 301) + ">text")
	for i := range MaxFragments/200 + 3 {
		fmt.Fprintf(&page, "<h2 id=%0200d>Part %d</h2><p>text", i, i)
	}
	d := Parse([]byte(page.String()))
	want := []string{"1 anchors beyond 100000, or with names beyond 300 bytes", "the fragments of 3 headings beyond 128 KiB"}
	if diff := cmp.Diff(want, d.Omitted); diff != "" {
		t.Errorf("omitted (-want +got):\n%s", diff)
	}
}
