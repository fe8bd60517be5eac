package analysis

import (
	"fmt"
	"testing"
)

func TestVocabulary(t *testing.T) {
	v := NewVocabulary()
	strings := map[uint32]string{}
	verify := func(number uint32, s string) {
		t.Helper()
		if number != v.Number(s) {
			t.Fatalf("%q has the number %d, later %d", s, number, v.Number(s))
		}
		if other, known := strings[number]; known && other != s {
			t.Fatalf("%q and %q have the number %d", other, s, number)
		}
		strings[number] = s
	}
	const more = " C++ C# Straße NASA"
	for _, name := range []string{"en", "vi", "zh", "de"} {
		v.For(name).Each(fixtures[name]+more, func(o Occurrence) bool {
			verify(o.TermNumber, o.Term)
			verify(o.WordNumber, o.Word)
			return true
		})
	}
	if len(strings) < 50 || v.Number("") != 0 {
		t.Errorf("%d strings, the empty one has the number %d", len(strings), v.Number(""))
	}
	for i := range maxNumbers {
		v.Number(fmt.Sprint(i, " "))
	}
	if n := v.Number("new"); n != 0 || len(v.numbers) != maxNumbers {
		t.Errorf("a full vocabulary of %d gives a new string the number %d", len(v.numbers), n)
	}
	for number, s := range strings {
		verify(number, s)
	}
}
