package analysis

import "testing"

func TestStopWords(t *testing.T) {
	for _, test := range []struct {
		tag, word string
		is        bool
	}{
		{"en", "what", true},
		{"en-GB", "you", true},
		{"en", "don", true}, // of don't
		{"en", "t", true},
		{"en", "what's", false}, // no word of a text
		{"en", "kernel", false},
		{"en", "", false},
		{"de", "für", true},
		{"de", "fur", true}, // typed without marks
		{"de", "what", false},
		{"de", "womit", true}, // interrogatives that bluge's lists lack
		{"fr", "comment", true},
		{"ru", "сколько", true},
		{"hi", "कैसे", true},
		{"pl", "dlaczego", true},
		{"fr", "l", true},
		{"nb", "ikke", true}, // an alias of no
		{"ru", "что", true},
		{"tr", "ancak", true},
		{"zh", "什么", false}, // has no list
		{"xx", "what", false},
		{"", "what", false},
	} {
		if is := StopWordsOf(test.tag).Has(test.word); is != test.is {
			t.Errorf("%s %q: %v, want %v", test.tag, test.word, is, test.is)
		}
	}
	for tag := range interrogatives {
		if stopWords[tag] == nil {
			t.Errorf("interrogatives of %s are not used", tag)
		}
	}
	for tag, list := range stopWords {
		if len(list()) < 20 {
			t.Errorf("%s has %d stop words", tag, len(list()))
		}
	}
}
