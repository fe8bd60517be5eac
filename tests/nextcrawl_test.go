package tests

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A later crawl with a wider scope requests the URLs that the earlier crawl left out, and none
// of the pages that are stored.
func TestWider(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		first, second  []string
		missing, comes string // a page that only the second crawl stores, and the reason in the output of why
	}{
		{"from prefix to host", []string{"--scope", "prefix"}, []string{"--scope", "host"}, "/other/far.html", "stored"},
		{"from depth 1 to 3", []string{"--scope", "prefix", "--depth", "1"}, []string{"--scope", "prefix", "--depth", "3"}, "/docs/p1.html", "stored"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, _ := serveGenerated(t, 20)
			p, whole := newPlace(t), newPlace(t)
			p.crawl(append(test.first, s.seeds("/docs/")...)...)
			p.verify()
			first := p.picture(nil)
			if state := first.States[s.origins[0]+test.missing]; state == test.comes {
				t.Errorf("%s is %s after the first crawl", test.missing, state)
			}
			s.forget()
			p.crawl(append(test.second, s.seeds("/docs/")...)...)
			p.verify()
			second := p.picture(nil)
			if state := second.States[s.origins[0]+test.missing]; state != test.comes {
				t.Errorf("%s is %q after the second crawl, want %s", test.missing, state, test.comes)
			}
			for _, v := range s.forget() {
				if _, stored := first.Pages[v.url]; stored {
					t.Errorf("%s was stored and is fetched again", v.url)
				}
			}
			whole.crawl(append(test.second, s.seeds("/docs/")...)...)
			mustEqual(t, "one wide crawl against a narrow one before it", whole.picture(nil), second)
		})
	}
}

// URLs that failed because a site was down are requested again when the site is up.
func TestSiteDown(t *testing.T) {
	t.Parallel()
	s, hosts := serveGenerated(t, 10)
	p := newPlace(t)
	docs := append([]string{"--scope", "prefix"}, s.seeds("/docs/")...)
	s.fail(true)
	if _, err := p.run("crawl", crawling(docs...)...); err == nil || !strings.Contains(err.Error(), "/docs/ is not stored: robots unreachable") {
		t.Errorf("a crawl of a site that is down: %v", err)
	}
	p.verify()
	if status := p.status(); status.Stored != 0 || status.Pending != 0 || status.Failed["robots unreachable"] != len(s.origins) {
		t.Errorf("while the site is down: %+v", status)
	}
	s.fail(false)
	p.crawl(docs...)
	p.verify()
	if diff := cmp.Diff(expected(s, hosts), p.picture(nil).States); diff != "" {
		t.Errorf("states when the site is up again (-want +got):\n%s", diff)
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	s, hosts := serveGenerated(t, 60)
	s.answerIn(20 * time.Millisecond)
	p := newPlace(t)
	docs := append([]string{"--scope", "prefix"}, s.seeds("/docs/")...)
	run := p.start("crawl", crawling(docs...)...)
	s.awaitVisits(30, run.ended)
	began := time.Now()
	if err := run.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := run.wait(); err == nil || !strings.Contains(run.err.String(), "What was fetched is kept") {
		t.Errorf("after Ctrl-C: %v", err)
	}
	t.Logf("stopped within %v", time.Since(began))
	p.verify()
	s.answerIn(0)
	p.crawl(docs...)
	p.verify()
	if diff := cmp.Diff(expected(s, hosts), p.picture(nil).States); diff != "" {
		t.Errorf("states when the crawl has gone on (-want +got):\n%s", diff)
	}
}

func TestMaxPages(t *testing.T) {
	t.Parallel()
	for _, partitions := range []string{"1", "7"} {
		t.Run(partitions+" partitions", func(t *testing.T) {
			t.Parallel()
			s, hosts := serveGenerated(t, 20)
			p := newPlace(t)
			docs := append([]string{"--scope", "prefix", "--partitions", partitions}, s.seeds("/docs/")...)
			for _, want := range []int{17, 34} {
				p.crawl(append([]string{"--pages", "17"}, docs...)...)
				p.verify()
				if stored := p.status().Stored; stored != want {
					t.Errorf("%d pages are stored, want %d", stored, want)
				}
			}
			p.crawl(docs...)
			p.verify()
			if diff := cmp.Diff(expected(s, hosts), p.picture(nil).States); diff != "" {
				t.Errorf("states when the crawl has gone on (-want +got):\n%s", diff)
			}
		})
	}
}

// The command up continues its crawl when it is started again after it was killed.
func TestUpAgain(t *testing.T) {
	t.Parallel()
	s, hosts := serveGenerated(t, 40)
	s.answerIn(10 * time.Millisecond)
	p := newPlace(t)
	up := crawling(append([]string{"--listen", "127.0.0.1:0", "--scope", "prefix"}, s.seeds("/docs/")...)...)
	run := p.start("up", up...)
	s.awaitVisits(50, run.ended)
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-run.ended
	run = p.start("up", crawling("--listen", "127.0.0.1:0")...)
	stored := len(slices.DeleteFunc(slices.Collect(maps.Values(expected(s, hosts))), func(state string) bool { return state != "stored" }))
	run.await(t, func() bool {
		status := p.status()
		return status.Documents >= stored-len(s.origins) && status.Pending == 0 && p.clean()
	})
	p.verify()
	if err := run.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := run.wait(); err != nil {
		t.Errorf("up after Ctrl-C: %v", err)
	}
	p.verify()
	if diff := cmp.Diff(expected(s, hosts), p.picture(nil).States); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}
