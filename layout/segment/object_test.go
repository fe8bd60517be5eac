package segment

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob/scratch"
)

// TestWritePages writes columns row by row. They must have the same bytes and the same place as if they had been
// written as a whole, in memory and in a file, whether or not a row ends where a page or a piece ends.
func TestWritePages(t *testing.T) {
	for _, size := range []int{0, 1, pageContent - 1, pageContent, pageContent + 1, 7 * pageContent, piece, 5*piece/2 + 3} {
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(i ^ i>>8 ^ i>>16)
		}
		for _, inFile := range []bool{false, true} {
			whole, inRows := writerTo(t, inFile), writerTo(t, inFile)
			whole.writeUnpacked("pages", vectorPagesKind, appendPages(nil, content))
			if err := inRows.writePages("pages", vectorPagesKind, int64(size), rowsOf(content, 100, nil)); err != nil {
				t.Fatal(err)
			}
			for _, o := range []*objectWriter{whole, inRows} {
				o.writeColumn("next", rowsKind, []byte("more"))
			}
			if !slices.Equal(whole.columns, inRows.columns) {
				t.Errorf("%d bytes, in a file %t: columns at %v, want %v", size, inFile, inRows.columns, whole.columns)
			}
			want, err := whole.joined()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := inRows.joined(); err != nil || !bytes.Equal(want, got) {
				t.Errorf("%d bytes, in a file %t: %v, %d bytes written differ from the %d wanted", size, inFile, err, len(got), len(want))
			}
		}
	}
	failed := errors.New("failed")
	if err := writerTo(t, false).writePages("pages", vectorPagesKind, 300, rowsOf(make([]byte, 200), 100, failed)); !errors.Is(err, failed) {
		t.Errorf("after a row that could not be read: %v", err)
	}
}

func writerTo(t *testing.T, inFile bool) *objectWriter {
	t.Helper()
	if !inFile {
		return newObjectWriter(nil)
	}
	file, err := scratch.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return newObjectWriter(file)
}

// rowsOf yields the rows of content, and then the error if it is not nil.
func rowsOf(content []byte, width int, err error) func(yield func([]byte, error) bool) {
	return func(yield func([]byte, error) bool) {
		for row := range slices.Chunk(content, width) {
			if !yield(row, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}
