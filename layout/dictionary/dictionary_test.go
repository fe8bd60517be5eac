package dictionary

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var house = []Entry{{"house", []Translation{{"haus", 200. / 255}, {"gebäud", 50. / 255}}}}

func encode(t *testing.T, entries []Entry) []byte {
	t.Helper()
	content, err := Encode("en", "de", entries)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestGolden checks that the example has the bytes that doc.go shows.
func TestGolden(t *testing.T) {
	content := encode(t, house)
	end := len(content) - sealSize
	const want = "\xFFBDIC\x01\r\n" + "\x01" + "\x02en\x02de" + "\x02\x07gebäud\x04haus" + "\x01\x05house\x02\x01\xC8\x00\x32"
	if got := string(content[:end]); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLookup(t *testing.T) {
	entries := []Entry{house[0]}
	for i := range 1000 {
		entries = append(entries, Entry{fmt.Sprintf("i%03d", i), []Translation{{fmt.Sprintf("j%03d", i%7), 1}}})
	}
	d, err := Open(encode(t, entries))
	if err != nil {
		t.Fatal(err)
	}
	if d.From != "en" || d.To != "de" || d.Terms() != len(entries) {
		t.Errorf("from %s to %s, %d terms", d.From, d.To, d.Terms())
	}
	for _, e := range entries {
		if diff := cmp.Diff(e.Translations, d.Lookup(e.Term), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s: %s", e.Term, diff)
		}
	}
	for _, other := range []string{"", "a", "hous", "houses", "i0005", "z"} {
		if got := d.Lookup(other); got != nil {
			t.Errorf("%q is translated as %v", other, got)
		}
	}
}

func TestRefusedEntries(t *testing.T) {
	long := make([]byte, maxString+1)
	for name, entries := range map[string][]Entry{
		"not ascending":      {house[0], house[0]},
		"no translation":     {{"house", nil}},
		"many translations":  {{"house", make([]Translation, MaxTranslations+1)}},
		"not by probability": {{"house", []Translation{{"a", 0.1}, {"b", 0.5}}}},
		"long term":          {{string(long), house[0].Translations}},
	} {
		if _, err := Encode("en", "de", entries); err == nil {
			t.Errorf("%s: it was encoded", name)
		}
	}
}

// TestDamage checks that each changed byte is noticed, and that an object of a later program is not
// taken for a damaged one.
func TestDamage(t *testing.T) {
	content := encode(t, house)
	for i := range content {
		damaged := append([]byte(nil), content...)
		damaged[i] ^= 0x10
		if _, err := Open(damaged); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d: %v", i, err)
		}
		if _, err := Open(content[:i]); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
	newer := append([]byte(nil), content...)
	newer[len(magic)], newer[start] = version+1, version+1
	if _, err := Open(sealAgain(newer)); !errors.Is(err, ErrVersion) {
		t.Errorf("a newer version: %v", err)
	}
	newer[start] = version // newer, but readable
	if _, err := Open(sealAgain(newer)); err != nil {
		t.Errorf("a newer version that old readers may read: %v", err)
	}
}

func sealAgain(content []byte) []byte {
	end := len(content) - sealSize
	binary.BigEndian.PutUint32(content[end:], crc32.Checksum(content[:end], castagnoli))
	return content
}

// FuzzOpen checks that any dictionary that Open accepts can be asked for every term, and has valid
// probabilities.
func FuzzOpen(f *testing.F) {
	content, err := Encode("en", "de", house)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content[start:len(content)-sealSize], "house")
	f.Add([]byte{1, 0, 0, 0, 0}, "")
	f.Add([]byte("\x00\x020"), "") // a string that goes on beyond the end
	f.Fuzz(func(t *testing.T, inner []byte, term string) {
		d, err := Open(sealAgain(append(append([]byte(magic+"\x01"+versionEnd), inner...), 0, 0, 0, 0)))
		if err != nil {
			return
		}
		d.Lookup(term)
		for _, at := range d.sources {
			p := parser{data: d.data, at: int(at)}
			of := d.Lookup(string(p.text()))
			if len(of) == 0 || len(of) > MaxTranslations {
				t.Fatalf("%d translations", len(of))
			}
			for _, translated := range of {
				if translated.Probability <= 0 || translated.Probability > 1 {
					t.Fatalf("%v", translated)
				}
			}
		}
	})
}
