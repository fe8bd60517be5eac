package search

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestAbsentWords checks the note about words that no page has: it must name all of them, as they are written, and no
// word that a page has in another form or only in a joined word, and none of an address.
func TestAbsentWords(t *testing.T) {
	ix := indexOf(t,
		[]segment.Document{page("http://a/1", "red foxes run"), page("http://a/2", "the HttpServer answers")},
		[]segment.Document{page("http://a/3", "blue dogs sleep")})
	for query, want := range map[string]string{
		"red Wolf":              `No page has "Wolf".`,
		"wolf fox otter wolf":   `No page has "wolf", "otter".`,
		"red +wolf":             `No page has "wolf".`,
		`"red wolf"`:            `No page has "wolf".`,
		"a1 b2 c3 d4 e5 f6 red": `No page has "a1", "b2", "c3", "d4", "e5" and 1 more of the words.`,
		"wolf otter":            "", // the empty answer says it
		"fox dog":               "",
		"http server":           "", // HttpServer has both
		"red -wolf":             "",
		"red (wolf OR dog)":     "",
		"red wolf*":             "",
		"red wolf~":             "",
		"red site:b":            "",
		"red http://b/wolf":     "", // the answer tells what became of an address
	} {
		got := find(t, ix, Query{Text: query, Size: 10}).Notes
		got = slices.DeleteFunc(got, func(note string) bool { return !strings.HasPrefix(note, "No page has") })
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: notes %q, want %q", query, got, want)
		}
	}
	if got := find(t, ix, Query{Text: "red wolf", Size: 10, Deadline: time.Unix(0, 1)}); !got.Partial || len(got.Notes) > 0 {
		t.Errorf("segments that were not read in time lack the word, say the notes %q", got.Notes)
	}
}
