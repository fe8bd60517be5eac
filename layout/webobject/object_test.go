package webobject

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fullBytes is fullExample in version 3.
const fullBytes = "\xFFWEBO\x03" + "\x00\x0A" + "\x00\x09" + "\x00\x00\x00\x02" + "\x00\x00\x00\x07" +
	"\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x05\x26\x5C\x00" + "text/plain" + "http://a/" +
	"\x00\x52" + "\x00\xC8" +
	"\x8f\x43\x43\x46\x64\x8f\x6b\x96\xdf\x89\xdd\xa9\x01\xc5\x17\x6b" +
	"\x10\xa6\xd8\x39\x61\xdd\x3c\x1a\xc8\x8b\x59\xb2\xdc\x32\x7a\xa4" +
	"\x01" + "\xAC\x02" + "\x04\xC0\x00\x02\x01" + "\x02\x01c\x03d\xC3\xA9" + "\x01\x09http://b/" +
	"\x02\x04Etag\x03\"x\"\x06Server\x00" + "\xE6\x09\x31\x65" + "hi"

// convertedBytes is convertedExample in version 4.
var convertedBytes = fullBytes[:5] + "\x04" + fullBytes[6:53] + "\x00\x67" + fullBytes[55:len(fullBytes)-6] +
	"\xAC\x02" + "\x01\x0Cpages 2 to 9" + "\x05" + "\x7E\x73\xF2\xCF" + "\x1F\xC9\x12\xF8" + "hi" + "<p>hi"

func TestBytes(t *testing.T) {
	for _, test := range []struct {
		name   string
		object Object
		encode func(testing.TB, Object) []byte
		bytes  string
	}{
		{"version 1", example, encodeV1, exampleBytes},
		{"version 3", fullExample, encode, fullBytes},
		{"version 4", convertedExample, encode, convertedBytes},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.bytes, string(test.encode(t, test.object))); diff != "" {
				t.Errorf("bytes (-want +got):\n%s", diff)
			}
			o, n, err := decode([]byte(test.bytes + "behind"))
			if err != nil || n != len(test.bytes) {
				t.Fatalf("decoded %d bytes of %d, error %v", n, len(test.bytes), err)
			}
			if diff := cmp.Diff(test.object, o, sameObject); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
			for n := range len(test.bytes) {
				if _, _, err := decode([]byte(test.bytes[:n])); err == nil {
					t.Errorf("no error for the first %d bytes", n)
				}
			}
		})
	}
	if len(exampleBytes) != 55 {
		t.Errorf("the example has %d bytes, want 55", len(exampleBytes))
	}
}

func TestCompressFillsInHash(t *testing.T) {
	o := Object{URL: "http://a/", Data: []byte("hi")}
	got, _, err := decode(encode(t, o))
	if err != nil || got.Hash != helloHash {
		t.Errorf("hash %x, error %v", got.Hash, err)
	}
}

func TestCompressMendsForeignText(t *testing.T) {
	o := Object{URL: "http://a/", MIME: "text/\xE9", Header: []Field{{"X", "caf\xE9"}}}
	got, _, err := decode(encode(t, o))
	if err != nil || got.MIME != "text/\uFFFD" || got.Header[0].Value != "caf\uFFFD" {
		t.Errorf("MIME type %q, header %q, error %v", got.MIME, got.Header, err)
	}
}

func TestCompressRefusesObjects(t *testing.T) {
	long := strings.Repeat("x", math.MaxUint16+1)
	for _, test := range []struct {
		object Object
		want   string
	}{
		{Object{URL: long}, "URL: 65536 bytes"},
		{Object{MIME: long}, "MIME type: 65536 bytes"},
		{Object{Header: []Field{{"a", long}}}, "header, redirects"},
		{Object{URL: "http://a/\r\n"}, "not one line"},
		{Object{URL: "\xFF"}, "not one line"},
		{Object{Cost: -time.Second}, "cost -1s"},
		{Object{Cost: 50 * 24 * time.Hour}, "cost 1200h"},
		{Object{Data: make([]byte, MaxSize+1)}, "at most 67108864"},
		{Object{Data: make([]byte, MaxSize)}, "at most 67108864"},
		{Object{Hash: [32]byte{1}}, "not that of the hash"},
		{Object{Conversion: &Conversion{HTML: make([]byte, MaxConversion+1)}}, "conversion has 8388609 bytes, at most 8388608 fit"},
		{Object{Data: make([]byte, MaxSize-1000), Conversion: &Conversion{HTML: make([]byte, 1000)}}, "at most 67108864"},
		{Object{Conversion: &Conversion{Omitted: []string{long}}}, "header, redirects"},
	} {
		_, err := NewCompressor(DefaultLevel).Compress(test.object)
		wantError(t, err, test.want)
	}
}

