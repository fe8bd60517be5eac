package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestHints: a command in the output has the flags by which the user named the bucket, so that
// it can be copied.
func TestHints(t *testing.T) {
	t.Parallel()
	root, where := command()
	for _, c := range root.Commands() {
		switch c.Name() {
		case storeName, "version", "man", "help", "completion":
			continue
		}
		if text := "To go on: bucketsearch " + c.Name(); !hinted.MatchString(text) {
			t.Errorf("%q is no hint", text)
		}
	}
	const text = "run `bucketsearch verify --repair`, or bucketsearch collections show a; see: bucketsearch crawl --help; a bucketsearch of pages"
	if got := where.complete(text); got != text {
		t.Errorf("with the usual directory: %s", got)
	}
	where.data, where.s3 = "my dir", "https://s3.example/b"
	const want = "run `bucketsearch --data 'my dir' --s3 https://s3.example/b verify --repair`, or bucketsearch --data 'my dir' --s3 https://s3.example/b collections show a; see: bucketsearch crawl --help; a bucketsearch of pages"
	if got := where.complete(text); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestCopiedHint: a command that the output of pause recommends works when it is pasted into a
// shell, even if the path of the data directory needs quotes.
func TestCopiedHint(t *testing.T) {
	t.Parallel()
	web, data := pond(t), filepath.Join(t.TempDir(), "it's mine")
	if got := do(t.Context(), "crawl", "--delay", "0", "--allow-private", "--data", data, web); got.code != 0 {
		t.Fatal(got.err)
	}
	paused := do(t.Context(), "pause", "--data", data)
	_, hint, found := strings.Cut(paused.out, "Paused. To go on: ")
	if paused.code != 0 || !found {
		t.Fatal(paused)
	}
	words, err := exec.Command("sh", "-c", "printf '%s\\n' "+hint).Output() // the words into which a shell splits the command
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Split(strings.TrimSpace(string(words)), "\n")
	if got := do(t.Context(), args[1:]...); got.code != 0 || got.out != "Resumed.\n" {
		t.Errorf("%q: %+v", args, got)
	}
	if err := os.RemoveAll(filepath.Join(data, "s3", "bucketsearch", "strategy")); err != nil {
		t.Fatal(err)
	}
	got := do(t.Context(), "status", "--data", data)
	if want := "run `bucketsearch --data " + quoted(data) + " verify --repair`"; !strings.Contains(got.err, want) {
		t.Errorf("%s, want %s", got.err, want)
	}
}
