package hypertext

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

// TestReadLikeStandard compares Read with html.Parse, which follows the standard. It parses each
// page with html.Parse, and renders the tree as markup, in which no tag is missing or misplaced.
// Read must find the same text in this markup as in the original page.
func TestReadLikeStandard(t *testing.T) {
	for name, page := range map[string]string{
		"whole":              `<!doctype html><html lang=en><head><title>T</title><body class=x><h1>H</h1><p>a <b>b</b> c</html> d`,
		"no tags":            `only text &amp; an entity`,
		"text before body":   `<title>T</title> text <p>p`,
		"implied p":          `<p>one<p>two<div>three</div>four<ul><li>five<li>six</ul>seven`,
		"stray ends":         `</p></div><p>a</b></i>b</p></p>c`,
		"dl":                 `<dl><dt>a<dd>b<dd>c<dl><dt>d</dl><dt>e</dl>f`,
		"nested lists":       `<ul><li>a<ul><li>b<li>c</ul>d<li>e</ul>`,
		"table":              `<table><caption>c<thead><tr><th>a<th>b<tbody><tr><td>1<td><table><tr><td>in<td>ner</table>2<tr><td>3</table>after`,
		"end out of a cell":  `<div><table><tr><td>a</div>b<td>c</table>d</div>e`,
		"script":             `a<script>if (1<2) "<p>x"</script>b<style>p{}</style>c`,
		"textarea":           `a<textarea><p>b</textarea>c`,
		"comment":            `a<!-- <p>b -->c`,
		"svg":                `<p>a<svg><title>t</title><path d=x /><text>in</text></svg>b<p>c`,
		"math self-closing":  `a<math><mi/>x</math><div/>b`,
		"CDATA":              `<svg><![CDATA[<p>x]]></svg>y`,
		"line breaks":        "a<br>b<br/>c\n d\u00a0e<hr>f",
		"misnested":          `<b>a<i>b</b>c</i>d`,
		"anchors":            `<a href=1>a<a href=2>b</a>c`,
		"options":            `<select><option>a<option>b</select>c`,
		"custom elements":    `<my-page><my-part>a</my-page>b</my-part>c`,
		"iframe and noembed": `a<iframe src=x><p>b</iframe>c`,
		"attributes":         `<p class="a>b" id='c' data=d/e>f`,
		"unfinished":         `<p>a<b`,
	} {
		t.Run(name, func(t *testing.T) {
			standard, err := html.Parse(strings.NewReader(page))
			if err != nil {
				t.Fatal(err)
			}
			var markup bytes.Buffer
			if err := html.Render(&markup, standard); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(Read(markup.Bytes()).Text), string(Read([]byte(page)).Text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestText(t *testing.T) {
	for page, want := range map[string]string{
		"<p>a\u00A0\u00A0b":                                      "a b",
		"<p>a \t b\n\nc<b>d </b>":                                "a b cd",
		"<p>a\u2003\u0085b<i>é é</i>":                            "a bé é",
		"<p>one<p>two":                                           "one\ntwo",
		"<pre>\n  two\n   lines </pre>x":                         "  two\n   lines\nx",
		"<button>epsilon</button><button>zeta</button>":          "epsilon zeta",
		"<a href=1>Prev</a><a href=2>Next</a>":                   "Prev Next",
		"<label>a</label><input><label>b</label>":                "a b",
		"<p>wordless<wbr>ness, un<b>believ</b>able":              "wordlessness, unbelievable",
		"<noscript><p>without scripts</noscript>":                "without scripts",
		"<template><p>never</template><p>shown":                  "shown",
		"<p>a<br>b":                                              "a\nb",
		"<table><tr><td>1<td>2<tr><td>3</table>":                 "1\n2\n3",
		"<select><option>a<option>b</select><p>c":                "c",
		"<title>The <b>title</title><p>text":                     "text",
		"<svg><text>in</text></svg><p>after":                     "in\nafter",
		"<p>日本<b>語</b>":                                          "日本語",
		"<p>zero\u200bwidth":                                     "zero width",
		"<ul><li>a<li>b</ul>":                                    "a\nb",
		"<p>" + strings.Repeat("<span>", 300) + "deep" + "</p>x": "deep\nx",
	} {
		if got := string(Read([]byte(page)).Text); got != want {
			t.Errorf("%.60s: %q, want %q", page, got, want)
		}
	}
}

// TestNoScript checks that text in noscript elements is found, also in the head, and has the flag
// NoScript.
func TestNoScript(t *testing.T) {
	p := Read([]byte("<script>x()</script><noscript>in the head</noscript><p>a</p><noscript><p>in the body</noscript>b"))
	var flags []bool
	for _, b := range p.Blocks {
		flags = append(flags, b.Flags&NoScript != 0)
	}
	if want := []bool{true, false, true, false}; !slices.Equal(flags, want) {
		t.Errorf("blocks %q: %v, want %v", p.Text, flags, want)
	}
}

func TestHidden(t *testing.T) {
	for attribute, want := range map[string]bool{
		`hidden`:                                    true,
		`hidden=until-found`:                        false,
		`aria-hidden=true`:                          true,
		`aria-hidden=false`:                         false,
		`style="color:red; DISPLAY : none"`:         true,
		`style="visibility:hidden"`:                 true,
		`style="font-size:0"`:                       true,
		`style="font-size:0.9em"`:                   false,
		`style="display:block"`:                     false,
		`style="position: absolute; left: -9999px"`: true,
		`style="position:absolute;top:-99999em"`:    true,
		`style="position:absolute;left:-120px"`:     false, // such as a slide beside the one that is seen
		`style="text-indent:-9999px"`:               false, // words behind a picture that shows them, such as a logo
		`role=tabpanel hidden`:                      false, // readers open the tab
		`role=tabpanel aria-hidden=true`:            false,
		`role=tab hidden`:                           true,
		`class=hidden`:                              false, // only a style sheet can tell
		`style="display:none" class="a b c"`:        true,
	} {
		p := Read([]byte("<div " + attribute + "><p>text <b>in</b> it</div><p>after"))
		for i, b := range p.Blocks {
			if got := b.Flags&Hidden != 0; got != (want && i == 0) {
				t.Errorf("%s: block %d is hidden: %v", attribute, i, got)
			}
		}
	}
}

// TestStyles checks which style elements hide text. If the page has scripts, none does.
func TestStyles(t *testing.T) {
	const hidden = `<DIV Class="a note">text <b>in</b> it</DIV><p>after`
	for page, want := range map[string]bool{
		`<style>.note{display:none}</style>` + hidden:                                                      true,
		`<STYLE media=screen>div.note{display:none}</STYLE>` + hidden:                                      true,
		`<style media=print>.note{display:none}</style>` + hidden:                                          false,
		`<svg><style>.note{display:none}</style></svg>` + hidden:                                           false,
		`<template><style>.note{display:none}</style></template>` + hidden:                                 false,
		`<noscript><style>.note{display:none}</style></noscript>` + hidden:                                 false,
		`<style>.note{display:none}</style><div class=note style="Display: block">text <b>in</b> it</div>`: false,
		`<style>.note{display:none}</style>` + hidden + `<script src=a.js></script>`:                       false,
		`<style>.note{display:none}</style><button onclick="show()">more</button>` + hidden:                false,
		`<style>.note{display:none}</style><style>#m:checked~.note{display:block}</style>` + hidden:        false,
	} {
		p := Read([]byte(page))
		for _, b := range p.Blocks {
			is := string(p.Text[b.Start:b.End]) == "text in it"
			if got := b.Flags&Hidden != 0; got != (want && is) {
				t.Errorf("%s: block %q is hidden: %v", page, p.Text[b.Start:b.End], got)
			}
		}
	}
}

// TestLinear reads misnested markup for which html.Parse makes 2.3 million nodes, and checks that
// Read makes no more elements than there are tags.
func TestLinear(t *testing.T) {
	var page strings.Builder
	page.WriteString("<p>")
	for i := range 450 {
		fmt.Fprintf(&page, "<b id=%d>", i)
	}
	page.WriteString(strings.Repeat("<p>x", 5000))
	if p := Read([]byte(page.String())); len(p.Elements) > 6_000 || len(p.Blocks) != 5_000 {
		t.Errorf("%d elements, %d blocks", len(p.Elements), len(p.Blocks))
	}
}

func TestLimits(t *testing.T) {
	t.Run("nesting", func(t *testing.T) {
		p := Read([]byte(strings.Repeat("<div>in", 10_000) + strings.Repeat("</div>out", 10_000)))
		depths := make([]int, len(p.Elements))
		for i := 1; i < len(depths); i++ {
			if depths[i] = depths[p.Elements[i].Parent] + 1; depths[i] > MaxNesting {
				t.Fatalf("nested %d deep", depths[i])
			}
		}
		if in, out := bytes.Count(p.Text, []byte("in")), bytes.Count(p.Text, []byte("out")); in != 10_000 || out != 10_000 {
			t.Errorf("%d and %d of 10000 words are left", in, out)
		}
	})
	t.Run("elements", func(t *testing.T) {
		p := Read(bytes.Repeat([]byte("<i>"), MaxElements+10))
		if len(p.Elements) != MaxElements || !p.Cut.Elements {
			t.Errorf("%d elements, cut %v", len(p.Elements), p.Cut)
		}
	})
	t.Run("references", func(t *testing.T) {
		p := Read(bytes.Repeat([]byte("<a href=x>y</a>"), MaxReferences+10))
		if len(p.References) != MaxReferences || p.Cut.References != 10 {
			t.Errorf("%d references, cut %v", len(p.References), p.Cut)
		}
	})
	t.Run("bytes", func(t *testing.T) {
		p := Read(append(bytes.Repeat([]byte(" "), MaxBytes), "<p>too late"...))
		if len(p.Text) > 0 || p.Cut.Bytes != 11 {
			t.Errorf("text %q, cut %v", p.Text, p.Cut)
		}
	})
}

// FuzzRead checks that ranges and indexes in a Page are consistent, whatever the markup is.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"<p>a<b>c</b>d", "<a href=x><img src=y alt=z></a>", "<table><tr><td>1</table>", "<pre>\n a </pre>", "<ul><li><a href=1>x</ul>",
		"<svg><title>a</svg>", "<script type=application/ld+json>{}</script>", "</p></p><p", "<b><p><b><p></b>x", "\x00\xff<p>\xc3",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, markup []byte) {
		p := Read(markup)
		size := int32(len(p.Text))
		for i, e := range p.Elements {
			if e.Start > e.End || e.End > size || e.Start < 0 || e.Last <= int32(i) || int(e.Last) > len(p.Elements) || e.Parent >= int32(i) {
				t.Fatalf("element %d of %d: %+v in text of %d", i, len(p.Elements), e, size)
			}
		}
		last := int32(0)
		for i, b := range p.Blocks {
			if b.Start < last || b.End <= b.Start || b.End > size || int(b.Element) >= len(p.Elements) || b.Linked > b.End-b.Start {
				t.Fatalf("block %d: %+v after %d, in text of %d", i, b, last, size)
			}
			last = b.End
		}
		for i, r := range p.References {
			if r.Start > r.End || r.End > size || int(r.Element) >= len(p.Elements) {
				t.Fatalf("reference %d: %+v in text of %d", i, r, size)
			}
		}
	})
}

// TestClassCache reads a page with more different classes than a cache of classCaches holds. The
// cache must not grow beyond its limit, and the classes must mean the same as on a page of their own.
func TestClassCache(t *testing.T) {
	var markup bytes.Buffer
	for i := range maxClasses + 10 {
		fmt.Fprintf(&markup, "<p class='sidebar x%d'>a", i)
	}
	classes := make(map[string]classMeaning)
	var page *Page
	for range 2 {
		r := reader{page: &Page{}, classes: classes}
		r.readAll(markup.Bytes())
		if page = r.page; len(classes) > maxClasses {
			t.Errorf("%d classes are cached, want at most %d", len(classes), maxClasses)
		}
	}
	alone := Read([]byte("<p class='sidebar x7'>a")).Blocks[0]
	for i, b := range page.Blocks {
		if b.Flags != alone.Flags || page.Elements[b.Element].Own != WordSidebar {
			t.Fatalf("block %d has flags %b and words %b", i, b.Flags, page.Elements[b.Element].Own)
		}
	}
}

func TestHasScripts(t *testing.T) {
	for markup, want := range map[string]bool{
		"":                         false,
		"<":                        false,
		"=":                        false,
		"<script":                  true,
		"<p>é<SCRIPT>":             true,
		"<scrip>":                  false,
		"script":                   false,
		"< script":                 false,
		`<a href=x onclick="f()">`: true,
		"<body OnLoad=f()>":        true,
		"onload =":                 false,
		"load=":                    false,
		"<style>onclic=":           false,
	} {
		if got := hasScripts([]byte(markup)); got != want {
			t.Errorf("%q: %v, want %v", markup, got, want)
		}
	}
}
