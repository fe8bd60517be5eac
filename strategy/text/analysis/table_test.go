package analysis

import (
	"testing"
)

// termOf returns the first term of a word in a language, not the looser second one.
func termOf(t *testing.T, name, word string) (term string) {
	t.Helper()
	For(name).Each(word, func(o Occurrence) bool { term = o.Term; return false })
	if term == "" {
		t.Fatalf("%s: no term of %q", name, word)
	}
	return term
}

// Each row of the test's table has a language and some of its words, such as the forms of one word.
// All words of a row must get the same term.
func TestWordsThatMeet(t *testing.T) {
	tests := []struct {
		language string
		words    []string
	}{
		{"", []string{"café", "Cafe", "CAFÉ"}},
		{"", []string{"Ελλάδα", "ΕΛΛΑΔΑ"}},
		{"", []string{"ΟΔΟΣ", "οδος"}},
		{"", []string{"straße", "STRASSE"}},
		{"", []string{"smørrebrød", "smorrebrod"}},
		{"", []string{"كِتَاب", "كتاب", "کتاب", "كتـــاب"}},
		{"", []string{"हिन्दी", "हिंदी"}},
		{"en", []string{"library", "libraries", "Libraries"}},
		{"en", []string{"run", "runs", "running"}},
		{"en", []string{"résumés", "resumes", "resume"}},
		{"de", []string{"Haus", "hauses"}},
		{"de", []string{"Häuser", "Häusern", "haeuser"}},
		{"de", []string{"Müller", "Mueller"}},
		{"de", []string{"Straße", "Straßen", "STRASSE", "strasse"}},
		{"es", []string{"canción", "cancion", "canciones"}},
		{"es", []string{"niño", "niños", "ninos"}},
		{"es", []string{"organización", "organizaciones"}},
		{"es", []string{"casa", "casas"}},
		{"fr", []string{"cheval", "chevaux"}},
		{"fr", []string{"national", "nationale", "nationaux"}},
		{"fr", []string{"école", "écoles", "ecole"}},
		{"it", []string{"libro", "libri"}},
		{"it", []string{"amica", "amiche"}},
		{"it", []string{"città", "citta"}},
		{"pt", []string{"canção", "canções"}},
		{"pt", []string{"hotel", "hotéis"}},
		{"pt", []string{"avião", "aviões"}},
		{"da", []string{"hus", "huset", "husene"}},
		{"fi", []string{"talo", "talossa", "talot"}},
		{"hu", []string{"könyv", "könyvek"}},
		{"nl", []string{"boek", "boeken"}},
		{"nl", []string{"mogelijkheid", "mogelijkheden"}},
		{"no", []string{"hus", "husene"}},
		{"ro", []string{"națiune", "naţiune", "națiuni"}},
		{"sv", []string{"flicka", "flickor", "flickorna"}},
		{"tr", []string{"kitap", "kitaplar"}},
		{"tr", []string{"IŞIK", "ışık"}},
		{"tr", []string{"İSTANBUL", "istanbul"}},
		{"id", []string{"buku", "bukunya", "bukulah"}},
		{"ms", []string{"rumah", "rumahnya", "rumahku"}},
		{"vi", []string{"Nội", "NỘI", "nô\u0323i"}},
		{"ru", []string{"книга", "книги", "книгами"}},
		{"ru", []string{"ёжик", "ежик", "ёжика"}},
		{"ru", []string{"Москва", "Москва́", "Москве"}},
		{"kk", []string{"Қазақстан", "ҚАЗАҚСТАН"}},
		{"ky", []string{"өмүр", "ӨМҮР"}},
		{"mn", []string{"өдөр", "ӨДӨР"}},
		{"tg", []string{"тоҷик", "ТОҶИК"}},
		{"tl", []string{"bata", "Bata"}},
		{"ar", []string{"كتاب", "الكتاب", "والكتاب", "كِتَابٌ"}},
		{"ar", []string{"مدرسة", "المدرسه"}},
		{"ar", []string{"أحمد", "احمد"}},
		{"fa", []string{"کتاب", "كتاب", "کتابها", "کتابهای"}},
		{"ur", []string{"زندگی", "زندگي"}},
		{"ps", []string{"دی", "دي"}},
		{"hi", []string{"लड़का", "लड़के"}},
		{"hi", []string{"किताब", "किताबें", "किताबों"}},
		{"ne", []string{"नेपाल", "नेपालको", "नेपालमा"}},
		{"ne", []string{"विद्यार्थी", "विद्यार्थीहरू", "विद्यार्थीहरूले"}},
		{"ja", []string{"ガ", "ｶﾞ", "カ\u3099"}},
		{"ko", []string{"한", "\u1112\u1161\u11ab"}},
		{"th", []string{"น้ำ", "น\u0e49\u0e4d\u0e32"}},
	}
	for _, test := range tests {
		t.Run(test.language, func(t *testing.T) {
			want := termOf(t, test.language, test.words[0])
			for _, word := range test.words[1:] {
				if got := termOf(t, test.language, word); got != want {
					t.Errorf("%q has the term %q, %q has %q", word, got, test.words[0], want)
				}
			}
		})
	}
}

