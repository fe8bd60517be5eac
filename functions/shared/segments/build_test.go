package segments

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

func TestTokens(t *testing.T) {
	p := &Page{
		Document: segment.Document{
			URL: "https://a.example/caf%C3%A9", Title: "One Title", Headings: []string{"First heading", "Second"},
			Body: "plain LOUD bold big plain",
		},
		Emphasis: []layout.Span{{Start: 11, End: 15}},
		Large:    []layout.Span{{Start: 0, End: 0}, {Start: 16, End: 19}},
	}
	var got []string
	for token := range newTokenizer().tokens(p) {
		hits := ""
		for hit, letter := range map[postings.Hits]string{postings.Capitals: "C", postings.Emphasis: "E", postings.Large: "L"} {
			if token.Hits&hit != 0 {
				hits += letter
			}
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%d:%d %s/%s %s", token.Field, token.Position, token.Term, token.Word, hits)))
	}
	want := []string{
		"0:1 one/one", "0:2 title/title",
		"1:1 first/first", "1:2 heading/heading", "1:103 second/second",
		"2:1 a/", "2:2 example/", "2:3 cafe/",
		"3:1 plain/plain", "3:2 loud/loud C", "3:3 bold/bold E", "3:4 big/big L", "3:5 plain/plain",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
	// A word that is in the main part, too, gets no second term: a page counts once.
	p.Outside, p.Body = "title margin plain margin cafe", "plain"
	p.Emphasis = []layout.Span{{Start: 6, End: 12}} // of nothing in the body
	got = nil
	for token := range newTokenizer().tokens(p) {
		if analysis.IsOutside(token.Term) {
			got = append(got, fmt.Sprintf("%d:%d %q %d", token.Field, token.Position, token.Term, token.Hits))
		}
	}
	if diff := cmp.Diff([]string{`3:103 "margin\x01" 0`, `3:105 "margin\x01" 0`}, got); diff != "" {
		t.Errorf("tokens outside (-want +got):\n%s", diff)
	}
	// A term without a number, of a full vocabulary, is treated in the same way.
	full := newTokenizer()
	full.vocabulary = nil
	usual := newTokenizer()
	for range 2 { // pages
		var with, without []segment.Token
		for token := range full.tokens(p) {
			without = append(without, token)
		}
		for token := range usual.tokens(p) {
			if (token.TermNumber == 0) != (token.Term == "") || (token.WordNumber == 0) != (token.Word == "") {
				t.Errorf("numbers of %+v", token)
			}
			token.TermNumber, token.WordNumber = 0, 0
			with = append(with, token)
		}
		if diff := cmp.Diff(with, without); diff != "" {
			t.Errorf("tokens (-numbered +not):\n%s", diff)
		}
	}
	// A start page has the words of its host and of the site's names as terms of their own.
	p.SiteNames, p.Outside = []string{"A Site"}, ""
	got = nil
	for token := range newTokenizer().tokens(p) {
		if segment.IsNameTerm(token.Term) {
			got = append(got, fmt.Sprintf("%d %q %q", token.Field, token.Term, token.Word))
		}
	}
	if diff := cmp.Diff([]string{`2 "a\x03\x02" ""`, `2 "example\x03\x02" ""`, `2 "site\x03\x02" ""`}, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	some := 0
	for range newTokenizer().tokens(p) {
		if some++; some == 3 {
			break // whoever wants no more gets no more
		}
	}
}
