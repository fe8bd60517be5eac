package search

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	word := func(text string) clause { return clause{text: text} }
	tests := []struct {
		text string
		want []clause
	}{
		{"", nil},
		{" \t\n", nil},
		{"red fox", []clause{word("red"), word("fox")}},
		{"+red -fox", []clause{{sign: '+', text: "red"}, {sign: '-', text: "fox"}}},
		{`"red fox"`, []clause{{text: "red fox", quoted: true}}},
		{`“red fox”dog`, []clause{{text: "red fox", quoted: true}, word("dog")}},
		{`-"red fox"~2 x`, []clause{{sign: '-', text: "red fox", quoted: true, slop: 2}, word("x")}},
		{`"red fox"~`, []clause{{text: "red fox", quoted: true}}},
		{`"red fox"~99999999999999999999`, []clause{{text: "red fox", quoted: true, slop: MaxSlop}}},
		{`"red fox`, []clause{{text: "red fox", quoted: true, open: true}}},
		{`"" + - `, nil},
		{"fo*", []clause{{text: "fo", prefix: true}}},
		{"*", nil},
		{"f*x", []clause{word("f*x")}},
		{"foks~ foxhound~ foks~2 foxhound~1", []clause{{text: "foks", edits: 1}, {text: "foxhound", edits: 2}, {text: "foks", edits: 2}, {text: "foxhound", edits: 1}}},
		{"ab~ foks~3 ~/home", []clause{word("ab"), word("foks~3"), word("~/home")}},
		{`site:a.org -lang:en collection:"my docs" TYPE:pdf`, []clause{
			{filter: "site", text: "a.org"}, {sign: '-', filter: "lang", text: "en"}, {filter: "collection", text: "my docs", quoted: true}, {filter: "type", text: "pdf"},
		}},
		{"site: x std::map site://x", []clause{word("x"), word("std::map"), word("site://x")}},
		{"after:2026-01-31", []clause{{filter: "after", text: "2026-01-31"}}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, parse(test.text), cmp.AllowUnexported(clause{})); diff != "" {
			t.Errorf("parse(%q) (-want +got):\n%s", test.text, diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", `+"a b"~3 -c*`, "\"\xff", "site:\"x", "-after:~", "京都~2", strings.Repeat("x ", 100)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		size := 0
		for _, c := range parse(text) {
			if size += len(c.text); c.text == "" || c.slop < 0 || c.slop > MaxSlop || c.edits < 0 || c.edits > 2 {
				t.Errorf("clause %+v", c)
			}
			if utf8.ValidString(text) && !utf8.ValidString(c.text) {
				t.Errorf("clause %q is cut within a character", c.text)
			}
		}
		if size > len(text) {
			t.Errorf("%d bytes of words from %d", size, len(text))
		}
	})
}
