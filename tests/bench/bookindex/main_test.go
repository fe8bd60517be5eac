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
	base := &url.URL{Scheme: "http", Host: "a", Path: "/m/index.html"}
	got, err := entries(strings.NewReader(page), base)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]judged.Set{"": {
		"abs":        {"http://a/m/math.html", "http://a/m/b/c.html"},
		"of a table": {"http://a/m/acl.html"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	const page = `<table class="indextable genindextable"><tr><td><ul>
<li><a href="a.html#list.append">append() (list method)</a><ul><li><a href="b.html#deque">(deque method)</a></li></ul></li>
<li><a href="c.html#x">abstract base class</a></li><li><a href="d.html">None</a></li>
<li><a href="e.html#argv">argv (in module sys)</a><ul><li><a href="f.html">of a script</a></li></ul></li>
</ul></td></tr></table>`
	got, err := entries(strings.NewReader(page), &url.URL{Scheme: "http", Host: "a", Path: "/m/index.html"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]judged.Set{"": {"append": {"http://a/m/a.html", "http://a/m/b.html"}, "argv": {"http://a/m/e.html"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
