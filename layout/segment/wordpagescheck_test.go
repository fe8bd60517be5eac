package segment

import (
	"errors"
	"slices"
	"testing"
)

// TestCheckPages changes the number of documents of one word in a page of words, whose checksum is right. Check must find
// it.
func TestCheckPages(t *testing.T) {
	content := mustBuild(t, generate(300, 1), 100)
	s := mustOpen(t, content)
	if err := Check(content); err != nil {
		t.Fatal(err)
	}
	for name, column := range map[string]columnExtent{"forward": s.tail.forward[0], "backward": s.tail.backward[0]} {
		changed := slices.Clone(content)
		page := changed[column.offset:][:column.size]
		page[len(page)-sealSize-1] ^= 2 // the number of documents of the last word
		resealPart(page)
		if err := Check(changed); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnsortedPages walks a page whose words are not in ascending order.
func TestUnsortedPages(t *testing.T) {
	page := appendFront(nil, nil, []byte("b"))
	page = append(page, 1)
	page = append(appendFront(page, []byte("b"), []byte("a")), 1)
	walk := pageWalk{segment: mustOpen(t, mustBuild(t, generate(1, 1), 0)), page: parser{data: page}}
	if ok, err := walk.nextWord(); !ok || err != nil {
		t.Fatalf("first word: %v, %v", ok, err)
	}
	if _, err := walk.nextWord(); !errors.Is(err, ErrDamaged) {
		t.Errorf("a word before the first: %v", err)
	}
}
