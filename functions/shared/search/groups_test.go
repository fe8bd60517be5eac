package search

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestGroups checks which pages groups and fields find.
func TestGroups(t *testing.T) {
	docs := []segment.Document{
		titled("http://a/full", "en", "Full vacuum", "vacuum full rewrites the table"),
		titled("http://a/analyze", "en", "Statistics", "vacuum analyze gathers statistics of a table"),
		titled("http://a/plain", "en", "Vacuum", "vacuum frees space"),
		titled("http://a/index", "en", "Index", "an index of the words full and table"),
		titled("http://a/red-fox/mail", "en", "Letters", "an e-mail of a red fox"),
		titled("http://a/email", "en", "More letters", "an email of a fox that is red"),
	}
	anchors := map[layout.Identity]segment.Document{docs[3].ID: {ID: docs[3].ID, Headings: []string{"contents of all", "red register"}, Lang: "en"}}
	ix := withAnchors(t, indexOf(t, docs[:3], docs[3:]), anchors, docs[:3], docs[3:])
	for _, test := range []struct {
		text string
		want []string // in any order
	}{
		{"full OR analyze", []string{"full", "analyze", "index"}},
		{"+(full OR analyze) +vacuum", []string{"full", "analyze"}},
		{"vacuum -(full OR analyze)", []string{"plain"}},
		{"vacuum (full | analyze) -index", []string{"full", "analyze", "plain"}},
		{`"vacuum full" OR "vacuum analyze"`, []string{"full", "analyze"}},
		{`vacuum ("full rewrites" OR statistics)`, []string{"full", "analyze"}},
		{"(full index) OR (frees space)", []string{"index", "plain"}},
		{"(table -vacuum) OR frees", []string{"index", "plain"}},
		{"table -((full index) OR statistics)", []string{"full"}},
		{`-("vacuum full" OR "red fox" OR that) -(index OR frees)`, []string{"analyze"}},
		{"+(e-mail OR frees)", []string{"red-fox/mail", "email", "plain"}},
		{"+(stat* OR fres~) table", []string{"analyze", "plain"}},
		{"+(nowhere OR frees)", []string{"plain"}},
		{"+(nowhere OR neither) table", []string{}},
		{"intitle:vacuum", []string{"full", "plain"}},
		{"table -intitle:index", []string{"full", "analyze"}},
		{`intitle:"full vacuum"`, []string{"full"}},
		{`intitle:"vacuum full"`, []string{}},
		{"intitle:vac*", []string{"full", "plain"}},
		{"allintitle: vacuum full", []string{"full"}},
		{"allintitle:vacuum full -table", []string{}},
		{"intitle:index OR intitle:statistics", []string{"index", "analyze"}},
		{`intitle:index OR "frees space"`, []string{"index", "plain"}},
		{"allintitle:vacuum (full OR space)", []string{"full"}},
		{`"full table" OR "nothing here"`, []string{"full", "index"}}, // as no page has a phrase, all words of one
		{"inurl:fox", []string{"red-fox/mail"}},
		{"inurl:red-fox", []string{"red-fox/mail"}},
		{"red -inurl:mail", []string{"index", "email"}},
		{"intitle:e-mail", []string{}},
		{"inanchor:contents", []string{"index"}},
		{`inanchor:"contents register"`, []string{"index"}},
		{"red -inanchor:contents", []string{"red-fox/mail", "email"}},
		{"+(red OR frees) -red", []string{"plain", "index"}}, // which has red in an anchor only
	} {
		want := []string{}
		for _, name := range test.want {
			want = append(want, "http://a/"+name)
		}
		got := urls(t, ix, test.text)
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.text, diff)
		}
	}
	for text, first := range map[string]string{
		"table (analyze OR statistics)":      "http://a/analyze",
		"(words OR nothing) (full OR frees)": "http://a/index",
	} {
		if got := urls(t, ix, text); got[0] != first {
			t.Errorf("%s finds %s first, want %s, which has all", text, got[0], first)
		}
	}
}

// TestOrdinaryText checks that parentheses, and the word OR in capitals, change nothing about the hits of an
// ordinary text.
func TestOrdinaryText(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	ix := indexOf(t, divide(random, randomDocuments(random, 100), 3)...)
	for text, plain := range map[string]string{
		"f(baba) (see neba)":  "f baba see neba",
		"BABA NEBA OR TIBA":   "baba neba or tiba",
		"baba) (neba tiba":    "baba neba tiba",
		`baba (neba:) :-) or`: "baba neba or",
	} {
		q := Query{Size: 20}
		q.Text = text
		got := scored(t, ix, q)
		q.Text = plain
		if diff := cmp.Diff(scored(t, ix, q), got); diff != "" {
			t.Errorf("%s and %s differ:\n%s", text, plain, diff)
		}
	}
}

