package main

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/tests/bench/judged"
)

// TestEntries reads an inventory with many names and headings. The chosen ones must lead to their pages, and
// what is neither a name nor a heading must be left out.
func TestEntries(t *testing.T) {
	var inventory bytes.Buffer
	inventory.WriteString("# Sphinx inventory version 2\n# Project: P\n# Version: 1\n# The remainder of this file is compressed using zlib.\n")
	w := zlib.NewWriter(&inventory)
	for i := range 60 {
		fmt.Fprintf(w, "os.name%d py:function 1 library/os.html#$ -\n", i)
		fmt.Fprintf(w, "make%d.path c:functionParam 1 c-api/os.html#c.make -\n", i)
		fmt.Fprintf(w, "label%d std:label -1 howto/a.html#$ How to  read %d: files\n", i, i)
		fmt.Fprintf(w, "howto/a%d:how to std:label -1 howto/b.html#how-to How to write %d\n", i, i)
		fmt.Fprintf(w, "nameless%d std:label -1 howto/c.html#$ -\nterm%d std:term -1 glossary.html#$ -\n", i, i)
	}
	_ = w.Close()
	got, err := entries(&inventory, &url.URL{Scheme: "http", Host: "a", Path: "/m/objects.inv"})
	if err != nil {
		t.Fatal(err)
	}
	check := func(set judged.Set, pages map[string]string) {
		t.Helper()
		if len(set) < 4 || len(set) > 40 {
			t.Errorf("%d queries", len(set))
		}
		for query, answers := range set {
			for prefix, page := range pages {
				if strings.HasPrefix(query, prefix) && len(answers) == 1 && answers[0] == page {
					delete(set, query)
				}
			}
		}
		if len(set) > 0 {
			t.Errorf("wrong: %v", set)
		}
	}
	check(got["names-"], map[string]string{"os.name": "http://a/m/library/os.html"})
	check(got["headings-"], map[string]string{"How to  read ": "http://a/m/howto/a.html", "How to write ": "http://a/m/howto/b.html"})
	if _, err := entries(strings.NewReader("1\n2\n3\n4\nplain"), new(url.URL)); err == nil {
		t.Error("an inventory that is not compressed is read")
	}
}
