package document

import (
	"strings"
	"testing"
)

func digestOf(t *testing.T, body, contentType string) uint64 {
	t.Helper()
	d, err := Read([]byte(body), contentType)
	if err != nil {
		t.Fatal(err)
	}
	return d.Digest()
}

func TestDigestChanges(t *testing.T) {
	const page = `<title>News</title><nav><a href=/>Home</a></nav><main><h1>Storm</h1><p>The storm ended on Monday, 2 March 2026, at 10:15 a.m.<p>12 people were helped.</main>`
	for name, c := range map[string]struct {
		old, changed string
		same         bool
	}{
		"navigation": {`Home`, `Start`, true},
		"markup":     {`<h1>Storm</h1>`, `<h2 class=x><b>storm</b></h2>`, true},
		"date":       {`Monday, 2 March 2026, at 10:15 a.m.`, `Tuesday, 31 December 2027, at 9:00 p.m.`, true},
		"number":     {`12 people`, `1,300 persons`, true},
		"script":     {`<main>`, `<script>token("new")</script><main>`, true},
		"word":       {`were`, `are`, false},
		"title":      {`News`, `Olds`, false},
		"order":      {`were helped`, `helped were`, false},
		"more":       {`</main>`, `<p>More</main>`, false},
		"no number":  {`12 people`, `people`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(page, c.old) {
				t.Fatal("nothing changes")
			}
			before, after := digestOf(t, page, "text/html"), digestOf(t, strings.Replace(page, c.old, c.changed, 1), "text/html")
			if before == after != c.same {
				t.Errorf("digests %x and %x", before, after)
			}
		})
	}
}

func TestDigest(t *testing.T) {
	for name, c := range map[string]struct {
		one, other, contentType string
		same                    bool
	}{
		"Chinese dates":            {"今天是2026年11月22日 新闻", "今天是2025年1月3日 新闻", "text/plain", true},
		"Chinese text":             {"今天是2026年 新闻", "今天是2026年 旧闻", "text/plain", false},
		"Arabic numbers":           {"قبل ٣ ساعات الخبر الأول", "قبل ٧ ساعات الخبر الأول", "text/plain", true},
		"a number spoils one line": {"count 1\nFirst word", "count 2\nFirst word", "text/plain", true},
		"the next line counts":     {"count 1\nFirst word", "count 1\nOther word", "text/plain", false},
		"all is navigation":        {"<nav>one</nav>", "<nav>two</nav>", "text/html", false},
		"charset":                  {"\xE9t\xE9", "\xEAt\xE9", "text/plain; charset=iso-8859-1", false},
	} {
		t.Run(name, func(t *testing.T) {
			one, other := digestOf(t, c.one, c.contentType), digestOf(t, c.other, c.contentType)
			if one == other != c.same {
				t.Errorf("digests %x and %x", one, other)
			}
		})
	}
	if d := digestOf(t, "<table><tr><td>1<td>2</table>", "text/html"); d != 0 {
		t.Errorf("numbers alone have the digest %x", d)
	}
}
