package segment

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob/scratch"
)

// TestFlush checks that the bytes of a segment do not depend on how often the Builder encodes the
// terms in its memory as a run.
func TestFlush(t *testing.T) {
	docs := generate(120, 1)
	want := mustBuild(t, docs, 0)
	for _, flush := range []int{1, 3000, 40_000} {
		if !bytes.Equal(want, mustBuild(t, docs, flush)) {
			t.Errorf("runs of %d bytes make other bytes", flush)
		}
	}
}

// TestLarge builds a segment so large that the Builder holds it in several pieces of memory.
func TestLarge(t *testing.T) {
	docs := generate(60, 1)
	random := rand.NewChaCha8([32]byte{1})
	b := NewBuilder(nil)
	for i := range docs {
		body := make([]byte, 50_000)
		_, _ = random.Read(body)
		docs[i].Body = hex.EncodeToString(body)
		if err := b.Add(&docs[i], slices.Values([]Token{{Term: "a"}})); err != nil {
			t.Fatal(err)
		}
	}
	content, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(content); err != nil {
		t.Fatal(err)
	}
	if pieces := len(content) >> 20; pieces < 2 {
		t.Errorf("%d bytes are not large", len(content))
	}
	if d := cmp.Diff(stripped(docs), allStored(t, mustOpen(t, content))); d != "" {
		t.Errorf("documents (-want +got)\n%s", d)
	}
}

func TestBuilderRefuses(t *testing.T) {
	good := Token{Field: Body, Term: "a", Position: 5}
	tests := []struct {
		name   string
		d      Document
		tokens []Token
	}{
		{"empty term", Document{}, []Token{{Field: Body}}},
		{"long term", Document{}, []Token{{Field: Body, Term: strings.Repeat("a", MaxTerm+1)}}},
		{"field that is none", Document{}, []Token{{Field: 4, Term: "a"}}},
		{"field below zero", Document{}, []Token{{Field: -1, Term: "a"}}},
		{"fields out of order", Document{}, []Token{good, {Field: Title, Term: "a"}}},
		{"positions out of order", Document{}, []Token{good, {Field: Body, Term: "b", Position: 4}}},
		{"collections out of order", Document{Collections: []string{"b", "a"}}, []Token{good}},
		{"a collection twice", Document{Collections: []string{"a", "a"}}, []Token{good}},
		{"a place below zero", Document{Offset: -1}, []Token{good}},
		{"a large document", Document{Body: strings.Repeat("a", MaxRecord)}, []Token{good}},
	}
	for _, test := range tests {
		b := NewBuilder(nil)
		if err := b.Add(&test.d, slices.Values(test.tokens)); err == nil {
			t.Errorf("%s was taken", test.name)
		}
		if _, err := b.Finish(); err == nil {
			t.Errorf("%s: finished after an error", test.name)
		}
	}
}

// TestLongWords checks that words that are too long are left out, and that several tokens may have the
// same position.
func TestLongWords(t *testing.T) {
	b := NewBuilder(nil)
	longest := strings.Repeat("é", 120)
	err := b.Add(&Document{}, slices.Values([]Token{
		{Field: Body, Term: "a", Word: strings.Repeat("a", MaxTerm+1), Position: 1},
		{Field: Body, Term: longest, Word: longest, Position: 1},
		{Field: Body, Term: "a", Word: "as", Position: 1},
	}))
	if err != nil {
		t.Fatal(err)
	}
	content, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(content); err != nil {
		t.Fatal(err)
	}
	if words := wordsOf(t, mustOpen(t, content)); len(words) != 2 || words["as"] != 1 || words[longest] != 1 {
		t.Errorf("words: %v", words)
	}
}

// TestNumberedTokens checks that the segment's bytes do not depend on whether all, some or no tokens
// have numbers (see Token.TermNumber).
func TestNumberedTokens(t *testing.T) {
	docs := generate(50, 3)
	want := mustBuild(t, docs, 0)
	for _, every := range []int{1, 3} {
		numbers := map[string]uint32{}
		number := func(s string) uint32 {
			if s == "" || len(s)%every != 0 {
				return 0
			}
			if numbers[s] == 0 {
				numbers[s] = uint32(len(numbers) + 1)
			}
			return numbers[s]
		}
		b := NewBuilder(analysis)
		b.runText = 10 << 10
		for i := range docs {
			err := b.Add(&docs[i], func(yield func(Token) bool) {
				for t := range tokensOf(&docs[i]) {
					t.TermNumber, t.WordNumber = number(t.Term), number(t.Word)
					if !yield(t) {
						return
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(b.runs) < 2 || len(numbers) < 50 {
			t.Fatalf("%d runs, %d numbers", len(b.runs), len(numbers))
		}
		got, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want, got) {
			t.Errorf("with a number for one of %d strings the bytes are different", every)
		}
	}
}

func TestDistinct(t *testing.T) {
	content := mustBuild(t, generate(20, 1), 0)
	seen := map[string]bool{string(content): true}
	for _, number := range []uint64{1, 2, 300, 1<<64 - 1} {
		other := Distinct(bytes.Clone(content), number)
		if seen[string(other)] {
			t.Errorf("number %d makes bytes that there are already", number)
		}
		seen[string(other)] = true
		if err := Check(other); err != nil {
			t.Errorf("number %d: %v", number, err)
		}
		if d := cmp.Diff(allStored(t, mustOpen(t, content)), allStored(t, mustOpen(t, other))); d != "" {
			t.Errorf("number %d (-want +got)\n%s", number, d)
		}
		if !bytes.Equal(content, Distinct(bytes.Clone(other), 0)) {
			t.Errorf("number 0 of number %d is not what was built", number)
		}
	}
}

// TestPieces writes byte slices of many sizes to two sequences of the type chunks, which grow in several pieces of
// memory or in files, and appends the second to the first. This must have all bytes.
func TestPieces(t *testing.T) {
	for _, inFile := range []bool{false, true} {
		for _, sizes := range [][]int{{}, {1}, {piece}, {piece - 1, 1, 1}, {7, 3*piece + 5, 0, piece}} {
			var both [2]chunks
			var all []byte
			for i := range both {
				p := &both[i]
				if inFile {
					file, err := scratch.Create(t.TempDir())
					if err != nil {
						t.Fatal(err)
					}
					defer file.Close()
					p.file = file
				}
				before := len(all)
				for _, size := range sizes {
					for n := range size {
						p.content = append(p.content, byte(n*7/3))
						all = append(all, byte(n*7/3))
					}
					p.spill()
					if p.length() != int64(len(all)-before) {
						t.Fatalf("%v: %d bytes, want %d", sizes, p.length(), len(all)-before)
					}
				}
			}
			both[0].take(&both[1])
			if got, err := both[0].joined(); err != nil || !bytes.Equal(got, all) {
				t.Errorf("%v, in a file %v: other bytes, or %v", sizes, inFile, err)
			}
		}
	}
}