func TestDecodeSaysWhere(t *testing.T) {
	const size = 149 // offset of the size of the conversion
	long := convertedBytes[:54] + "\x6A" + convertedBytes[55:size] + "\x81\x80\x80\x04" + convertedBytes[size+1:]
	at := func(b string, pos int, c byte) string { return b[:pos] + string([]byte{c}) + b[pos+1:] }
	for _, test := range []struct{ name, bytes, want string }{
		{"empty", "", "magic of 5 bytes at byte 0"},
		{"magic", at(exampleBytes, 1, 'w'), "begins with"},
		{"version", at(exampleBytes, 5, 5), "version 5 at byte 5, want 1 to 4"},
		{"other version", at(fullBytes, 5, 2), "the added fields end at byte 133 of 137"},
		{"long MIME", at(exampleBytes, 6, 1), "MIME type of 266 bytes at byte 34 reaches over the end at byte 55"},
		{"long URL", at(exampleBytes, 8, 1), "URL of 265 bytes at byte 44"},
		{"long data", at(exampleBytes, 10, 0xFF), "data of 4278190082 bytes at byte 53"},
		{"line break", at(exampleBytes, 45, '\n'), "not one line"},
		{"long added fields", at(fullBytes, 53, 1), "added fields of 338 bytes at byte 55"},
		{"short added fields", at(fullBytes, 54, 10), "hash of 32 bytes at byte 57 reaches over the end at byte 65"},
		{"number", at(at(fullBytes, 54, 36), 90, 0x80), "token at byte 90 is no number"},
		{"bad address", at(fullBytes, 92, 3), "address at byte 93"},
		{"bit of a header", at(fullBytes, 113, 'F'), "CRC-32 of its first 133 bytes"},
		{"value that swallows the CRC", at(fullBytes, 132, 4), "CRC-32 of 4 bytes at byte 137 reaches"},
		{"long conversion", long, "conversion has 8388609 bytes, at most 8388608 are read"},
		{"cut conversion", convertedBytes[:len(convertedBytes)-1], "conversion of 5 bytes at byte 160 reaches over the end at byte 164"},
		{"other conversion", convertedBytes[:len(convertedBytes)-1] + "o", "CRC-32 of its conversion of 5 bytes"},
		{"long list", at(fullBytes, 97, 100), "collection: 100 at byte 98"},
	} {
		_, _, err := decode([]byte(test.bytes))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
	}
}

func TestDecodePassesOverLaterFields(t *testing.T) {
	b := fullBytes[:53] + "\x00\x56" + fullBytes[55:len(fullBytes)-6] + "\x12\x9D\xEA\x60" + "more" + "hi"
	o, n, err := decode([]byte(b))
	if err != nil || n != len(b) {
		t.Fatalf("decoded %d bytes of %d, error %v", n, len(b), err)
	}
	if diff := cmp.Diff(fullExample, o, sameObject); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
}

// Every flipped bit of a Web object is noticed, so that a damaged page is known without
// reading the other pages.
func TestDecodeFlipped(t *testing.T) {
	for _, whole := range []string{fullBytes, convertedBytes} {
		for i := range 8 * len(whole) {
			b := []byte(whole)
			b[i/8] ^= 1 << (i % 8)
			if o, err := decodeWhole(b); err == nil {
				t.Errorf("bit %d of byte %d is not noticed: %+v", i%8, i/8, o)
			}
		}
	}
}
