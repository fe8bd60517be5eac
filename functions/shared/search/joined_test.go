package search

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestJoinedWords checks that the words e-mail and email find each other, and that pages with one
// of these come before pages that have only the words e and mail.
func TestJoinedWords(t *testing.T) {
	ix := indexOf(t, []segment.Document{
		page("http://a/hyphen", "an e-mail of the UTF-8 kind"),
		page("http://a/joined", "an email of the utf8 kind"),
		page("http://a/apart", "e is a letter, and mail is sent; utf has 8 bits"),
		page("http://a/other", "nothing of the kind"),
	})
	for query, want := range map[string][]string{ // in any order
		"e-mail":       {"http://a/apart", "http://a/hyphen", "http://a/joined"},
		"email":        {"http://a/hyphen", "http://a/joined"},
		"utf8":         {"http://a/hyphen", "http://a/joined"},
		`"e-mail"`:     {"http://a/hyphen"},
		"mail -e-mail": {"http://a/apart"},
	} {
		got := urls(t, ix, query)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	if got := urls(t, ix, "e-mail"); got[2] != "http://a/apart" {
		t.Errorf("e-mail finds %s, the parts alone before the whole", got)
	}
	if got := urls(t, ix, "UTF-8 mail"); got[0] != "http://a/hyphen" {
		t.Errorf("UTF-8 mail finds %s first", got[0])
	}
}

// TestJoinedWordsCompete checks that, in a query with joined words such as e-mail, a scan skips
// only documents that cannot be among the best matches.
func TestJoinedWordsCompete(t *testing.T) {
	var docs []segment.Document
	for i := range 600 {
		docs = append(docs, page(fmt.Sprint("http://a/", i), []string{
			"pg control", "pg control system view", "control of the system", "pg_control_system()", "pgcontrolsystem", "system pg",
		}[i*i%6]+fmt.Sprint(" filler", i%7)))
	}
	ix := indexOf(t, docs[:300], docs[300:])
	pruning := *ix
	pruning.exactly = 0
	for _, query := range []string{"pg_control_system", "pg_control_system view", "pg-control", "+pg pg_control_system"} {
		all, passed := find(t, ix, Query{Text: query, Size: 50}), find(t, &pruning, Query{Text: query, Size: 50})
		for i, hit := range all.Hits {
			if passed.Hits[i].URL != hit.URL || passed.Hits[i].Score != hit.Score {
				t.Fatalf("%s: hit %d is %s with %v, want %s with %v", query, i, passed.Hits[i].URL, passed.Hits[i].Score, hit.URL, hit.Score)
			}
		}
	}
}
