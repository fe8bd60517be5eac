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
		{"Running", nil, []Word{{"running", []string{"running"}, false, 1, 0, 7}}},
		{"the libraries", []string{"en", "de", ""}, []Word{
			{"the", []string{"the"}, false, 1, 0, 3},
			{"libraries", []string{"librari", "libraries"}, false, 2, 4, 13},
		}},
		{"C++", []string{"en"}, []Word{{"c++", []string{"c++"}, false, 1, 0, 3}}},
		{"C c", []string{"en"}, []Word{{"c", []string{"c"}, false, 1, 0, 1}, {"c", []string{"c"}, false, 2, 2, 3}}},
		{"Hà ha", []string{"vi"}, []Word{{"hà", []string{"hà"}, false, 1, 0, 3}, {"ha", []string{"ha"}, false, 2, 4, 6}}},
		{"Hà", []string{"vi", "en"}, []Word{{"hà", []string{"hà", "ha"}, false, 1, 0, 3}}},
		{"日本語", []string{"ja", "zh"}, []Word{{"", []string{"日 本"}, false, 1, 0, 6}, {"", []string{"本 語"}, false, 2, 3, 9}}},
		{"日", []string{"ja"}, []Word{{"", []string{"日 "}, true, 1, 0, 3}}},
		{"手機app 日", nil, []Word{
			{"", []string{"手 機"}, false, 1, 0, 6},
			{"app", []string{"app"}, false, 3, 6, 9},
			{"", []string{"日 "}, true, 4, 10, 13},
		}},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Query(test.text, test.languages)); diff != "" {
				t.Errorf("words (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLikely(t *testing.T) {
	web := map[string]int{"en": 1000, "de": 300, "fr": 250, "es": 200, "it": 150, "pt": 100, "ru": 90, "zh": 80, "ja": 70, "ar": 10, "fa": 5, "hi": 3, "ne": 2, "tr": 1}
	tests := []struct {
		text      string
		documents map[string]int
		want      []string
	}{
		{"running", nil, []string{""}},
		{"running", map[string]int{"en": 5}, []string{"en"}},
		{"running", map[string]int{"en-US": 5, "en-GB": 2, "xx": 1}, []string{"en", ""}},
		{"running", map[string]int{"ru": 5}, []string{""}},
		{"running", web, []string{"en", "de", "", "fr"}},
		{"straße", web, []string{"de", "en", "", "fr"}},
		{"canções", web, []string{"pt", "fr", "en", "de"}},
		{"ışığı", web, []string{"tr", "en", "de", ""}},
		{"книга", web, []string{"", "ru"}},
		{"книга", map[string]int{"ru": 9, "kk": 3}, []string{"ru", ""}},
		{"日本", web, []string{""}},
		{"iPhone книга", map[string]int{"ru": 9, "en": 3, "ar": 1}, []string{"ru", "en", ""}},
		{"कल", web, []string{"", "hi", "ne"}},
		{"bạn", map[string]int{"vi": 9}, []string{"vi"}},
		{"", web, []string{""}},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Likely(test.text, test.documents)); diff != "" {
				t.Errorf("languages (-want +got):\n%s", diff)
			}
		})
	}
}
