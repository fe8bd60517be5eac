package segment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTerms(t *testing.T) {
	tests := []struct {
		text string
		want []string // term, its position and its bytes
	}{
		{"", nil},
		{"Running, runs!", []string{"run 1 Running", "run 2 runs"}},
		{"os.path_join", []string{"os 1 os", "path 2 path", "join 3 join"}},
		{"Müller's ÉTÉ", []string{"muller 1 Müller", "s 2 s", "et 3 ÉTÉ"}},
		{"e\u0301te\u0301", []string{"et 1 e\u0301te\u0301"}},
		{"co\u00adopt", []string{"coopt 1 co\u00adopt"}},
		{"Москва́ йод", []string{"москва\u0301 1 Москва́", "йод 2 йод"}},
		{"東京都 x", []string{"東京 1 東京", "京都 2 京都", "x 3 x"}},
		{"京 1時", []string{"京 1 京", "1 2 1", "時 3 時"}},
		{"サーバー", []string{"サー 1 サー", "ーバ 2 ーバ", "バー 3 バー"}},
		{"ＡＢＣ", []string{"abc 1 ＡＢＣ"}},
		{"ກິນ", []string{"ກິນ 1 ກິນ"}},
		{strings.Repeat("x", maxTerm+1) + " y", []string{"y 2 y"}},
		{"a\xffb", []string{"a 1 a", "b 2 b"}},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			var got []string
			newAnalyzer().each(test.text, func(o occurrence) bool {
				got = append(got, fmt.Sprintf("%s %d %s", o.term, o.position, test.text[o.start:o.end]))
				return true
			})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("terms (-want +got):\n%s", diff)
			}
		})
	}
}

// A word gives the same term whatever was analysed before it, also when the
// memory of words has been emptied.
func TestTermsAreRemembered(t *testing.T) {
	used := newAnalyzer()
	for i := range maxMemo + 10 {
		used.term(fmt.Sprintf("words%d", i))
	}
	if len(used.memo) > maxMemo {
		t.Errorf("%d words are remembered", len(used.memo))
	}
	for range 2 {
		if got := used.term("Running"); got != "run" {
			t.Errorf("term is %q", got)
		}
	}
}
