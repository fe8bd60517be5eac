package segment

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// marked writes fragments with brackets around matches.
func marked(fragments []Fragment) string {
	var out strings.Builder
	for _, f := range fragments {
		if f.Match {
			out.WriteString("[" + f.Text + "]")
		} else {
			out.WriteString(f.Text)
		}
	}
	return out.String()
}

func TestSnippet(t *testing.T) {
	filler := strings.Repeat("nothing of note here ", 40)
	tests := []struct {
		name, query, text, want string
	}{
		{"whole text", "fox", "The Foxes\n\n ran; a fox\tsat.", "The [Foxes] ran; a [fox] sat."},
		{"no match", "cat", "The foxes ran.", "The foxes ran."},
		{"empty", "cat", "", ""},
		{"chinese", "搜索引擎", "大型搜索引擎运行", "大型[搜索引擎]运行"},
		{"control characters", "fox", "a\x00\x1b[31mfox", "a [31mfox"},
		{"excluded words", "ran -fox", "fox ran", "fox [ran]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := markerFor(test.query)
			if diff := cmp.Diff(test.want, marked(m.snippet(test.text))); diff != "" {
				t.Errorf("snippet (-want +got):\n%s", diff)
			}
		})
	}

	t.Run("part with all words", func(t *testing.T) {
		got := marked(markerFor("red fox").snippet("red " + filler + "the fox is red " + filler + "fox"))
		if !strings.Contains(got, "the [fox] is [red] ") || !strings.HasPrefix(got, "… ") || !strings.HasSuffix(got, " …") {
			t.Errorf("snippet is %q", got)
		}
	})
	t.Run("without spaces", func(t *testing.T) {
		got := marked(markerFor("東京").snippet(strings.Repeat("何も無い", 200) + "東京" + strings.Repeat("何も無い", 200)))
		if !strings.Contains(got, "[東京]") || !utf8.ValidString(got) || len(got) > snippetSize+20 {
			t.Errorf("snippet of %d bytes is %q", len(got), got)
		}
	})
	t.Run("long title", func(t *testing.T) {
		got := marked(markerFor("nothing").whole(filler))
		if !strings.HasPrefix(got, "[nothing] of") || !strings.HasSuffix(got, " …") || len(got) > titleSize+50 {
			t.Errorf("title is %q", got)
		}
	})
}

// markerFor marks the words of a query, all worth the same.
func markerFor(query string) *marker {
	a := newAnalyzer()
	return newMarker(a, parse(query, a).words, func(string) float64 { return 1 })
}

func FuzzSnippet(f *testing.F) {
	f.Add("fox", "the fox \xff ran", 3)
	f.Add("東京", "何も無い東京", 100)
	f.Fuzz(func(t *testing.T, query, text string, times int) {
		text = strings.Repeat(text, min(max(times, 1), 200))
		got := markerFor(query).snippet(text)
		size := 0
		for _, fragment := range got {
			if size += len(fragment.Text); !utf8.ValidString(fragment.Text) || fragment.Text == "" {
				t.Errorf("fragment %q", fragment.Text)
			}
		}
		if size > 3*snippetSize+20 { // a byte that is no character is shown as three
			t.Errorf("%d bytes", size)
		}
	})
}
