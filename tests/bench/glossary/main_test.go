package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/tests/bench/judged"
)

func TestEntries(t *testing.T) {
	const page = `<dl><dt><span>Vacuum (process)</span></dt><dd class="glossdef"><p>Removes  old
<a class="xref" href="rows.html">rows</a>.</p><p>For more information,
see <a class="xref" href="vacuum.html#X">Section 1</a> and <a class="xref" href="glossary.html#Y">Y</a>.</p></dd>
<dt>Tuple</dt><dd class="glossdef"><p>A row, see <a class="xref" href="rows.html">rows</a>.</p></dd></dl>`
	got, err := entries(strings.NewReader(page), &url.URL{Scheme: "http", Host: "a", Path: "/m/glossary.html"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]judged.Set{
		"terms-":       {"Vacuum": {"http://a/m/vacuum.html"}},
		"definitions-": {"Removes old rows.": {"http://a/m/vacuum.html"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
