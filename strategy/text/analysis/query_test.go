package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQuery(t *testing.T) {
	tests := []struct {
		text      string
		languages []string
		want      []Word
	}{
		{"", []string{"en"}, nil},
		{"Running", []string{""}, []Word{{"running", []string{"running"}, []int{0}, false, 1, 0, 7, 0}}},
		{"the libraries", []string{"en", "de", ""}, []Word{
			{"the", []string{"the"}, []int{0, 0, 0}, false, 1, 0, 3, 0},
			{"libraries", []string{"librari", "libraries"}, []int{0, 0, 1}, false, 2, 4, 13, 0},
		}},
		{"UTF-8 e-mails", []string{"", "en"}, []Word{
			{"utf", []string{"utf"}, []int{0, 0}, false, 1, 0, 3, 0},
			{"8", []string{"8"}, []int{0, 0}, false, 2, 4, 5, 0},
			{"", []string{"utf8"}, []int{0, 0}, false, 2, 0, 5, 2},
			{"e", []string{"e"}, []int{0, 0}, false, 3, 6, 7, 0},
			{"mails", []string{"mails", "mail"}, []int{0, 1}, false, 4, 8, 13, 0},
			{"", []string{"emails", "email"}, []int{0, 1}, false, 4, 6, 13, 2},
		}},
		{"2026-01-31 a- -b", []string{""}, []Word{
			{"2026", []string{"2026"}, []int{0}, false, 1, 0, 4, 0},
			{"01", []string{"01"}, []int{0}, false, 2, 5, 7, 0},
			{"31", []string{"31"}, []int{0}, false, 3, 8, 10, 0},
			{"a", []string{"a"}, []int{0}, false, 4, 11, 12, 0},
			{"b", []string{"b"}, []int{0}, false, 5, 15, 16, 0},
		}},
		{"C++", []string{"en"}, []Word{{"c++", []string{"c++"}, []int{0}, false, 1, 0, 3, 0}}},
		{"C c", []string{"en"}, []Word{{"c", []string{"c"}, []int{0}, false, 1, 0, 1, 0}, {"c", []string{"c"}, []int{0}, false, 2, 2, 3, 0}}},
		{"Hà ha", []string{"vi"}, []Word{{"hà", []string{"hà"}, []int{0}, false, 1, 0, 3, 0}, {"ha", []string{"ha"}, []int{0}, false, 2, 4, 6, 0}}},
		{"Hà", []string{"vi", "en"}, []Word{{"hà", []string{"hà", "ha"}, []int{0, 1}, false, 1, 0, 3, 0}}},
		{"日本語", []string{"ja", "zh"}, []Word{{"", []string{"日 本"}, []int{0, 0}, false, 1, 0, 6, 0}, {"", []string{"本 語"}, []int{0, 0}, false, 2, 3, 9, 0}}},
		{"日", []string{"ja"}, []Word{{"", []string{"日 "}, []int{0}, true, 1, 0, 3, 0}}},
		{"手機app 日", []string{""}, []Word{
			{"", []string{"手 機"}, []int{0}, false, 1, 0, 6, 0},
			{"app", []string{"app"}, []int{0}, false, 3, 6, 9, 0},
			{"", []string{"日 "}, []int{0}, true, 4, 10, 13, 0},
		}},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Query(test.text, analyzersOf(test.languages...))); diff != "" {
				t.Errorf("words (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRules(t *testing.T) {
	for _, test := range []struct{ language, query, want string }{
		{"en", "running", "en"}, {"en-US", "running", "en"}, {"xx", "running", ""}, {"", "running", ""}, {"ca", "córrer", ""},
		{"ru", "running", ""}, {"ru", "книга", "ru"}, {"kk", "книга", ""}, {"en", "книга", ""}, {"en", "iPhone книга", "en"},
		{"zh", "日本", ""}, {"ja", "日本 app", ""}, {"ne", "कल", "ne"}, {"vi", "bạn", "vi"}, {"nb", "bøker", "no"}, {"en", "", ""},
	} {
		if got := Rules(test.language, test.query); got != test.want {
			t.Errorf("a query %q in documents in %q: rules %q, want %q", test.query, test.language, got, test.want)
		}
	}
}

// analyzersOf returns an analyzer for each of these languages.
func analyzersOf(languages ...string) (all []*Analyzer) {
	for _, name := range languages {
		all = append(all, For(name))
	}
	return all
}
