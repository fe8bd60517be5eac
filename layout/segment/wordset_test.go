package segment

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/blevesearch/vellum"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/racetest"
)

// spelled returns a segment whose documents have several thousand words of few different characters, so that many
// words are near each other, and the words fill several pages.
func spelled(t testing.TB, random *rand.Rand) (s *Segment, words []string) {
	t.Helper()
	docs := generate(8, 1)
	for i := range docs {
		var body strings.Builder
		for range 1500 {
			word := randomWord(random, 1+random.IntN(12))
			words = append(words, word)
			body.WriteString(word + " ")
		}
		fmt.Fprint(&body, strings.Repeat("long", 1+random.IntN(50)))
		docs[i].Body = body.String()
	}
	s = mustOpen(t, mustBuild(t, docs, 0))
	if len(s.tail.forward) < 3 || len(s.tail.backward) < 3 {
		t.Fatalf("only %d pages of words, and %d backward", len(s.tail.forward), len(s.tail.backward))
	}
	return s, words
}

func randomWord(random *rand.Rand, characters int) string {
	word := make([]rune, characters)
	for i := range word {
		word[i] = []rune("abcdeé語")[random.IntN(7)]
	}
	return string(word)
}

// edited returns a word after so many random edits.
func edited(random *rand.Rand, word string, edits int) string {
	characters := []rune(word)
	for range edits {
		at := random.IntN(len(characters) + 1)
		switch other := []rune(randomWord(random, 1)); {
		case random.IntN(4) == 0 || len(characters) < 2:
			characters = append(characters[:at:at], append(other, characters[at:]...)...)
		case at+1 < len(characters) && random.IntN(3) == 0:
			characters[at], characters[at+1] = characters[at+1], characters[at]
		case at < len(characters) && random.IntN(2) == 0:
			characters[at] = other[0]
		case at < len(characters):
			characters = append(characters[:at:at], characters[at+1:]...)
		}
	}
	return string(characters)
}

// transducerOf returns a transducer of the words of a segment, as segments had it up to version 3.
func transducerOf(t *testing.T, s *Segment) *vellum.FST {
	t.Helper()
	var content bytes.Buffer
	b, err := vellum.New(&content, nil)
	if err != nil {
		t.Fatal(err)
	}
	walk, err := s.walkWords(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for {
		more, err := walk.next()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		if err := b.Insert(walk.key(), walk.count()); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	fst, err := vellum.Load(content.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return fst
}

// TestWordSets compares the words of sets that are read from pages with those that a transducer of all words has.
func TestWordSets(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	s, words := spelled(t, random)
	all := &Words{segment: s, whole: transducerOf(t, s)}
	near := 0 // words that were found near others
	for range racetest.Rounds(200, 40) {
		word := edited(random, words[random.IntN(len(words))], random.IntN(3))
		sets := []WordSet{TheWord(word), Beginning(word[:random.IntN(len(word)+1)])}
		for edits := 1; edits <= 2; edits++ {
			set, err := Near(word, edits)
			if err != nil {
				t.Fatal(err)
			}
			sets = append(sets, set)
		}
		read, err := s.Words(t.Context(), sets...)
		if err != nil || read.All() {
			t.Fatalf("all words were read: %v", err)
		}
		for n, set := range sets {
			got, visits := map[string]uint64{}, 0
			err := read.Each(set, func(word []byte, documents uint64) bool {
				got[string(word)] = documents
				visits++
				return true
			})
			want := inSet(t, all, set)
			if !maps.Equal(want, got) || visits != len(want) || err != nil {
				t.Fatalf("set %d of %q in %d visits (-want +got)\n%s (%v)", n, word, visits, cmp.Diff(want, got), err)
			}
			for other := range got {
				if edits := set.Edits(other); n < 2 && edits != 0 || n >= 2 && (edits > n-1 || (edits == 0) != (other == word)) {
					t.Fatalf("%q is %d edits from %q", other, edits, word)
				}
			}
			if n >= 2 {
				near += len(want)
			}
		}
	}
	if near < 1000 {
		t.Errorf("only %d words are near others", near)
	}
}

// TestWordSetsReadFewPages checks of how many pages the words of a set are read, and that a walk ends when it should.
func TestWordSetsReadFewPages(t *testing.T) {
	s, words := spelled(t, rand.New(rand.NewPCG(3, 4)))
	longest := ""
	for _, word := range words {
		if len(word) > len(longest) {
			longest = word
		}
	}
	near, err := Near(longest, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		set  WordSet
		most int
	}{
		"a word":     {TheWord(longest), 1},
		"a prefix":   {Beginning(longest[:8]), 2},
		"near":       {near, 4},
		"all":        {Beginning(""), len(s.tail.forward)},
		"none above": {Beginning("\xff"), 0},
	} {
		read, err := s.Words(t.Context(), c.set)
		if err != nil || len(read.pages) > c.most {
			t.Errorf("%s: %d pages, want at most %d: %v", name, len(read.pages), c.most, err)
		}
		visits := 0
		if err := read.Each(c.set, func([]byte, uint64) bool { visits++; return false }); err != nil || visits > 1 {
			t.Errorf("%s: %d visits, want one: %v", name, visits, err)
		}
	}
}

func TestReversed(t *testing.T) {
	for text, want := range map[string]string{"": "", "a": "a", "añb語": "語bña", "a\xffé\x80": "\x80é\xffa"} {
		if got := reversed(text); got != want || reversed(got) != text {
			t.Errorf("%q is reversed to %q, want %q", text, got, want)
		}
	}
}

// FuzzWordPage reads a page of words with any content. What it yields must be in the set.
func FuzzWordPage(f *testing.F) {
	s, words := spelled(f, rand.New(rand.NewPCG(5, 6)))
	read, err := s.Words(f.Context(), TheWord(words[0]))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(read.pages[0].content, words[0], false)
	f.Add([]byte("\x01a\x01\x1f\x00bcdefghijklmnopq\x01"), "abc", true)
	f.Fuzz(func(t *testing.T, content []byte, word string, backward bool) {
		if len(word) > 40 {
			return
		}
		near, err := Near(word, 2)
		if err != nil {
			return
		}
		for _, set := range []WordSet{near, Beginning(word), TheWord(word)} {
			w := &Words{segment: s, pages: []readPage{{last: "\xff", backward: backward, content: content}}}
			_ = w.Each(set, func(found []byte, _ uint64) bool {
				if !set.whole.has(found) {
					t.Errorf("%q is not in the set", found)
				}
				return true
			})
		}
	})
}
