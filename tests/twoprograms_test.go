package tests

import (
	"os"
	"strings"
	"testing"
	"time"
)

// While a program crawls in a data directory, a second crawl there ends at once with an error,
// but commands that only read work.
func TestTwoPrograms(t *testing.T) {
	t.Parallel()
	s, _ := serveGenerated(t, 20)
	p := newPlace(t)
	run := p.start("up", crawling(append([]string{"--listen", "127.0.0.1:0", "--scope", "prefix"}, s.seeds("/docs/")...)...)...)
	home := run.searchPage(t)
	run.await(t, func() bool {
		status := p.status()
		return status.Pending == 0 && status.Documents > 60 && p.clean()
	})

	began := time.Now()
	_, err := p.run("crawl", crawling(s.origins[0])...)
	if err == nil || !strings.Contains(err.Error(), "data directory is in use") {
		t.Errorf("a second crawl: %v", err)
	}
	t.Logf("the second crawl ended within %v", time.Since(began))
	p.verify()
	for _, command := range [][]string{
		{"search", "castle garden"},
		{"page", s.origins[0] + "/docs/p1.html"},
		{"status"},
	} {
		if out := p.must(command[0], command[1:]...); out == "" {
			t.Errorf("%v beside %s printed nothing", command, home)
		}
	}
	if err := run.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := run.wait(); err != nil {
		t.Errorf("up after Ctrl-C: %v", err)
	}
}

// clean reports whether verify finds no problem and no package waits to be indexed.
func (p place) clean() bool {
	_, err := p.run("verify")
	return err == nil
}

// searchPage returns the address of the search page of a running command up, read from what it
// prints.
func (r *process) searchPage(t testing.TB) string {
	t.Helper()
	var address string
	r.await(t, func() bool {
		_, rest, hits := strings.Cut(r.out.String(), "Search page: ")
		address, _, _ = strings.Cut(rest, " ")
		return hits && address != ""
	})
	return address
}

// await calls the callback again and again until it returns true. The test fails if the process
// ends before that.
func (r *process) await(t testing.TB, holds func() bool) {
	t.Helper()
	for !holds() {
		select {
		case <-r.ended:
			_, err := r.wait()
			t.Fatalf("the program has ended: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
