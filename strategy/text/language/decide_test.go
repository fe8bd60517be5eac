package language

import (
	"strings"
	"testing"
)

func TestDecide(t *testing.T) {
	const (
		english  = "The museum is closed on Mondays and public holidays. "
		russian  = "Сегодня в городе открылась новая библиотека. "
		nepali   = "संग्रहालय सोमबार बन्द हुन्छ र प्रवेश निःशुल्क छ। "
		japanese = "図書館は月曜日に休館します。"
		malay    = "Muzium ini ditutup pada hari Isnin dan masuk adalah percuma untuk kanak-kanak. "
	)
	long := func(text string) string { return strings.Repeat(text, 12) }
	tests := map[string]struct {
		text, declared, want string
		source               Source
	}{
		"nothing":                           {"", "", "", ""},
		"nothing but a declaration":         {"", "en", "en", Declared},
		"no declaration":                    {long(russian), "", "ru", Guessed},
		"no declaration and doubt":          {"Serret eo ar mirdi d'al Lun, met digor eo en deizioù all.", "", "", ""},
		"a short text":                      {"Program", "ms", "ms", Declared},
		"a region":                          {"Program", "id-ID", "id", Declared},
		"an old code of Indonesian":         {"Program", "in", "id", Declared},
		"an old code of Hebrew":             {"Program", "iw-IL", "he", Declared},
		"an old code of Yiddish":            {"Program", "ji", "yi", Declared},
		"three letters":                     {english, "eng", "en", Declared},
		"another name":                      {"Museet er stengt på mandager.", "nb", "no", Declared},
		"a sentence in another language":    {english, "de", "de", Declared},
		"a page in another language":        {long(english), "de", "en", Overruled},
		"a list of few words":               {strings.Repeat("cheap velocipede ", 300), "en", "en", Declared},
		"a sentence in another script":      {russian, "en", "ru", Overruled},
		"two words in another script":       {"Сегодня холодно", "en", "en", Declared},
		"Chinese characters alone":          {"東京都渋谷区円山町 国立図書館 営業時間変更 駅前広場", "ja-JP", "ja", Declared},
		"Japanese that declares Chinese":    {japanese, "zh", "ja", Overruled},
		"Nepali":                            {nepali, "ne", "ne", Declared},
		"Nepali that declares Hindi":        {long(nepali), "hi", "ne", Overruled},
		"Hindi that declares Nepali, short": {"संग्रहालय", "ne", "ne", Declared},
		"a language like the declared one":  {long(malay), "id", "id", Declared},
		"an unknown language":               {long("Serret eo ar mirdi d'al Lun, met digor eo en deizioù all. "), "br", "br", Declared},
		"a language without a code":         {english, "xx", "en", Guessed},
		"no tag":                            {"Das Museum ist montags geschlossen.", "utf-8", "de", Guessed},
		"several languages":                 {english, "mul", "en", Guessed},
		"Serbian in Latin letters":          {long("Muzej je zatvoren ponedeljkom i praznicima, a ulaz je besplatan. "), "sr-Latn", "sr", Declared},
		"Russian in Latin letters":          {"Segodnya v gorode otkrylas novaya biblioteka.", "ru-Latn", "ru", Declared},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, source := Decide(test.text, test.declared); got != test.want || source != test.source {
				_, sure := Identify(test.text)
				t.Errorf("Decide(%q, %q) = %q, %q; want %q, %q (%.4f)", test.text, test.declared, got, source, test.want, test.source, sure)
			}
		})
	}
}

// TestTrueDeclarationsStand checks two things. If a text of one sentence declares its true
// language, the declaration must stand. If a page of many sentences declares another language than
// its own, Decide must overrule the declaration, unless the two languages are hard to tell apart.
func TestTrueDeclarationsStand(t *testing.T) {
	pages := make(map[string]string)
	for _, s := range sentences() {
		if got, source := Decide(s.text, s.language); got != s.language || source != Declared {
			t.Errorf("%s is %q, %s: %s", s.language, got, source, s.text)
		}
		pages[s.language] += s.text + "\n"
	}
	for code, text := range pages {
		if lettersIn(text) < 2*provingLetters {
			continue // there are few sentences of the languages that are not required
		}
		for declared := range pages {
			got, source := Decide(text, declared)
			if declared != code && !alike(code, declared) && (got != code || source != Overruled) {
				t.Errorf("a page in %s that declares %s is %q, %s", code, declared, got, source)
			}
		}
	}
}
