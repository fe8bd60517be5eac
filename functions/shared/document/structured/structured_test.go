package structured

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
)

func pageOf(markup string) Page {
	p := hypertext.Read([]byte(markup))
	keep := make([]bool, len(p.Blocks))
	for i := range keep {
		keep[i] = p.Blocks[i].Flags&hypertext.Navigation == 0
	}
	resolve := func(reference string) string {
		if strings.HasPrefix(reference, "bad:") {
			return ""
		}
		return "http://a/" + reference
	}
	return Page{Title: p.Title, Parts: Parts(p, keep, resolve, nil)}
}

func TestMarkdown(t *testing.T) {
	for name, c := range map[string]struct{ markup, want string }{
		"title":          {"<title>The *title*</title><p>text", "# The \\*title\\*\n\ntext\n"},
		"title as h1":    {"<title>T</title><h1>Head</h1><p>text", "# Head\n\ntext\n"},
		"headings":       {"<h2>A <em>b</em></h2><h6>C</h6>", "## A *b*\n\n###### C\n"},
		"emphasis":       {"<p>a <b> bold <i>both</i> </b>c <strong><b>once</b></strong>", "a **bold *both*** c **once**\n"},
		"links":          {"<p><a href=b>to <b>b</b></a>, <a href=bad:x>none</a>, <a href='c d(e)'>c</a>", "[to **b**](http://a/b), none, [c](<http://a/c%20d(e)>)\n"},
		"link of blocks": {"<a href=b><h3>Head</h3><p>text</p></a>", "### [Head](http://a/b)\n\n[text](http://a/b)\n"},
		"code":           {"<p>Run <code>a | b*</code>, <code>`x`</code>, <tt><b>y</b></tt>", "Run `a | b*`, `` `x` ``, `y`\n"},
		"fenced code":    {"<pre class=language-go>\nif x {\n\ty()\n}</pre><pre><code class=lang-C++>a```b</code></pre>", "```go\nif x {\n\ty()\n}\n```\n\n````c++\na```b\n````\n"},
		"no markup":      {"<p># a<p>1. b<p>- c<p>a_b _c_ [d] <e> &lt;f&gt; \\", "\\# a\n\n1\\. b\n\n\\- c\n\na_b \\_c\\_ \\[d\\] \\<f> \\\\\n"},
		"lines":          {"<p>a<br>b", "a  \nb\n"},
		"list":           {"<ul><li>a<li>b<ul><li>c</ul>d<li><p>e<p>f</ul>", "-   a\n-   b\n    -   c\n\n    d\n\n-   e\n\n    f\n"},
		"numbered list":  {"<ol><li>a<li><pre>x</pre><li>c</ol>", "1.  a\n\n    ```\n    x\n    ```\n\n3.  c\n"},
		"definitions":    {"<dl><dt>a <b>b</b><dd>c<br>d</dl>", "**a b**\n\n:   c\n    d\n"},
		"quote":          {"<blockquote><p>a<p>b<blockquote>c</blockquote></blockquote>", "> a\n\n> b\n\n> > c\n"},
		"table": {"<table><caption>Of it</caption><tr><th>x<th>y<tr><td>a|b<td><code>c</code><br>d<tr><td>e</table>after",
			"Of it\n\n| x | y |\n| --- | --- |\n| a\\|b | `c`<br>d |\n| e |\n\nafter\n"},
		"layout":          {"<table><tr><td><h2>a</h2><td>b<tr><td>c</table>", "## a\n\nb\n\nc\n"},
		"image":           {"<p>a<img src=i alt='an  [image]'><p>b", "a\n\n![an \\[image\\]](http://a/i)\n\nb\n"},
		"figure":          {"<p>a<figure><img src=i><figcaption>What it <i>is</i></figcaption></figure><p>b", "a\n\n![](http://a/i)\n*What it is*\n\nb\n"},
		"image elsewhere": {"<p>a<nav><img src=i>menu</nav><p>b", "a\n\nb\n"},
		"anchor marks":    {"<h2>Head <a href=#head>¶</a></h2><p>a<a href=#1>1</a>", "## Head\n\na[1](http://a/#1)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			page := pageOf(c.markup)
			if diff := cmp.Diff(c.want, page.Markdown()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestMarkdownParts checks that the offsets of parts lead to their Markdown.
func TestMarkdownParts(t *testing.T) {
	for markup, want := range map[string][]string{
		"<title>T</title><p>a<h2>B</h2><ul><li>c<li>d</ul>": {"a", "## B", "-   c", "-   d"},
		"<h1>A</h1><blockquote>b</blockquote>":              {"# A", "> b"},
		"":                                                  nil,
	} {
		page := pageOf(markup)
		text, starts := page.MarkdownParts()
		var got []string
		for _, start := range starts {
			line, _, _ := strings.Cut(text[start:], "\n")
			got = append(got, line)
		}
		if diff := cmp.Diff(want, got); diff != "" || text != page.Markdown() {
			t.Errorf("%s: %q (-want +got)\n%s", markup, text, diff)
		}
	}
}

func TestText(t *testing.T) {
	const markup = "<title>T</title><h2>Head</h2><p>a <b>b</b><ul><li>c<li>d</ul><ol><li>e</ol><table><tr><td>1<td>2<tr><td>3<td>4</table><pre>x\n y</pre><img src=i alt=image><p>f"
	page := pageOf(markup)
	want := "T\n\nHead\n\na b\n\n- c\n- d\n1. e\n\n1\t2\n3\t4\n\nx\n y\n\n[image]\n\nf\n"
	if diff := cmp.Diff(want, page.Text()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestJSON(t *testing.T) {
	page := pageOf("<h2>Head</h2><p>a <a href=b>link</a><table><tr><td>1<td>2<tr><td>3<td>4</table><pre class=language-go>x</pre>")
	got, err := json.Marshal(page.Parts)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"kind":"heading","level":2,"text":"Head"},{"kind":"paragraph","text":"a link","links":[{"address":"http://a/b","text":"link"}]},` +
		`{"kind":"table","rows":[["1","2"],["3","4"]]},{"kind":"code","text":"x","language":"go"}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// FuzzMarkdown checks that Markdown and plain text lose no word of the page, whatever the markup
// is. It looks only at words of letters, outside of navigation.
func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{
		"<b>a<p>b</b><i>c", "<table><tr><td>a<table><tr><td>b", "<ol><li><ol>a<li>b", "<a href=x>a<a href=y>b<code>c", "<dl><dd><dt>a<blockquote>b",
		"<table><tr><td>a<td>b<tr><td><ul><li>c</table>d", "<figure><img src=a><figcaption>b", "<pre>a<pre>b", "<h1><table><caption>c<tr><td>1<td>2<tr><td>3",
	} {
		f.Add(seed)
	}
	markers := regexp.MustCompile("[*`\\[\\]\\\\]|\\(<?http://a/[^)]*\\)")
	f.Fuzz(func(t *testing.T, markup string) {
		page := pageOf(markup)
		markdown, text := markers.ReplaceAllString(page.Markdown(), ""), page.Text()
		p := hypertext.Read([]byte(markup))
		for i := range p.Blocks {
			b := &p.Blocks[i]
			for word := range strings.FieldsSeq(string(p.Text[b.Start:b.End])) {
				if b.Flags&hypertext.Navigation == 0 && isLetters(word) && !(strings.Contains(markdown, word) && strings.Contains(text, word)) {
					t.Fatalf("%q is lost\nMarkdown: %s\ntext: %s", word, markdown, text)
				}
			}
		}
	})
}

func isLetters(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
}