// TestGroupsAgainstOracle compares random queries with groups and fields with an evaluation that looks at
// every document. It also checks that a scan skips only documents that cannot be among the best matches, and
// that explanations add up.
func TestGroupsAgainstOracle(t *testing.T) {
	for seed := range racetest.Rounds(uint64(3), 1) {
		random := rand.New(rand.NewPCG(seed, 7))
		docs := randomDocuments(random, 300)
		for i := range docs {
			docs[i].Lang = "en"
		}
		judge := newOracle(docs, nil).queryIn("baba", &filter{})
		ix := indexOf(t, divide(random, docs, 3)...)
		pruning := *ix
		pruning.exactly = 0
		for range 40 {
			text := randomGroups(random, 3)
			clauses, _ := parse(text)
			var want []string
			for i := range judge.docs {
				if judge.meets(&judge.docs[i], clauses) {
					want = append(want, judge.docs[i].URL)
				}
			}
			got := find(t, ix, Query{Text: text, Size: 300, Explain: true})
			if !hasQuotes(text) || len(want) > 0 { // else the quotes are ignored
				found := each(got.Hits, func(h Hit) string { return h.URL })
				slices.Sort(want)
				slices.Sort(found)
				if diff := cmp.Diff(want, found); diff != "" || got.Exact && got.Total != len(want) {
					t.Fatalf("seed %d, %s: total %d (-want +got):\n%s", seed, text, got.Total, diff)
				}
			}
			best := find(t, &pruning, Query{Text: text, Size: 10})
			for i, hit := range best.Hits {
				if all := got.Hits[i]; all.ID != hit.ID || all.Score != hit.Score {
					t.Fatalf("seed %d, %s: hit %d is %s with %v, want %s with %v", seed, text, i, hit.URL, hit.Score, all.URL, all.Score)
				}
			}
			for _, hit := range got.Hits {
				if e := hit.Explanation; e.Value < hit.Score-1e-9 || e.Value > hit.Score+1e-9 {
					t.Fatalf("seed %d, %s: the explanation of %v is %+v", seed, text, hit.Score, e)
				}
			}
		}
	}
}

// randomGroups returns a query with words that may or must occur, and with groups up to a depth.
func randomGroups(random *rand.Rand, depth int) string {
	word := func() string {
		switch text := randomWord(random); random.IntN(6) {
		case 0:
			return `"` + text + " " + randomWord(random) + `"`
		case 1:
			return []string{"intitle:", "inurl:"}[random.IntN(2)] + text
		default:
			return text
		}
	}
	var clauses []string
	for range 1 + random.IntN(3) {
		text := word()
		if depth > 0 && random.IntN(2) == 0 {
			text = "(" + randomGroups(random, depth-1) + ")"
		}
		for random.IntN(2) == 0 {
			text += " OR " + word()
		}
		clauses = append(clauses, []string{"", "", "+", "-"}[random.IntN(4)]+text)
	}
	return strings.Join(clauses, " ")
}

// meets reports whether a document matches a query: it has what is required and nothing that is excluded,
// and, if the query has words that may occur, one of its words.
func (q *oracleQuery) meets(d *oracleDoc, clauses []clause) bool {
	some, positive := false, false
	for _, c := range clauses {
		has := q.has(d, c)
		if c.sign == '-' {
			if has {
				return false
			}
			continue
		}
		positive = true
		some = some || q.hasWord(d, c)
		if !has && (c.sign == '+' || c.quoted || c.field != anywhere || c.any != nil && q.isCondition(c)) {
			return false
		}
	}
	return some || !positive && d.hasText()
}

// isCondition reports whether a group must hold: it is not just single words without quotes.
func (q *oracleQuery) isCondition(c clause) bool {
	return slices.ContainsFunc(c.any, func(of []clause) bool {
		return len(of) > 1 || of[0].any != nil || of[0].quoted || of[0].field != anywhere
	})
}

func (q *oracleQuery) has(d *oracleDoc, c clause) bool {
	if c.any != nil {
		return slices.ContainsFunc(c.any, func(all []clause) bool {
			return !slices.ContainsFunc(all, func(of clause) bool { return q.has(d, of) == (of.sign == '-') })
		})
	}
	phrase := q.words(c)
	for f := range d.positions {
		if (c.field == anywhere || c.field == inTitle && f == segment.Title || c.field == inAddress && f == segment.Address) && phrase.occurrences(d, f) > 0 {
			return true
		}
	}
	named := c.field == anywhere && c.sign != '-' && len(phrase.words) == 1 && q.isNamed(d, phrase)
	return named
}

// hasWord reports whether a document has one of the words of a clause that score.
func (q *oracleQuery) hasWord(d *oracleDoc, c clause) bool {
	if c.any != nil {
		return slices.ContainsFunc(c.any, func(all []clause) bool {
			return slices.ContainsFunc(all, func(of clause) bool { return of.sign != '-' && q.hasWord(d, of) })
		})
	}
	phrase := q.words(c)
	for _, word := range phrase.words {
		one := oraclePhrase{words: []oracleWord{word}, at: []int{0}}
		for f := range d.positions {
			if one.occurrences(d, f) > 0 {
				return true
			}
		}
		if q.isNamed(d, one) {
			return true
		}
	}
	return false
}

// isNamed reports whether the name of the document's site has a word.
func (q *oracleQuery) isNamed(d *oracleDoc, phrase oraclePhrase) bool {
	for term := range phrase.words[0] {
		if len(d.positions[segment.Address][segment.NameTerm(term)]) > 0 {
			return true
		}
	}
	return false
}
