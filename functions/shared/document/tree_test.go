package document

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

// TestTreeLikeStandard compares the text of our tree, line by line, with that
// of the standard's.
func TestTreeLikeStandard(t *testing.T) {
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
			root, _, _ := tree([]byte(page))
			want := strings.Split(string(flowOf(standard, 0).text), "\n")
			if diff := cmp.Diff(want, strings.Split(string(flowOf(root, 0).text), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTreeReadsNoscript(t *testing.T) {
	d := Parse([]byte(`<head><noscript><link rel=stylesheet href=a></noscript></head><body><noscript><a href=b>without scripts</a></noscript>`))
	if got := strings.TrimSpace(string(d.flow.text)); got != "without scripts" {
		t.Errorf("text is %q", got)
	}
}

// TestTreeIsLinear feeds what makes html.Parse allocate 2.3 million nodes.
func TestTreeIsLinear(t *testing.T) {
	var page strings.Builder
	page.WriteString("<p>")
	for i := range 450 {
		fmt.Fprintf(&page, "<b id=%d>", i)
	}
	page.WriteString(strings.Repeat("<p>x", 5000))
	root, counted, _ := tree([]byte(page.String()))
	nodes := 0
	for range root.Descendants() {
		nodes++
	}
	if nodes > 11_000 || counted < nodes {
		t.Errorf("%d nodes, counted %d", nodes, counted)
	}
}

func TestTreeCaps(t *testing.T) {
	depth := func(root *html.Node) int {
		deepest := 0
		var walk func(*html.Node, int)
		walk = func(n *html.Node, d int) {
			deepest = max(deepest, d)
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				walk(c, d+1)
			}
		}
		walk(root, 0)
		return deepest
	}
	t.Run("nesting", func(t *testing.T) {
		page := strings.Repeat("<div>in", 10_000) + strings.Repeat("</div>out", 10_000)
		root, _, _ := tree([]byte(page))
		if d := depth(root); d > MaxNesting+3 {
			t.Errorf("nested %d deep", d)
		}
		text := string(flowOf(root, 0).text)
		if in, out := strings.Count(text, "in"), strings.Count(text, "out"); in != 10_000 || out != 10_000 {
			t.Errorf("%d and %d of 10000 words are left", in, out)
		}
	})
	t.Run("nodes", func(t *testing.T) {
		if _, nodes, _ := tree([]byte(strings.Repeat("<i>", MaxNodes+10))); nodes != MaxNodes {
			t.Errorf("%d nodes, want %d", nodes, MaxNodes)
		}
	})
	t.Run("bytes", func(t *testing.T) {
		root, _, _ := tree([]byte(strings.Repeat(" ", MaxBytes) + "<p>too late"))
		if text := string(flowOf(root, 0).text); text != "" {
			t.Errorf("text is %q", text)
		}
	})
}

// Elements share the memory of their attributes, and not the attributes.
func TestAttributesAreTheirOwn(t *testing.T) {
	var page strings.Builder
	page.WriteString("<html a=1><body b=1>")
	for i := range 100 {
		fmt.Fprintf(&page, "<p x=%d y=%d z=%d></p>", i, i, i)
	}
	page.WriteString("<html a=2 c=3><body b=2 d=4><html e=5>")
	root, _, _ := tree([]byte(page.String()))
	top := root.FirstChild
	if diff := cmp.Diff([]html.Attribute{{Key: "a", Val: "1"}, {Key: "c", Val: "3"}, {Key: "e", Val: "5"}}, top.Attr); diff != "" {
		t.Error("html:", diff)
	}
	body := top.LastChild
	if diff := cmp.Diff([]html.Attribute{{Key: "b", Val: "1"}, {Key: "d", Val: "4"}}, body.Attr); diff != "" {
		t.Error("body:", diff)
	}
	i := 0
	for n := range body.ChildNodes() {
		v := fmt.Sprint(i)
		if diff := cmp.Diff([]html.Attribute{{Key: "x", Val: v}, {Key: "y", Val: v}, {Key: "z", Val: v}}, n.Attr); diff != "" {
			t.Errorf("paragraph %d: %s", i, diff)
		}
		i++
	}
	if i != 100 {
		t.Errorf("%d paragraphs, want 100", i)
	}
}
