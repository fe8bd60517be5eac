package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestSynonyms checks that a word finds the other words of its set in all their forms in a language, such as the
// plural, and that a synonym of several words is found only where these stand together.
func TestSynonyms(t *testing.T) {
	synonyms := NewSynonyms([]SynonymSet{
		{Words: []string{"postgres", "PostgreSQL", "pg"}},
		{Words: []string{"k8s"}, Also: []string{"kubernetes"}},
		{Words: []string{"ha", "high availability"}},
		{Words: []string{"availability", "uptime"}},
		{Words: []string{"database", "dbms"}},
		{Words: []string{"Haus", "Gebäude"}},
		{Words: []string{"e-mail", "elektropost"}},
		{Words: []string{"a1", "b1"}}, {Words: []string{"b1", "c1"}, Also: []string{"a1"}}, // a loop
		{Words: []string{"数据库", "dbms"}},
	})
	docs := []segment.Document{
		page("http://d/postgres", "postgres manual"), page("http://d/postgresql", "PostgreSQL manual"), page("http://d/pg", "pg dump"),
		page("http://d/k8s", "k8s"), page("http://d/kubernetes", "kubernetes"),
		page("http://d/ha", "ha cluster"), page("http://d/together", "a cluster of high availability"), page("http://d/apart", "availability is high"), page("http://d/high", "high mountains"),
		page("http://d/uptime", "uptime"), page("http://d/databases", "databases"), page("http://d/dbms", "a dbms"), page("http://d/zh", "数据库"),
		page("http://d/haus", "häuser"), page("http://d/bau", "gebäude"), page("http://d/mail", "send e-mail"), page("http://d/elektro", "elektropost"),
		page("http://d/a1", "a1"), page("http://d/b1", "b1"), page("http://d/c1", "c1"),
	}
	for i := range docs {
		if slices.Contains([]string{"http://d/haus", "http://d/bau", "http://d/elektro"}, docs[i].URL) {
			docs[i].Lang = "de"
		}
		if docs[i].URL == "http://d/zh" {
			docs[i].Lang = "zh"
		}
	}
	indexes := map[string]*Index{"one segment": indexOf(t, docs), "three": indexOf(t, docs[:6], docs[6:7], docs[7:])}
	for query, want := range map[string]string{
		"postgres":               "pg postgres postgresql",
		"PostgreSQL":             "pg postgres postgresql",
		`"postgres"`:             "postgres",
		"+postgres":              "postgres",
		"postgres -pg":           "postgres postgresql",
		"postgres OR uptime":     "postgres uptime", // the query has both words, and neither gets a synonym
		"k8s":                    "k8s kubernetes",
		"kubernetes":             "kubernetes",
		"ha":                     "ha together",
		"high availability":      "apart ha high together",
		"availability":           "apart together uptime",
		"databases":              "databases dbms",
		"database":               "databases dbms",
		"dbms":                   "databases dbms zh",
		"数据库":                    "dbms zh",
		"haus":                   "bau haus",
		"e-mail":                 "elektro mail",
		"elektropost":            "elektro mail",
		"a1":                     "a1 b1",
		"b1":                     "a1 b1 c1",
		"intitle:postgres":       "",
		"postgre*":               "postgres postgresql",
		"ha lang:de":             "",
		"ha -mountains +cluster": "ha together",
	} {
		for name, ix := range indexes {
			result := find(t, ix, Query{Text: query, Size: 20, Synonyms: synonyms, Explain: true})
			got := each(result.Hits, func(h Hit) string { return strings.TrimPrefix(h.URL, "http://d/") })
			slices.Sort(got)
			if strings.Join(got, " ") != want || result.Total != len(got) {
				t.Errorf("%s in %s: %d %q, want %q", query, name, result.Total, got, want)
			}
		}
	}
	if plain := find(t, indexes["three"], Query{Text: "postgres ha", Size: 20}); plain.Total != 2 {
		t.Errorf("without synonyms: %d hits", plain.Total)
	}
}

// TestSynonymScores checks that a word and its synonyms score as one word, whose number of documents is that of all
// of them together. A synonym of several words scores as a term in the documents that have these words together. A
// page with a synonym in place of the word has all words of the query.
func TestSynonymScores(t *testing.T) {
	synonyms := NewSynonyms([]SynonymSet{{Words: []string{"ha", "high availability"}}, {Words: []string{"pg", "postgres"}}})
	ix := indexOf(t, []segment.Document{
		page("http://d/1", "pg ha"), page("http://d/2", "postgres highavailability"), page("http://d/3", "postgres high availability"), page("http://d/4", "high prices"),
	}, []segment.Document{page("http://d/5", "nothing of it"), page("http://d/6", "availability of it")})
	of := func(text string, synonyms *Synonyms) map[string]float64 {
		scores := make(map[string]float64)
		for _, h := range find(t, ix, Query{Text: text, Size: 10, Synonyms: synonyms}).Hits {
			scores[strings.TrimPrefix(h.URL, "http://d/")] = h.Score
		}
		return scores
	}
	if diff := cmp.Diff(of("pg OR postgres", nil), of("pg", synonyms)); diff != "" {
		t.Errorf("pg (-as alternatives +by synonyms):\n%s", diff)
	}
	got := of("ha", synonyms)
	if len(got) != 2 || got["1"] <= 0 || got["3"] <= 0 {
		t.Errorf("ha: %v", got)
	}
	both := of("pg ha", synonyms)
	if alone := of("pg", synonyms)["3"] + got["3"]; both["3"] <= alone*1.4 { // the factor for all words is 1.5
		t.Errorf("pg ha: page 3 scores %g, and the sum for its words is %g", both["3"], alone)
	}
	result := find(t, ix, Query{Text: "ha", Size: 10, Synonyms: synonyms, Explain: true})
	marked := map[string]string{}
	for _, h := range result.Hits {
		text := ""
		for _, f := range h.Snippet {
			if f.Match {
				text += "[" + f.Text + "]"
			} else {
				text += f.Text
			}
		}
		marked[strings.TrimPrefix(h.URL, "http://d/")] = text
		if !strings.Contains(fmt.Sprint(*h.Explanation), `"ha OR high availability"`) {
			t.Errorf("%s: explanation %+v", h.URL, *h.Explanation)
		}
	}
	if diff := cmp.Diff(map[string]string{"1": "pg [ha]", "3": "postgres [high] [availability]"}, marked); diff != "" {
		t.Errorf("snippets (-want +got):\n%s", diff)
	}
}

// TestManySynonyms checks that a query with more synonyms than are searched gets a note.
func TestManySynonyms(t *testing.T) {
	var sets []SynonymSet
	var words []string
	for i := range 12 {
		set := SynonymSet{Words: []string{fmt.Sprintf("w%d", i)}}
		for n := range 10 {
			set.Also = append(set.Also, fmt.Sprintf("s%dx%d", i, n))
		}
		sets, words = append(sets, set), append(words, set.Words[0])
	}
	ix := indexOf(t, []segment.Document{page("http://d/1", "s0x9"), page("http://d/2", "s11x9")})
	result := find(t, ix, Query{Text: strings.Join(words, " "), Size: 10, Synonyms: NewSynonyms(sets)})
	if note := strings.Join(result.Notes, " "); result.Total != 1 || !strings.Contains(note, "Only the first 100 synonyms") {
		t.Errorf("%d hits, notes %q", result.Total, note)
	}
}
