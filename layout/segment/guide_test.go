package segment

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"
)

// TestGuides looks up all terms of a segment, and texts between them, one by one and all at once, with a cache of
// guides and without. It checks that the results are equal.
func TestGuides(t *testing.T) {
	docs := generate(300, 1)
	s := mustOpen(t, mustBuild(t, docs, 0))
	all, _ := invert(docs)
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		texts = append(texts, name, name+"\x00", name)
	}
	texts = append(texts, "")
	want, err := s.Terms(t.Context(), texts, true)
	if err != nil {
		t.Fatal(err)
	}
	cache := make(guides)
	check := func(texts []string, want []*Term) {
		t.Helper()
		got, err := s.TermsBy(t.Context(), texts, true, cache)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("of %d terms, some differ: %v", len(texts), err)
		}
	}
	for i := range texts {
		check(texts[i:i+1], want[i:i+1])
	}
	marks := 0
	for block, guide := range cache[s.ref.Key] {
		marks += len(guide.marks)
		if n := int(s.tail.terms.counts[block]-1) / guideStep; len(guide.marks) != n {
			t.Errorf("%d marks in block %d, want %d", len(guide.marks), block, n)
		}
	}
	if marks < 10 {
		t.Errorf("%d marks are too few for this test", marks)
	}
	check(texts, want)
	slices.Reverse(texts)
	slices.Reverse(want)
	check(texts, want)
}

// TestGuideOfOtherBytes checks that the checksum of a block is left out only for the bytes from which its guide
// was made.
func TestGuideOfOtherBytes(t *testing.T) {
	content := mustBuild(t, generate(300, 1), 0)
	cache := make(guides)
	look := func(content []byte) error {
		_, err := mustOpen(t, content).TermsBy(t.Context(), []string{"w1"}, false, cache)
		return err
	}
	if err := look(content); err != nil {
		t.Fatal(err)
	}
	same := maps.Clone(cache[""])
	if err := look(content); err != nil || !maps.Equal(same, cache[""]) {
		t.Errorf("a guide was made again: %v", err)
	}
	s := mustOpen(t, content)
	block, _ := s.tail.terms.split(s.tail.terms.find("w1"))
	changed := slices.Clone(content)
	changed[block.Offset+block.Length-sealSize-1] ^= 1
	if err := look(changed); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged block was read by the guide of the right one: %v", err)
	}
	if err := look(slices.Clone(content)); err != nil || maps.Equal(same, cache[""]) {
		t.Errorf("the guide stayed that of the first bytes: %v", err)
	}
}
