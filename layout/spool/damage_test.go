package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"
)

func TestTruncatedOrFlipped(t *testing.T) {
	content := mustEncode(t, batch(1, 4, 50))
	for n := range content {
		if _, err := decode(content[:n]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut to %d of %d bytes: got %v, want damage", n, len(content), err)
		}
	}
	for i := range content {
		for bit := range 8 {
			damaged := bytes.Clone(content)
			damaged[i] ^= 1 << bit
			if _, err := decode(damaged); !errors.Is(err, ErrDamaged) {
				t.Fatalf("bit %d of byte %d of %d flipped: got %v, want damage", bit, i, len(content), err)
			}
		}
	}
}

// sealed returns a copy of a spool object with another heading (the parameter head) and with right
// checksums.
func sealed(content, head []byte) []byte {
	end := len(content) - footerSize
	footer := content[end:]
	learnt, robots, old := int(binary.BigEndian.Uint32(footer)), int(binary.BigEndian.Uint32(footer[4:])), int(binary.BigEndian.Uint32(footer[8:]))
	file := append(bytes.Clone(content[:end-old]), head...)
	start := end - old - learnt - robots
	file = append(file, footer[:8]...)
	file = binary.BigEndian.AppendUint32(file, uint32(len(head)))
	file = binary.BigEndian.AppendUint32(file, crc32.Checksum(file[start:], castagnoli))
	return append(file, magic...)
}

// headingOf returns the JSON of a spool's heading.
func headingOf(content []byte) []byte {
	end := len(content) - footerSize
	return content[end-int(binary.BigEndian.Uint32(content[end+8:])) : end]
}

func TestLies(t *testing.T) {
	s := batch(1, 3, 1)
	s.Pages[0].Run.Compressed, s.Pages[1].Run.Compressed = []byte("first"), []byte("second!")
	content := mustEncode(t, s)
	head := string(headingOf(content))
	for name, tc := range map[string]struct{ old, new, want string }{
		"no JSON":        {`{`, ``, "heading:"},
		"longer page":    {`"length":5,`, `"length":500,`, "500 bytes at byte 8, where bodies end at 20"},
		"shorter page":   {`"length":5,`, `"length":4,`, "checksum of 4 bytes at byte 8 does not match"},
		"negative page":  {`"length":5,`, `"length":-5,`, "length -5"},
		"missing page":   {`{"outcome"`, `{"outcome":0,"length":0},{"outcome"`, "page"},
		"no such page":   {`{"outcome":`, `{"outcome":7`, "of 3"},
		"huge size":      {`"size":4`, `"size":4000000000000`, "size 4000000000000"},
		"no pages":       {`"pages":`, `"nothing":`, "12 bytes at byte 8 belong to no page"},
		"longer robots":  {`"length":28,`, `"length":2800,`, "robots.txt 0: 2800 bytes where 37 remain"},
		"shorter robots": {`"length":28,`, `"length":27,`, "1 bytes behind the last robots.txt"},
		"batch":          {`"00000002-`, `"2-`, "want <epoch>-<token>"},
	} {
		_, err := decode(sealed(content, []byte(strings.Replace(head, tc.old, tc.new, 1))))
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want damage with %q", name, err, tc.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(mustEncode(f, Spool{}))
	f.Add(mustEncode(f, batch(1, 4, 50)))
	f.Add([]byte(magic))
	f.Fuzz(decodes)
}

// FuzzHeading puts arbitrary bytes in place of the heading of a spool object, and corrects the
// checksums. Then it decodes the object: only valid headings may be accepted (see decodes).
func FuzzHeading(f *testing.F) {
	content := mustEncode(f, batch(1, 4, 50))
	f.Add(headingOf(content))
	f.Fuzz(func(t *testing.T, head []byte) { decodes(t, sealed(content, head)) })
}

// decodes fails the test unless the content is found damaged, or is decoded to a spool that
// can be encoded again.
func decodes(t *testing.T, content []byte) {
	s, err := decode(content)
	if err != nil && !errors.Is(err, ErrDamaged) {
		t.Fatalf("got %v, want damage", err)
	}
	if err != nil {
		return
	}
	if _, err := Encode(s); err != nil {
		t.Fatalf("decoded what cannot be encoded: %v", err)
	}
}
