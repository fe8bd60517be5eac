package compat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// written returns a filter as an expression.
func written(filter []alternatives) string {
	var all []string
	for _, either := range filter {
		var texts []string
		for _, c := range either {
			texts = append(texts, fmt.Sprintf("%s %s %s", quoted(c.attribute), c.operator, quoted(c.value)))
		}
		all = append(all, "("+strings.Join(texts, " OR ")+")")
	}
	return strings.Join(all, " AND ")
}

func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func TestExpression(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"lang:en":                            `("lang" = "en")`,
		"lang = en AND NOT site:a.org":       `("lang" = "en") AND ("site" != "a.org")`,
		"NOT (a:1 OR b:2)":                   `("a" != "1") AND ("b" != "2")`,
		"NOT (a:1 AND b:2)":                  `("a" != "1" OR "b" != "2")`,
		"NOT NOT a:1":                        `("a" = "1")`,
		"a:1 OR b:2 AND c:3":                 "error: OR joins only single conditions here",
		"(a:1 OR b:2) AND c:3":               `("a" = "1" OR "b" = "2") AND ("c" = "3")`,
		`"site"="a b" and date>=2026-01-31`:  `("site" = "a b") AND ("date" >= "2026-01-31")`,
		`s IN [a, 'b c'] AND t not in [d,e]`: `("s" = "a" OR "s" = "b c") AND ("t" != "d") AND ("t" != "e")`,
		"NOT a > 1":                          `("a" <= "1")`,
		`url:https://a.org/?b=c`:             `("url" = "https://a.org/?b=c")`,
		`a = "say \"b\" \\ c"`:               `("a" = "say \"b\" \\ c")`,
		"a:":                                 "error: it ends where a value is expected",
		"a EXISTS":                           "error: the attribute a has no comparison",
		"a:b c:d":                            `error: "c" is not expected`,
		"(a:b":                               "error: a parenthesis is not closed",
		"a IN b":                             "error: the values behind IN stand in brackets",
		"a IN []":                            `error: "]" stands where a value is expected`,
		"a NOT b":                            "error: NOT stands before IN",
		"NOT ((a:1 OR b:1) AND c:1)":         "error: NOT stands before conditions",
		strings.Repeat("(", 50):              "error: it is nested more than 20 times",
		"a IN [" + strings.Repeat("b,", 250): "error: it has more than 100 conditions",
	} {
		filter, err := parseExpression(text)
		got := written(filter)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want && !(strings.HasPrefix(want, "error: ") && strings.HasPrefix(got, want)) {
			t.Errorf("%.40s: %s, want %s", text, got, want)
		}
	}
}

// FuzzExpression checks that any expression is refused, or is read as a filter that is the same after it was
// written as an expression again.
func FuzzExpression(f *testing.F) {
	f.Add(`lang:en AND (site = "a b" OR NOT site:b.org)`)
	f.Add(`NOT (a:1 AND b >= '2') AND c NOT IN [d, "\"e"]`)
	f.Add(`a:":b" OR`)
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := parseExpression(text)
		if err != nil {
			return
		}
		again, err := parseExpression(written(filter))
		if diff := cmp.Diff(filter, again, cmp.AllowUnexported(condition{})); err != nil || diff != "" {
			t.Errorf("%s: %v %s", written(filter), err, diff)
		}
	})
}

// FuzzParameters checks that any parameters are refused, or are read as a search within the limits.
func FuzzParameters(f *testing.F) {
	f.Add(`query=a&hitsPerPage=5&page=2&facets=["lang"]&facetFilters=[["lang:en","site:-b"],"c"]&attributesToSnippet=content:5`)
	f.Add(`hitsPerPage=1e9&page=99999999999&facets=*&filters=lang:en&facetFilters=a`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := fromAddress(text, "query", "filters")
		if err != nil {
			return
		}
		if a, page, err := readAlgolia(p); err == nil && (a.size < 0 || a.size > maxRecords || a.from != page*a.size) {
			t.Errorf("%+v, page %d", a, page)
		}
		if a, _, err := readMeili(p); err == nil && (a.size < 0 || a.size > maxRecords || a.from < 0) {
			t.Errorf("%+v", a)
		}
		_, _, _ = readSnippets(p)
		_, _ = readForm(p)
	})
}

// bracketed returns a text with brackets around the matches.
func bracketed(text []search.Fragment) string { return highlighter{"[", "]"}.marked(text) }

func TestCrop(t *testing.T) {
	text := markWords("one two three four five six seven", map[string]bool{"five": true})
	for most, want := range map[int]string{
		0: "one two three four [five] six seven",
		3: "…four [five] six…",
		6: "…three four [five] six seven",
		7: "one two three four [five] six seven",
		1: "…[five]…",
	} {
		if got := bracketed(crop(text, most, "…")); got != want {
			t.Errorf("%d words: %q, want %q", most, got, want)
		}
	}
	if got := bracketed(crop(markWords("one two three", nil), 2, "…")); got != "one two…" {
		t.Errorf("without a match: %q", got)
	}
}

func TestMarkWords(t *testing.T) {
	if got := bracketed(markWords("Über Hash-Werte (hashes)", wordsIn("über HASH"))); got != "[Über] [Hash]-Werte (hashes)" {
		t.Error(got)
	}
}
