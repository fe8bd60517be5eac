package webobject

import (
	"bytes"
	"compress/flate"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRunRoundTrip(t *testing.T) {
	c := NewCompressor(DefaultLevel)
	for _, o := range []Object{fullExample, page(1, 100), page(2, 40_000), {URL: "http://empty/"}} {
		run, err := c.Compress(o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := run.Object()
		if err != nil {
			t.Fatal(err)
		}
		got.Hash = o.Hash
		if diff := cmp.Diff(o, got, sameObject); diff != "" {
			t.Errorf("object (-want +got):\n%s", diff)
		}
	}
}

// A Run depends on its Web object alone, so that compressing it again gives the same bytes. The Run
// does not change when the compressor is used again.
func TestRunsAreIndependent(t *testing.T) {
	for level := 1; level <= 9; level++ {
		c := NewCompressor(level)
		first, err := c.Compress(page(1, 50_000))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Compress(page(2, 200_000)); err != nil {
			t.Fatal(err)
		}
		again, err := c.Compress(page(1, 50_000))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Compressed, again.Compressed) {
			t.Errorf("level %d: the same object gave another run", level)
		}
		if _, err := first.Object(); err != nil {
			t.Errorf("level %d: %v", level, err)
		}
	}
}

// The standard library reads joined Runs, followed by a final block, as one deflate stream.
func TestRunsJoin(t *testing.T) {
	var stream, want []byte
	for _, o := range []Object{page(1, 5000), fullExample, page(1, 5000)} {
		want = append(want, encode(t, o)...)
		stream = append(stream, compress(t, o)[0].Compressed...)
	}
	stream = append(stream, finalBlock...)
	got, err := io.ReadAll(flate.NewReader(bytes.NewReader(stream)))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("inflated %d bytes of %d, error %v", len(got), len(want), err)
	}
}

func TestRunObjectRefuses(t *testing.T) {
	good := compress(t, page(1, 2000))[0]
	bomb := compress(t, Object{URL: good.URL, Data: make([]byte, 8<<20)})[0]
	for _, test := range []struct {
		name   string
		change func(*Run)
		want   string
	}{
		{"size too small", func(r *Run) { r.Size-- }, "inflates to more than"},
		{"size too large", func(r *Run) { r.Size++ }, "inflates to"},
		{"size negative", func(r *Run) { r.Size = -1 }, "claims -1 bytes"},
		{"size huge", func(r *Run) { r.Size = 1 << 60 }, "at most 67108864"},
		{"bomb", func(r *Run) { r.Compressed = bomb.Compressed }, "inflates to more than"},
		{"CRC", func(r *Run) { r.CRC++ }, "CRC-32"},
		{"URL", func(r *Run) { r.URL = "http://other/" }, "URL is"},
		{"empty", func(r *Run) { r.Compressed = nil }, "sync flush"},
		{"cut at the start", func(r *Run) { r.Compressed = r.Compressed[5:] }, "damaged before byte"},
		{"ended early", func(r *Run) { r.Compressed = append([]byte(finalBlock), r.Compressed...) }, "ends the stream at byte 2"},
	} {
		run := good
		run.Compressed = bytes.Clone(good.Compressed)
		test.change(&run)
		_, err := run.Object()
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
	}
}

func TestCompressRefuses(t *testing.T) {
	for _, level := range []int{-3, 0, 10} {
		_, err := NewCompressor(level).Compress(fullExample)
		wantError(t, err, "is not between 1 and 9")
	}
	_, err := NewCompressor(1).Compress(Object{URL: "\n"})
	wantError(t, err, "not one line")
}
