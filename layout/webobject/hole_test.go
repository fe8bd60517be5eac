package webobject

import (
	"bytes"
	"compress/flate"
	"io"
	"testing"
)

// Every length from 20 has a hole, which inflates to nothing in between.
func TestHoles(t *testing.T) {
	run := compress(t, fullExample)[0]
	want, err := fullExample.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		hole, err := appendHole([]byte("kept"), int64(n))
		if err != nil {
			if n >= 20 {
				t.Error(err)
			}
			continue
		}
		hole = hole[len("kept"):]
		if len(hole) != n || !isHole(hole) {
			t.Errorf("the hole of %d bytes is %q", n, hole)
		}
		stream := bytes.Join([][]byte{hole, run.Compressed, hole, []byte(finalBlock)}, nil)
		got, err := io.ReadAll(flate.NewReader(bytes.NewReader(stream)))
		if err != nil || !bytes.Equal(want, got) {
			t.Errorf("a run between holes of %d bytes: inflated to %d bytes of %d, error %v", n, len(got), len(want), err)
		}
	}
}

func TestNoHoles(t *testing.T) {
	for _, b := range []string{
		"\x00", finalBlock, syncFlush, emptyStored[:4], emptyFixed[1:] + "\x00",
		emptyStored + emptyFixed, // the other way round
		emptyStored + emptyStored + emptyStored + emptyStored + emptyStored + emptyStored + "\x00", // 31 bytes
		magicRun,
	} {
		if isHole([]byte(b)) {
			t.Errorf("%q is called a hole", b)
		}
	}
}
