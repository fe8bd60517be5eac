package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/tests/bench/judged"
)

func TestEntries(t *testing.T) {
	const page = `<p><a href="other.html">no entry</a></p><div class="indexdiv"><dl>
<dt>abs, <a class="indexterm" href="math.html#ABS">Functions</a>, <a href="math.html#X">More</a>, <a href="b/c.html">Other</a></dt>
<dt>ACL</dt><dd><dl><dt>of  a
table, <a href="acl.html">Privileges</a></dt></dl></dd>
<dt>alias (see <a href="#abs">abs</a>)</dt><dt>see also <a href="x.html">x</a></dt>
</dl></div>`
	base := &url.URL{Scheme: "http", Host: "a", Path: "/m/"}
	got, err := entries(strings.NewReader(page), base)
	if err != nil {
		t.Fatal(err)
	}
	want := judged.Set{
		"abs":        {"http://a/m/math.html", "http://a/m/b/c.html"},
		"of a table": {"http://a/m/acl.html"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