// Each row of the test's table has a language and some of its words. No two words of a row may get
// the same term.
func TestWordsThatDiffer(t *testing.T) {
	tests := []struct {
		language string
		words    []string
	}{
		{"", []string{"run", "runs"}},
		{"en", []string{"new", "news"}},
		{"en", []string{"policy", "police"}},
		{"de", []string{"Haus", "Hase", "Hose"}},
		{"de", []string{"Leiter", "Leid"}},
		{"es", []string{"caso", "cazar", "cosa"}},
		{"fr", []string{"pêche", "poche"}},
		{"it", []string{"libro", "libero"}},
		{"pt", []string{"pão", "pau"}},
		{"da", []string{"hus", "has"}},
		{"fi", []string{"talo", "tili"}},
		{"hu", []string{"kor", "kar"}},
		{"nl", []string{"boek", "bok"}},
		{"sv", []string{"flicka", "flagga"}},
		{"tr", []string{"kitap", "katip"}},
		{"id", []string{"makan", "main"}},
		{"vi", []string{"ban", "bán", "bàn", "bạn", "bản"}},
		{"ru", []string{"мир", "мера", "море"}},
		{"ru", []string{"й", "и"}},
		{"kk", []string{"қала", "кала"}},
		{"ar", []string{"كتاب", "كلاب"}},
		{"fa", []string{"شیر", "شهر"}},
		{"ur", []string{"پھل", "پہل"}},
		{"hi", []string{"कल", "काल"}},
		{"ne", []string{"काम", "कान"}},
		{"th", []string{"ข้าว", "ขาว"}},
		{"zh", []string{"買", "賣"}},
	}
	for _, test := range tests {
		t.Run(test.language, func(t *testing.T) {
			terms := map[string]string{}
			for _, word := range test.words {
				term := termOf(t, test.language, word)
				if other, taken := terms[term]; taken {
					t.Errorf("%q and %q both have the term %q", other, word, term)
				}
				terms[term] = word
			}
		})
	}
}

func TestForReadsTags(t *testing.T) {
	tests := map[string]string{
		"en": "en", "EN": "en", "en-US": "en", "pt_BR": "pt", "zh-Hant-TW": "zh",
		"nb": "no", "fil": "tl", "xx": "", "": "", "-": "",
	}
	for tag, want := range tests {
		if got := codeOf(tag); got != want {
			t.Errorf("%q is the language %q, want %q", tag, got, want)
		}
	}
}

// Every language in the table has a fixture: a sentence by which TestOutputChangesWithTheVersion
// notices that the language's terms have changed.
func TestEveryLanguageHasAFixture(t *testing.T) {
	for code := range table {
		if fixtures[code] == "" {
			t.Errorf("no sentence in %q", code)
		}
	}
}
