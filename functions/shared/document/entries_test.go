package document

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entriesOf returns the entries of a content, each as "#fragment term: end of its text".
func entriesOf(c Content) (all []string) {
	for _, e := range c.Entries {
		text := c.Body[e.Start:e.End]
		all = append(all, fmt.Sprintf("#%s %s: %s", e.Fragment, text[:e.Term], text[strings.LastIndexByte(text, '\n')+1:]))
	}
	return all
}

// TestEntries reads lists of terms as common generators of documentation make them.
func TestEntries(t *testing.T) {
	sentence := func(about string) string {
		return "<p>" + strings.Repeat("This sentence tells at some length of the "+about+". ", 4) + "It ends the " + about + ".</p>"
	}
	text := func(about string) string {
		return strings.TrimSuffix(strings.Repeat("This sentence tells at some length of the "+about+". ", 4)+"It ends the "+about+".", " ")
	}
	for name, c := range map[string]struct {
		list string
		want []string
	}{
		"Sphinx": {`<dl class="py function"><dt class="sig sig-object py" id="json.dump"><span class="pre">json.</span><span class="pre">dump</span>(<em>obj</em>)<a class="headerlink" href="#json.dump">¶</a></dt><dd>` + sentence("dump") + `</dd></dl>` + sentence("rest"),
			[]string{"#json.dump json.dump(obj): " + text("dump")}},
		"Sphinx with source code": {`<dl><dt id="f">f(<em>obj</em>)<a class="reference internal" href="_modules/f.html#f"><span class="viewcode-link"><span class="pre">[source]</span></span></a><a class="headerlink" href="#f">¶</a></dt><dd>` + sentence("f") + `</dd></dl>` + sentence("rest"),
			[]string{"#f f(obj): " + text("f")}},
		"link in brackets": {`<dl><dt id="l">list[<a href="int">int</a>]</dt><dd>` + sentence("list") + `</dd></dl>` + sentence("rest"),
			[]string{"#l list[int]: " + text("list")}},
		"citation": {`<dl><dt id="r"><a href="#id1">[RFC2616]</a></dt><dd>` + sentence("protocol") + `</dd></dl>` + sentence("rest"),
			[]string{"#r [RFC2616]: " + text("protocol")}},
		"Sphinx class": {`<dl class="py class"><dt id="W">class W</dt><dd>` + sentence("class") + `<dl class="py method"><dt id="W.open">open()</dt><dd>` + sentence("method") + `</dd></dl></dd></dl>` + sentence("rest"),
			[]string{"#W class W: " + text("method"), "#W.open open(): " + text("method")}},
		"DocBook": {`<dl class="variablelist"><dt id="GUC-PORT"><span class="term"><code>port</code> (<code>integer</code>)</span></dt><dd>` + sentence("port") + `</dd><dt><span class="term"><a name="GUC-HOST"></a><code>host</code></span></dt><dd>` + sentence("host") + `</dd></dl>` + sentence("rest"),
			[]string{"#GUC-PORT port (integer): " + text("host"), "#GUC-HOST host: " + text("host")}},
		"groups":             {`<dl><div><dt id="a">one</dt><dd>` + sentence("one") + `</dd></div><div><dt>two</dt><dd>` + sentence("two") + `</dd></div></dl>`, []string{"#a one: " + text("one")}},
		"heading as a term":  {`<dl><dt id="a"><h3>one</h3></dt><dd>` + sentence("one") + `</dd></dl>`, nil},
		"no address":         {`<dl><dt>one</dt><dd id="a">` + sentence("one") + `</dd></dl>`, nil},
		"an address twice":   {`<p id="a">first</p><dl><dt id="a">one</dt><dd>` + sentence("one") + `</dd></dl>`, nil},
		"in navigation":      {`<nav><dl><dt id="a">one</dt><dd>two</dd></dl></nav>`, nil},
		"long term":          {`<dl><dt id="a">` + strings.Repeat("é", 100) + `</dt><dd>` + sentence("one") + `</dd></dl>`, []string{"#a " + strings.Repeat("é", 40) + ": " + text("one")}},
		"long term of words": {`<dl><dt id="a">` + strings.Repeat("word ", 20) + `</dt><dd>` + sentence("one") + `</dd></dl>`, []string{"#a " + strings.Repeat("word ", 15) + "word: " + text("one")}},
	} {
		page := `<!doctype html><html><body><div class="body" role="main"><h1>Pools</h1>` + sentence("pools") + c.list + "</div>"
		content := Parse([]byte(page)).Content()
		if diff := cmp.Diff(c.want, entriesOf(content)); diff != "" {
			t.Errorf("%s: entries (-want +got):\n%s", name, diff)
		}
		for _, h := range content.Headings {
			if strings.HasPrefix(h, "json") {
				t.Errorf("%s: the term %q is a heading", name, h)
			}
		}
	}
}

// TestEntriesWithout checks that entries follow their terms when repeated blocks are moved out of the main
// part.
func TestEntriesWithout(t *testing.T) {
	const notice = "This name of a pool is long, and stands on every page of the site that tells of pools"
	page := `<div role="main"><h1>Pools</h1><p>Here are all of the pools that were ever built in the town.</p><dl><dt id="a">one</dt><dd>The first is a pool of water, and it is deep.</dd><dt id="b">` + notice +
		`</dt><dd>The second one is a pool of cars, and it is wide.</dd><dt id="c">three</dt><dd>The third is a pool of ideas.</dd></dl><p>The end of the page tells no more.</p></div>`
	c := Parse([]byte(page)).Content()
	at := slices.IndexFunc(c.Blocks, func(b Block) bool { return c.Body[b.Start:b.End] == notice })
	if at < 0 || len(c.Entries) != 3 {
		t.Fatalf("entries %v of %q", entriesOf(c), c.Body)
	}
	c = c.Without(func(hash uint64) bool { return hash == c.Blocks[at].Hash })
	want := []string{"#a one: The third is a pool of ideas.", "#c three: The third is a pool of ideas."}
	if diff := cmp.Diff(want, entriesOf(c)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestOmittedTerms(t *testing.T) {
	var page strings.Builder
	page.WriteString("<dl>")
	for i := range MaxTerms + 5 {
		fmt.Fprintf(&page, "<dt id=a%d>term<dd>text", i)
	}
	d := Parse([]byte(page.String()))
	terms, omitted := d.terms()
	want := []string{fmt.Sprintf("the fragments of 5 terms beyond %d, or %d KiB", MaxTerms, MaxFragments>>10)}
	if diff := cmp.Diff(want, d.Omitted); diff != "" || len(terms) != MaxTerms || omitted != 5 {
		t.Errorf("%d terms, %d omitted\n%s", len(terms), omitted, diff)
	}
}
