package rank

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
)

// TestScratchFilesAreFreed makes a run fail at one storage call, each call in turn. Afterwards, none of its temporary
// files may be open, mapped, or in their directory.
func TestScratchFilesAreFreed(t *testing.T) {
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		w := newWorld(t)
		w.Dir, w.Limits.Anchors = t.TempDir(), 1 // so overlays are merged from several parts
		w.named(0, 1, false, []string{"1", "2"}, "1 2 neighbour", "2 1 first", "1 5 away", "2 6 far")
		w.named(0, 2, false, []string{"3"}, "3 1 number one")
		w.decide = decide
		_ = w.Run(t.Context())
		if left := filesIn(t, w.Dir); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	})
}

// filesIn returns the files in a directory, and those that this process has open or mapped and that were there.
func filesIn(t *testing.T, dir string) (all []string) {
	t.Helper()
	listed, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, listed...)
	descriptors, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range descriptors {
		if file, err := os.Readlink(d); err == nil && strings.HasPrefix(file, dir+"/") {
			all = append(all, "open "+file)
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(maps) {
		if bytes.Contains(line, []byte(dir+"/")) {
			all = append(all, "mapped "+string(line))
		}
	}
	return all
}

// TestNoDirectory runs without the directory for temporary files. The error must name the directory, and a run with a
// directory must then succeed.
func TestNoDirectory(t *testing.T) {
	w := newWorld(t)
	w.three()
	w.Dir = filepath.Join(t.TempDir(), "absent")
	if err := w.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot create a scratch file") || !strings.Contains(err.Error(), w.Dir) {
		t.Errorf("error %v", err)
	}
	w.Dir = ""
	w.run()
	w.want(three)
}
