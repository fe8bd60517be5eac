package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

const manual = `<!doctype html><html lang=en><title>regress — Manual</title>
<div class="related" role="navigation"><ul><li><a href=i>modules list</a></ul></div>
<div class="body"><h1>Running the tests</h1>
<p>The regression tests check what the server does, and report every difference between what is expected and what came out.</p>
<h2>Parameters</h2>
<dl><dt><code>max_parallel</code><dd><p>How many of the tests run at the same time on one machine.</p>
<dt><code>host_name</code><dd><p>The machine on which the server runs that is to be tested.</p></dl>
<pre>make check
  --jobs 4</pre>
<table><tr><th>Status<th>Meaning<tr><td>okay<td>as expected</table>
<p>When a test fails, look at the differences and decide whether they matter to you at all.</p></div>
<div class="sphinxsidebar"><p>Search this manual</p></div><footer>Copyright nobody</footer>`

func TestText(t *testing.T) {
	got := Text([]byte(manual), "text/html", "http://a/regress.html")
	want := Content{
		Title:    "regress — Manual",
		Headings: []string{"Running the tests", "Parameters"},
		Body: strings.Join([]string{
			"Running the tests",
			"The regression tests check what the server does, and report every difference between what is expected and what came out.",
			"Parameters",
			"max_parallel", "How many of the tests run at the same time on one machine.",
			"host_name", "The machine on which the server runs that is to be tested.",
			"make check", "  --jobs 4",
			"Status", "Meaning", "okay", "as expected",
			"When a test fails, look at the differences and decide whether they matter to you at all.",
		}, "\n"),
		Outside: "Search this manual\nCopyright nobody",
		Lang:    "en",
		Large:   []layout.Span{{Start: 0, End: 17}, {Start: 139, End: 149}}, // the headings
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTextOfOddPages(t *testing.T) {
	for name, c := range map[string]struct {
		body, contentType string
		want              Content
	}{
		"empty":      {"", "text/html", Content{Title: "page.html"}},
		"plain":      {"\n First  line\nand\tmore\n", "text/plain", Content{Title: "First line", Body: "First  line\nand\tmore"}},
		"tiny":       {"<p>Bonjour", "text/html", Content{Title: "page.html", Body: "Bonjour"}},
		"noindex":    {"<meta name=robots content=noindex>x", "text/html", Content{Title: "page.html", Body: "x"}},
		"navigation": {"<nav>all is a menu</nav>", "text/html", Content{Title: "page.html", Body: "all is a menu"}},
		"charset":    {"<title>\xCF\xF0</title>", "text/html; charset=windows-1251", Content{Title: "Пр"}},
		"feed":       {"<rss><item><description>news</description></item></rss>", "application/rss+xml", Content{Title: "page.html", Body: "news"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Text([]byte(c.body), c.contentType, "http://a/page.html?q")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTextCaps(t *testing.T) {
	const word = "paragraphs of some length "
	for name, page := range map[string]string{
		"many blocks": strings.Repeat("<p>"+word, 10_000),
		"many bytes":  "<p>" + strings.Repeat(word, MaxBody/len(word)+1),
	} {
		t.Run(name, func(t *testing.T) {
			got := Text([]byte(page), "text/html", "http://a/")
			want := min(strings.Count(page, word), MaxBody/len(word))
			if n := strings.Count(got.Body+" ", strings.TrimSpace(word)); n < want || len(got.Body) > MaxBody {
				t.Errorf("%d of %d words in %d bytes", n, want, len(got.Body))
			}
		})
	}
}

// Text returns the content of a page, without Blocks and Main. A page without a title gets the last
// part of its address as its title. The content of a page that cannot be read has nothing but this
// title.
func Text(body []byte, contentType, url string) Content {
	var c Content
	if d, err := Read(body, contentType); err == nil {
		c = d.Content()
		c.Blocks, c.Main = nil, nil
	}
	set(&c.Title, NameOf(url))
	return c
}
