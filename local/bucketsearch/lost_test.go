package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
)

const repairs = "bucketsearch verify --repair"

// loseGenerations deletes all manifests, their hints (copies of the newest manifests) and all
// spool objects in the bucket of a data directory, as if they were lost.
func loseGenerations(t *testing.T, data string) {
	t.Helper()
	for _, prefix := range []string{"manifests", "hints", "spool"} {
		if err := os.RemoveAll(filepath.Join(data, "s3", "bucketsearch", prefix)); err != nil {
			t.Fatal(err)
		}
	}
}

// damageNewest makes the newest generation of the manifest unreadable, and deletes the hints,
// which are copies of it.
func damageNewest(t *testing.T, data string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(data, "s3", "bucketsearch", "manifests", "0000", "*"))
	if err != nil || len(all) < 2 {
		t.Fatalf("manifests %v, %v", all, err)
	}
	if err := errors.Join(os.WriteFile(all[len(all)-1], []byte("?"), 0o644), os.RemoveAll(filepath.Join(data, "s3", "bucketsearch", "hints"))); err != nil {
		t.Fatal(err)
	}
}

// damageBook flips bits inside a book, which is an object with links and with the outcomes of
// URLs. It also deletes the numbers of the last census: as long as they hold, status need not read the book.
func damageBook(t *testing.T, data string) {
	t.Helper()
	if err := os.Remove(filepath.Join(data, "s3", "bucketsearch", layout.Census)); err != nil {
		t.Fatal(err)
	}
	books, err := filepath.Glob(filepath.Join(data, "s3", "bucketsearch", "books", "*", "*.book"))
	if err != nil || len(books) == 0 {
		t.Fatalf("books %v, %v", books, err)
	}
	content, err := os.ReadFile(books[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		content[len(content)/3+i] ^= 0x55
	}
	if err := os.WriteFile(books[0], content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestLostOrDamaged loses or damages objects of a bucket. Every command must say which objects
// these are and how to repair the bucket. If it can, it must answer from the objects that are
// left. After a repair it must answer as before.
func TestLostOrDamaged(t *testing.T) {
	t.Parallel()
	type part struct {
		args string
		code int
		want string // text in the output
	}
	web := pond(t)
	crawl := "crawl --delay 0 --allow-private " + web + " " + web + "/frog" // in one batch, and so in one book
	repaired := []part{
		{"verify --repair", 0, "mended: "}, {crawl, 0, "2 stored"}, {"search heron", 0, "1 page matches"}, {"page " + web, 0, "Herons"},
		{"status", 0, "2 stored"}, {"verify", 0, ": 0 problems"},
	}
	for name, c := range map[string]struct {
		harm  func(t *testing.T, data string)
		fault string
		steps []part
	}{
		"generations": {loseGenerations, "its generations are lost", []part{
			{"search heron", 4, "partition 0000 are lost"},
			{"search --json heron", 4, "partition 0000 are lost"},
			{"page " + web, 4, "partition 0000 are lost"},
			{"status", 0, "ALERT"},
			{"status --json", 0, `"faults": [`},
			{"collections list", 0, web},
			{"why " + web + "/frog", 0, "pending"},
			{"verify", 4, "lost: "},
			{"forget --yes " + web + "/nothing", 0, ""},
			{crawl, 4, "lest what is stored is asked for once more"},
		}},
		"newest generation": {damageNewest, "is the newest that can be read, and not the last", []part{
			{"search pond", 0, "Pages are missing: generations of partition 0000 are lost"},
			{"page " + web + "/unknown", 4, "Left out is what may tell of this page, too"},
			{"status", 0, "ALERT"},
			{"collections list", 0, web},
			{crawl, 4, "lest what is stored is asked for once more"},
		}},
		"a book": {damageBook, "book is damaged", []part{
			{"search heron", 0, "1 page matches"},
			{"page " + web + "/frog", 4, "Left out is what may tell of this page, too"},
			{"status", 0, "ALERT"},
			{"status --json", 0, `"faults": [`},
			{"collections list", 0, web},
			{"why " + web + "/frog", 0, "pending"},
			{"verify", 4, "damaged: "},
			{"crawl --pages 9 --delay 0 --allow-private " + web, 1, "cannot tell how many pages are stored"},
			{crawl, 4, "lest what is stored is asked for once more"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			action := func(s part) string {
				t.Helper()
				got := do(t.Context(), append(strings.Fields(s.args), "--data", data)...)
				said := got.said(data)
				if got.code != s.code || !strings.Contains(said, s.want) {
					t.Fatalf("%s: exit %d, want %d and %q:\n%s", s.args, got.code, s.code, s.want, said)
				}
				return said
			}
			action(part{crawl, 0, "2 pages stored"})
			c.harm(t, data)
			for _, s := range c.steps {
				said := action(s)
				if s.args == "search heron" && s.code == 0 || strings.HasPrefix(s.args, "verify") {
					continue // this output lacks nothing, and verify names the damage
				}
				if !strings.Contains(said, repairs) {
					t.Errorf("%s does not say what to do:\n%s", s.args, said)
				}
				if strings.HasPrefix(s.args, "status") || strings.HasPrefix(s.args, "why") || strings.HasPrefix(s.args, "crawl") {
					if n := strings.Count(said, c.fault); n == 0 || n > 2 { // --json has the sentence in an alert, too
						t.Errorf("%s says %d times what is the matter:\n%s", s.args, n, said)
					}
				}
			}
			for _, s := range repaired {
				action(s)
			}
		})
	}
}

// TestUpWithoutGenerations: if all manifests are lost, the command up serves the search page and
// says what is lost, until another process repairs the bucket.
func TestUpWithoutGenerations(t *testing.T) {
	t.Parallel()
	web, data := pond(t), filepath.Join(t.TempDir(), "data")
	if got := do(t.Context(), "crawl", "--delay", "0", "--allow-private", web, "--data", data); got.code != 0 {
		t.Fatal(got)
	}
	loseGenerations(t, data)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	home, told, ended := make(chan string, 1), make(chan string, 1), make(chan int, 1)
	out := &watcher{pattern: regexp.MustCompile(`(http://\S+/) \(Ctrl-C stops\)\n`), found: home}
	errOut := &watcher{pattern: regexp.MustCompile(`(its generations are lost; run bucketsearch --data \S+ verify --repair)`), found: told}
	go func() {
		ended <- run(ctx, []string{"up", "--data", data, "--listen", "127.0.0.1:0", "--allow-private"}, strings.NewReader(""), out, errOut)
	}()
	for _, event := range []chan string{told, home} {
		select {
		case at := <-event:
			if event == home {
				response, err := http.Get(at + "search?q=heron")
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(response.Body)
				response.Body.Close()
				if response.StatusCode != http.StatusServiceUnavailable || !bytes.Contains(body, []byte(repairs)) {
					t.Errorf("search page: %s\n%s", response.Status, body)
				}
			}
		case code := <-ended:
			t.Fatalf("exit %d", code)
		}
	}
	if got := do(t.Context(), "verify", "--repair", "--data", data); got.code != 0 {
		t.Errorf("repair beside up: %+v", got)
	}
	interrupt()
	if code := <-ended; code != 0 {
		t.Errorf("exit %d", code)
	}
}
