package segment

import (
	"bytes"
	"strings"
	"testing"
)

func FuzzFront(f *testing.F) {
	f.Add([]byte(""), []byte("a"))
	f.Add([]byte("a"), []byte("ab"))
	f.Add([]byte(strings.Repeat("a", 40)), []byte(strings.Repeat("a", 30)+strings.Repeat("b", 100)))
	f.Add([]byte(strings.Repeat("a", 15)), []byte(strings.Repeat("a", 15)+strings.Repeat("b", 15)))
	f.Fuzz(func(t *testing.T, last, s []byte) {
		p := parser{data: s}
		p.front(bytes.Clone(last)) // does not panic
		if len(s) > MaxTerm || len(last) > MaxTerm {
			return
		}
		p = parser{data: appendFront(nil, last, s)}
		if got := p.front(bytes.Clone(last)); !bytes.Equal(got, s) || p.failed || p.left() > 0 {
			t.Errorf("%q behind %q reads as %q", s, last, got)
		}
		if bytes.Compare(last, s) < 0 {
			if between := separatorOf(last, s); bytes.Compare(last, between) > 0 || bytes.Compare(between, s) >= 0 || len(between) > len(last) && len(between) > len(s) {
				t.Errorf("%q does not separate %q and %q", between, last, s)
			}
			if between := termSeparator(last, s); bytes.Compare(last, between) > 0 || bytes.Compare(between, s) >= 0 || len(between) > MaxTerm {
				t.Errorf("%q does not separate the terms %q and %q", between, last, s)
			}
		}
	})
}
