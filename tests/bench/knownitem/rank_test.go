package knownitem

import (
	"strings"
	"testing"
)

func TestRankOf(t *testing.T) {
	for _, c := range []struct {
		results string
		want    int
	}{
		{"http://a/x.html http://a/library/os.html#os.path", 2}, // address of our engine
		{"/library/os.html /howto/", 1},                         // of FTS5 and Pagefind
		{"/x.html /howto/?a=b", 2},
		{"/os.html /library/", 0},
		{"", 0},
	} {
		if got := rankOf(strings.Fields(c.results), []string{"library/os.html", "howto/index.html"}); got != c.want {
			t.Errorf("%q has the rank %d, want %d", c.results, got, c.want)
		}
	}
}

// TestQuestions checks that each line of questions.tsv is read, and is about a manual.
func TestQuestions(t *testing.T) {
	found := 0
	for _, m := range manuals[:3] {
		found += len(m.questions())
	}
	if lines := strings.Count(questions, "\n"); found != lines || found < 60 {
		t.Errorf("%d questions are read of %d lines", found, lines)
	}
}
