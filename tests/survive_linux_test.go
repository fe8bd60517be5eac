package tests

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A crawl survives when one child process of each kind (such as the object store) is killed, one
// after the other.
func TestSurviveKills(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 60)
	for i, test := range []struct {
		name  string
		flags []string
	}{
		{"one process", nil},
		{"isolated", []string{"--isolated", "--partitions", "3"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr.site.answerIn(30 * time.Millisecond)
			p := newPlace(t)
			random := rand.New(rand.NewPCG(uint64(i), 0))
			run := p.start("crawl", crawling(tr.crawlDocs(test.flags...)...)...)
			kills := killEach(tr, random, run)
			if _, err := run.wait(); err != nil {
				t.Fatalf("%v\n%s", err, p.logTail())
			}
			if len(kills) < 2 {
				t.Errorf("only %d processes were killed", len(kills))
			}
			p.verify()
			mustEqual(t, test.name, tr.quiet, p.picture(tr.queries))
			visits := tr.site.forget()
			for _, k := range kills {
				t.Logf("%s", k.effect(visits))
			}
			t.Logf("%d visits, %d of them in vain", len(visits), twice(visits)-tr.retries())
		})
	}
}

// kill records that a process was killed.
type kill struct {
	victim string
	at     time.Time
}

// killEach kills one process of each kind that the program has started, in random order and at
// random moments, until all kinds were killed or the program has ended.
func killEach(tr *trial, random *rand.Rand, run *process) []kill {
	var kills []kill
	done := make(map[string]bool)
	for {
		tr.site.awaitVisits(10+random.IntN(10), run.ended)
		select {
		case <-run.ended:
			return kills
		default:
		}
		left := kinds(run.Process.Pid)
		maps.DeleteFunc(left, func(kind string, _ []int) bool { return done[kind] })
		if len(left) == 0 {
			return kills
		}
		kind := slices.Sorted(maps.Keys(left))[random.IntN(len(left))]
		done[kind] = true
		kills = append(kills, kill{kind, time.Now()})
		_ = syscall.Kill(one(random, left[kind])[0], syscall.SIGKILL) // fails when it has ended by itself
	}
}

// kinds returns the processes that the program has started, by the name of their binary.
func kinds(pid int) map[string][]int {
	hits := make(map[string][]int)
	for _, child := range childrenOf(pid) {
		name, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", child))
		if err != nil {
			continue // it has ended, or has not begun
		}
		kind := filepath.Base(name)
		switch {
		case kind == filepath.Base(program):
			kind = "object store"
		case strings.HasPrefix(kind, "redis"):
			kind = "Redis"
		}
		hits[kind] = append(hits[kind], child)
	}
	return hits
}

// effect describes two pauses after the kill: the longest time between two consecutive visits,
// whatever their hosts, and the longest time between two consecutive visits to the same host.
func (k kill) effect(visits []visit) string {
	slices.SortFunc(visits, func(a, b visit) int { return a.began.Compare(b.began) })
	byHost := make(map[string][]visit)
	for _, v := range visits {
		if u, err := url.Parse(v.url); err == nil {
			byHost[u.Host] = append(byHost[u.Host], v)
		}
	}
	var worst time.Duration
	for _, own := range byHost {
		worst = max(worst, pauseAfter(own, k.at))
	}
	return fmt.Sprintf("%s killed: no host was asked for %v, one host for %v", k.victim, pauseAfter(visits, k.at), worst)
}

// pauseAfter returns the longest pause between two consecutive visits. Only pauses count that ended
// after the given moment and began less than ten seconds after it.
func pauseAfter(visits []visit, at time.Time) time.Duration {
	var longest time.Duration
	for i, v := range visits[1:] {
		before := visits[i].began
		if v.began.After(at) && before.Before(at.Add(10*time.Second)) {
			longest = max(longest, v.began.Sub(before))
		}
	}
	return longest.Round(time.Millisecond)
}
