package search

import (
	"strings"
	"sync"
)

// latinKeys are the characters of the keys of an English keyboard (qwerty), row by row. Each layout in the variable
// keyboards has the characters of the same keys in the same order. One key may give two letters.
const latinKeys = "q w e r t y u i o p [ ] a s d f g h j k l ; ' z x c v b n m , . / `"

// keyboards are other layouts of the keyboard, key by key as in latinKeys. Somebody may type a word while the wrong
// layout is set: the keys of привет give ghbdtn in the English layout.
var keyboards = []string{
	"й ц у к е н г ш щ з х ъ ф ы в а п р о л д ж э я ч с м и т ь б ю . ё",  // Russian
	"й ц у к е н г ш щ з х ї ф і в а п р о л д ж є я ч с м и т ь б ю . '",  // Ukrainian
	"; ς ε ρ τ υ θ ι ο π [ ] α σ δ φ γ η ξ κ λ ΄ ' ζ χ ψ ω β ν μ , . / `",  // Greek
	"/ ' ק ר א ט ו ן ם פ ] [ ש ד ג כ ע י ח ל ך ף , ז ס ב ה נ מ צ ת ץ . ;",  // Hebrew
	"ض ص ث ق ف غ ع ه خ ح ج د ش س ي ب ل ا ت ن م ك ط ئ ء ؤ ر لا ى ة و ز ظ ذ", // Arabic
	"q w e r t z u i o p ü + a s d f g h j k l ö ä y x c v b n m , . - ^",  // German
}

// mapping maps the character of a key in one layout to what the same key gives in another layout.
type mapping map[rune]string

// mappings returns two mappings for each layout in keyboards: from the English layout to this one, and back.
var mappings = sync.OnceValue(func() (all []mapping) {
	latin := strings.Fields(latinKeys)
	for _, keyboard := range keyboards {
		to, from := make(mapping), make(mapping)
		for i, other := range strings.Fields(keyboard) {
			to[[]rune(latin[i])[0]] = other
			if letters := []rune(other); len(letters) == 1 {
				from[letters[0]] = latin[i]
			}
		}
		all = append(all, to, from)
	}
	return all
})

// retyped returns what the keys on which a text was typed give in other layouts of the keyboard, in lower case:
// ghbdtn gives привет. Mappings that lack a character of the text are left out.
func retyped(text string) (others []string) {
	text = strings.ToLower(text)
	for _, m := range mappings() {
		var typed strings.Builder
		for _, r := range text {
			key, known := m[r]
			if !known {
				typed.Reset()
				break
			}
			typed.WriteString(key)
		}
		if typed.Len() > 0 && typed.String() != text {
			others = append(others, typed.String())
		}
	}
	return others
}
