package language

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// required are the languages that Identify must know.
var required = strings.Fields("zh en ja ko de ur fr ru es pt ar hi it id ms my fa vi mn kk ky ne tl ps lo tg bo")

//go:embed testdata/sentences.txt
var fixture string

type sentence struct{ language, text string }

func sentences() (all []sentence) {
	for line := range strings.Lines(fixture) {
		if language, text, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			all = append(all, sentence{language, text})
		}
	}
	return all
}

// TestSentences requires that 95 % of all sentences are identified rightly, and 85 % of those
// in each language.
func TestSentences(t *testing.T) {
	all, right := 0, 0
	each, eachRight := map[string]int{}, map[string]int{}
	for _, s := range sentences() {
		all++
		each[s.language]++
		if got, sure := Identify(s.text); got == s.language {
			right++
			eachRight[s.language]++
		} else {
			t.Logf("%s taken for %q (%.2f): %s", s.language, got, sure, s.text)
		}
	}
	if right*100 < all*95 {
		t.Errorf("%d of %d right, want 95 %%", right, all)
	}
	for _, language := range required {
		if each[language] == 0 || eachRight[language]*100 < each[language]*85 {
			t.Errorf("%s: %d of %d right, want 85 %%", language, eachRight[language], each[language])
		}
	}
}

func TestIdentify(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"nothing":                        {"", ""},
		"no letters":                     {"12 + 30 = 42 !? 😀 →", ""},
		"not UTF-8":                      {"\xff\xfe\x80", ""},
		"Chinese of terms":               {"使用 apt-get install docker-compose 安装软件包", "zh"},
		"Japanese of terms":              {"Kubernetes の Pod を kubectl で削除する", "ja"},
		"Russian of terms":               {"Запустите docker-compose up в каталоге проекта", "ru"},
		"a foreign name":                 {"The Russian word for peace is мир, and the Chinese one is 和平.", "en"},
		"capitals":                       {"LE MUSÉE EST FERMÉ LE LUNDI ET LES JOURS FÉRIÉS", "fr"},
		"Yiddish":                        {"יעדער מענטש ווערט געבוירן פֿרײַ און גלײַך אין כּבוד און רעכט", "yi"},
		"Marathi":                        {"संग्रहालय सोमवारी बंद असते आणि प्रवेश विनामूल्य आहे.", "mr"},
		"Breton, which has no name here": {"Serret eo ar mirdi d'al Lun, met digor eo en deizioù all.", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, sure := Identify(test.text); got != test.want {
				t.Errorf("Identify(%q) = %q, %.3f; want %q", test.text, got, sure, test.want)
			}
		})
	}
}

// TestForms checks that a text is identified as the same language in both Unicode forms, NFC and NFD:
// with accents composed with their letters, or as characters of their own.
func TestForms(t *testing.T) {
	for _, s := range sentences() {
		want, wantSure := Identify(norm.NFC.String(s.text))
		got, sure := Identify(norm.NFD.String(s.text))
		if got != want || slices.Contains([]string{"vi", "fr", "cs"}, s.language) && sure != wantSure {
			t.Errorf("%s: decomposed %q %v, composed %q %v: %s", s.language, got, sure, want, wantSure, s.text)
		}
	}
}

// TestSample checks that the sample of a long text is not only its beginning. The sample must have
// a limited size, and must not cut a character.
func TestSample(t *testing.T) {
	menu := strings.Repeat("Home News About us Contact Imprint Sitemap Search Login ", 30)
	text := menu + strings.Repeat("Сегодня в городе открылась новая библиотека. ", 400)
	if got, _ := Identify(text); got != "ru" {
		t.Errorf("a Russian page with an English menu is %q", got)
	}
	for n := range 16 {
		piece := sample(strings.Repeat("я", 5000+n)[n%2:])
		if len(piece) > windows*(window+1) || strings.Contains(strings.Trim(piece[2:], " я"), "�") {
			t.Errorf("sample of %d bytes: %d bytes", 10000+2*n, len(piece))
		}
	}
}

func FuzzDecide(f *testing.F) {
	for _, s := range sentences() {
		f.Add(s.text, s.language)
	}
	f.Add("\xff\xfea\xc3", "x-\xff")
	f.Add(strings.Repeat("ж", 4096), "")
	f.Fuzz(func(t *testing.T, text, declared string) {
		code, sure := Identify(text)
		if !(sure >= 0 && sure <= 1) || code != "" && sure == 0 {
			t.Errorf("Identify(%q) = %q, %v", text, code, sure)
		}
		decided, source := Decide(text, declared)
		if source == "" && decided != "" || source == Guessed && decided != code || source == Declared && decided == "" {
			t.Errorf("Decide(%q, %q) = %q, %q; Identify: %q", text, declared, decided, source, code)
		}
		if again, same := Decide(text, declared); again != decided || same != source {
			t.Errorf("Decide(%q, %q) = %q, %q, then %q, %q", text, declared, decided, source, again, same)
		}
	})
}

// BenchmarkIdentify identifies 4 KB of text in each language. Identify never reads more of a text.
func BenchmarkIdentify(b *testing.B) {
	texts := map[string]string{}
	for _, s := range sentences() {
		texts[s.language] += s.text + "\n"
	}
	for _, language := range []string{"en", "de", "id", "vi", "ru", "ar", "hi", "zh", "my"} {
		text := sample(strings.Repeat(texts[language], 20))
		b.Run(language, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Identify(text)
			}
		})
	}
}
