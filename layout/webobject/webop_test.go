package webobject

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestWebop checks the bytes of a .webop of version 1 and of its description, which must be
// those of the thesis's format.
func TestWebop(t *testing.T) {
	second := example
	second.URL, second.Data = "http://a/b", []byte("second")
	second.Downloaded, second.Expires = time.UnixMilli(1000), time.UnixMilli(1000+8*86_400_000)
	webop := []byte(WebopMagic)
	for _, o := range []Object{fullExample, second} { // fullExample has more fields than version 1
		var err error
		if webop, err = o.AppendVersion1(webop); err != nil {
			t.Fatal(err)
		}
	}
	want := webopMagic + exampleBytes + string(encodeV1(t, second))
	if diff := cmp.Diff(want, string(webop)); diff != "" {
		t.Error(diff)
	}
	var desc bytes.Buffer
	created := time.UnixMilli(5)
	if err := WriteDescription(&desc, bytes.NewReader(webop), int64(len(webop)), created); err != nil {
		t.Fatal(err)
	}
	want = "\xFFWOPD\x01" + "\x00\x02" + "\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x05" + "\x00\x00\x00\x00\x05\x26\x5C\x00" + "\r\n" +
		"8:55:http://a/\r\n63:60:http://a/b\r\n"
	if diff := cmp.Diff(want, desc.String()); diff != "" {
		t.Error(diff)
	}
	for n := range len(webop) {
		err := WriteDescription(new(bytes.Buffer), bytes.NewReader(webop[:n]), int64(n), created)
		if whole := n == len(WebopMagic) || n == 63; whole != (err == nil) || !whole && !errors.Is(err, ErrDamaged) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
	}
}

func TestExponentOf(t *testing.T) {
	for e := int16(-16); e <= 14; e++ {
		if got := exponentOf(Lifetime(e)); got != e {
			t.Errorf("%d: %d", e, got)
		}
		if got := exponentOf(Lifetime(e) - 1); got != max(e-1, -16) {
			t.Errorf("below %d: %d", e, got)
		}
	}
}

func FuzzWriteDescription(f *testing.F) {
	f.Add([]byte(webopMagic + exampleBytes + exampleBytes))
	f.Add([]byte(webopMagic))
	f.Fuzz(func(t *testing.T, webop []byte) {
		var desc bytes.Buffer
		err := WriteDescription(&desc, bytes.NewReader(webop), int64(len(webop)), time.UnixMilli(0))
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
		if err == nil {
			if _, _, err := parseDesc(desc.Bytes()); err != nil {
				t.Error(err)
			}
		}
	})
}
