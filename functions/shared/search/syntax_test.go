package search

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	word := func(text string) clause { return clause{text: text} }
	or := func(clauses ...clause) (c clause) {
		for _, of := range clauses {
			c.any = append(c.any, []clause{of})
		}
		return c
	}
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
		{`intitle:red -INURL:fox InAnchor:"red fox"~2 intitle:fo*`, []clause{
			{field: inTitle, text: "red"}, {sign: '-', field: inAddress, text: "fox"}, {field: inAnchors, text: "red fox", quoted: true, slop: 2}, {field: inTitle, text: "fo", prefix: true},
		}},
		{"allintitle:red fox -dog site:a.org", []clause{{field: inTitle, text: "red"}, {field: inTitle, text: "fox"}, {sign: '-', text: "dog"}, {filter: "site", text: "a.org"}}},

		{"a OR b c", []clause{or(word("a"), word("b")), word("c")}},
		{"a | b| (c|d)", []clause{or(word("a"), word("b"), word("c"), word("d"))}},
		{`a|"b"`, []clause{or(word("a"), clause{text: "b", quoted: true})}},
		{`"a b" OR "c"|d`, []clause{or(clause{text: "a b", quoted: true}, clause{text: "c", quoted: true}, word("d"))}},
		{"a (b OR c) -d", []clause{word("a"), or(word("b"), word("c")), {sign: '-', text: "d"}}},
		{"(b|c) a", []clause{or(word("b"), word("c")), word("a")}},
		{"+(b OR c) d", []clause{{sign: '+', any: [][]clause{{word("b")}, {word("c")}}}, word("d")}},
		{"d -(b OR c)", []clause{word("d"), {sign: '-', text: "b"}, {sign: '-', text: "c"}}},
		{"-(a (b c) OR d)", []clause{{sign: '-', text: "a"}, {sign: '-', any: [][]clause{{word("b"), word("c")}, {word("d")}}}}},
		{"+(b -c)", []clause{{sign: '+', text: "b"}, {sign: '-', text: "c"}}},
		{"(a (b OR (c OR d)))", []clause{word("a"), or(word("b"), word("c"), word("d"))}},
		{"(a OR b) OR c", []clause{or(word("a"), word("b"), word("c"))}},
		{"(a -b) OR c", []clause{{any: [][]clause{{word("a"), {sign: '-', text: "b"}}, {word("c")}}}}},
		{"a OR -b c", []clause{word("a"), {sign: '-', text: "b"}, word("c")}},
		{"site:a.org OR site:b.org a", []clause{{filter: "site", text: "a.org"}, {filter: "site", text: "b.org"}, word("a")}},
		{"(a site:a.org) OR b", []clause{or(word("a"), word("b")), {filter: "site", text: "a.org"}}},
		{"(a OR b", []clause{or(word("a"), word("b"))}},
		{"(f(x) OR g(y)) h", []clause{or(word("f(x)"), word("g(y)")), word("h")}},
		{"intitle:a OR inurl:(b)", []clause{or(clause{field: inTitle, text: "a"}, clause{field: inAddress, text: "(b)"})}},

		// ordinary text
		{"OR a", []clause{word("OR"), word("a")}},
		{"a OR", []clause{word("a"), word("OR")}},
		{"a or b ODER c", []clause{word("a"), word("or"), word("b"), word("ODER"), word("c")}},
		{"TO BE OR NOT TO BE", []clause{word("TO"), word("BE"), word("OR"), word("NOT"), word("TO"), word("BE")}},
		{"CIA OR FBI", []clause{or(word("CIA"), word("FBI"))}},
		{"京都 OR 大阪", []clause{or(word("京都"), word("大阪"))}},
		{"f(x) (see above) a) :-)", []clause{word("f(x)"), word("(see"), word("above)"), word("a)"), {sign: 0, text: ":-)"}}},
		{`the ("so called") a || b`, []clause{word("the"), word(`("so`), word(`called")`), word("a"), word("||"), word("b")}},
		{"get_(add|delete)_permission on|off", []clause{word("get_(add|delete)_permission"), word("on|off")}},
		{"a -(b)", []clause{word("a"), {sign: '-', text: "b"}}},
	}
	for _, test := range tests {
		got, _ := parse(test.text)
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(clause{})); diff != "" {
			t.Errorf("parse(%q) (-want +got):\n%s", test.text, diff)
		}
	}
}

// TestExcluded checks which words a query excludes, and whether a note says that another minus excludes nothing.
func TestExcluded(t *testing.T) {
	for _, test := range []struct {
		text     string
		excluded []string
		noted    bool
	}{
		{"fox -dog", []string{"dog"}, false},
		{"git log -p -mysql", []string{"mysql"}, true},
		{"git log --oneline --graph", nil, false},
		{"--oneline", nil, false},
		{"-p", []string{"p"}, false},
		{`git log -"p" -intitle:q -site:r`, []string{"p", "q", "r"}, false},
		{"a b c d e f Office -piirteitä g", []string{"piirteitä"}, false},
		{"a b c d e f g Office -piirteitä h", nil, true},
		{"a b c d e f g h i -dog -cat site:a.org", []string{"dog", "cat"}, false},
		{"git log --oneline | head", nil, false},
		{"--", nil, false},
		{"git log -p*", []string{"p"}, false},
		{"git log -(p OR q)", []string{"p", "q"}, false},
		{"a b c d e f g h i -(dog OR cat) j", []string{"dog", "cat"}, false},
		{"a OR b -p", []string{"p"}, false},
		{"a b c d e f g h i -dog +cat -cow j +x -ox", []string{"ox"}, true},
	} {
		clauses, notes := parse(test.text)
		noted := slices.ContainsFunc(notes, func(note string) bool { return strings.HasPrefix(note, "A minus") })
		var excluded []string
		for _, c := range clauses {
			if c.sign == '-' {
				excluded = append(excluded, c.text)
			}
		}
		if diff := cmp.Diff(test.excluded, excluded); diff != "" || noted != test.noted {
			t.Errorf("%s: noted: %v (-want +got):\n%s", test.text, noted, diff)
		}
	}
}

// FuzzParse checks that every text has clauses within bounds, and that none of its bytes is read twice.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", `+"a b"~3 -c*`, "\"\xff", "site:\"x", "-after:~", "京都~2", strings.Repeat("x ", 100),
		"a OR (b -c)|d", "-(((", "+(a OR)) OR", strings.Repeat("(a OR ", 20), "allintitle:a (b OR inurl:c)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		size := 0
		var check func(clauses []clause, depth int)
		check = func(clauses []clause, depth int) {
			if depth > maxDepth+1 {
				t.Errorf("groups of depth %d", depth)
			}
			for _, c := range clauses {
				if size += len(c.text); c.text == "" != (c.any != nil) || c.slop < 0 || c.slop > MaxSlop || c.edits < 0 || c.edits > 2 {
					t.Errorf("clause %+v", c)
				}
				if utf8.ValidString(text) && !utf8.ValidString(c.text) {
					t.Errorf("clause %q is cut within a character", c.text)
				}
				for _, alternative := range c.any {
					check(alternative, depth+1)
				}
			}
		}
		clauses, _ := parse(text)
		check(clauses, 0)
		if size > len(text) {
			t.Errorf("%d bytes of words from %d", size, len(text))
		}
	})
}
