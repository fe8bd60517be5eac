package s3

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRemoveLeftovers(t *testing.T) {
	dir := t.TempDir()
	stay := []string{"b/hints/0000.json", "b/pages/.sgwtmp.5", "b/pages/.x.sgwtmp", "b/x.sgwtmp.7"}
	for _, name := range append(stay, "b/hints/.0000.json.sgwtmp.1764136800000000000", "b/.y.sgwtmp.1") {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeLeftovers(dir); err != nil {
		t.Fatal(err)
	}
	var left []string
	_ = fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, _ error) error {
		if !entry.IsDir() {
			left = append(left, path)
		}
		return nil
	})
	if diff := cmp.Diff(stay, left); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if err := removeLeftovers(filepath.Join(dir, "absent")); err == nil {
		t.Error("a directory that is absent was walked")
	}
}
