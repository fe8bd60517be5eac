package tests

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Commands that only read work on a read-only data directory. Commands that must write fail
// with a sentence that says what to do.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	s, _ := serveGenerated(t, 10)
	p := newPlace(t)
	docs := s.seeds("/docs/")
	p.crawl(append([]string{"--scope", "prefix"}, docs...)...)
	commands := [][]string{{"search", "--json", "the"}, {"page", docs[0]}, {"status"}, {"why", docs[0]}, {"verify"}}
	var before []string
	for _, c := range commands {
		before = append(before, p.must(c[0], c[1:]...))
	}
	p.attributes = protect(t, p.data)
	for i, c := range commands {
		after, err := p.run(c[0], c[1:]...)
		if err != nil || len(after) == 0 || c[0] == "page" && after != before[i] {
			t.Errorf("%q: %v\n%s", c, err, after)
		}
	}
	for _, c := range [][]string{append([]string{"crawl"}, docs...), {"pause"}, {"forget", "--yes", docs[0]}} {
		_, err := p.run(c[0], c[1:]...)
		if err == nil || !strings.Contains(err.Error(), "cannot be written") || !strings.Contains(err.Error(), "run as the user that owns it") {
			t.Errorf("%q: %v", c, err)
		}
	}
}

// protect makes a directory read-only for the program. It takes away the permission to write, and
// returns nil. But this would not hinder root. So if the test runs as root, protect changes no such
// permission, and instead returns attributes with which a process runs as another user.
func protect(t *testing.T, dir string) *syscall.SysProcAttr {
	t.Helper()
	if os.Geteuid() != 0 {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			t.Cleanup(func() { _ = os.Chmod(path, 0o755) })
			return os.Chmod(path, 0o555)
		})
		if err != nil {
			t.Fatal(err)
		}
		return nil
	}
	for _, path := range []string{dir, program} { // so that the other user can reach them
		for path = filepath.Dir(path); path != filepath.Clean(os.TempDir()) && path != "/"; path = filepath.Dir(path) {
			if err := os.Chmod(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	const nobody = 65534
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}
