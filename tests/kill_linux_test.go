package tests

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestKill(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 40)
	tr.site.answerIn(10 * time.Millisecond)
	for i, test := range []struct {
		name   string
		kills  int // number of kills that a crawl must survive
		flags  []string
		victim func(*rand.Rand, family) []int
	}{
		{"the program", 6, nil, func(_ *rand.Rand, f family) []int { return f.program }},
		{"the program, isolated", 6, []string{"--isolated", "--partitions", "7"}, func(_ *rand.Rand, f family) []int { return f.program }},
		{"all processes at once", 6, []string{"--isolated"}, func(_ *rand.Rand, f family) []int { return f.all() }},
		{"the object store", 3, nil, func(_ *rand.Rand, f family) []int { return f.store }},
		{"Redis", 3, []string{"--partitions", "7"}, func(_ *rand.Rand, f family) []int { return f.redis }},
		{"functions", 6, []string{"--isolated", "--partitions", "7"}, func(r *rand.Rand, f family) []int { return one(r, f.functions) }},
		{"functions, with chaos", 6, []string{"--isolated", "--chaos", "4"}, func(r *rand.Rand, f family) []int { return one(r, f.functions) }},
		{"anything", 6, []string{"--isolated"}, func(r *rand.Rand, f family) []int { return one(r, f.all()) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel() // hosts that were leased when Redis ended are not requested for minutes
			p := newPlace(t)
			random := rand.New(rand.NewPCG(uint64(i), 0))
			p.crawlUnderKills(tr, random, test.kills, test.flags, test.victim)
			p.verify()
			mustEqual(t, test.name, tr.quiet, p.picture(tr.queries))
		})
	}
}

// crawlUnderKills runs a crawl. At random moments it kills some processes of the crawl; the callback
// chooses them among the running ones. If the crawl fails because of this, it is started again. When
// the given number of processes have been killed, the crawl runs to its end without further kills.
func (p place) crawlUnderKills(tr *trial, random *rand.Rand, most int, flags []string, victim func(*rand.Rand, family) []int) {
	p.t.Helper()
	kills, starts := 0, 1
	run := p.start("crawl", crawling(tr.crawlDocs(flags...)...)...)
	for kills < most {
		tr.awaitMoment(random, run)
		select {
		case <-run.ended:
		default:
			members := familyOf(run.Process.Pid)
			killed := victim(random, members)
			for _, pid := range killed {
				_ = syscall.Kill(pid, syscall.SIGKILL) // fails if the process has ended by itself
				kills++
			}
			if !slices.Contains(killed, run.Process.Pid) {
				continue
			}
			awaitEnd(p.t, members.all())
		}
		out, err := run.wait()
		if err == nil {
			p.t.Logf("%d kills, %d starts", kills, starts)
			return
		}
		mustExplain(p.t, run, out)
		run = p.start("crawl", crawling(tr.crawlDocs(flags...)...)...)
		starts++
	}
	if _, err := run.wait(); err != nil { // the last kill may have ended it
		mustExplain(p.t, run, err.Error())
		p.must("crawl", crawling(tr.crawlDocs(flags...)...)...)
		starts++
	}
	p.t.Logf("%d kills, %d starts", kills, starts)
}

// mustExplain checks that a program that has failed, and was not killed itself, has printed one
// sentence that says why.
func mustExplain(t testing.TB, run *process, out string) {
	t.Helper()
	if status, ok := run.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return
	}
	said := run.err.String()
	about := strings.Contains(said, "object store") || strings.Contains(said, "redis")
	if !about || strings.Count(said, "bucketsearch: ") != 1 {
		t.Fatalf("the program ended and did not say why: %s\n%s", said, out)
	}
	t.Logf("it said: %s", strings.TrimSpace(said))
}

// awaitMoment returns at a random moment. In one case of four, this is soon after the call, while
// the program is still starting. Otherwise it is after some requests to the site. awaitMoment also
// returns when the program has ended.
func (tr *trial) awaitMoment(random *rand.Rand, run *process) {
	if random.IntN(4) > 0 {
		tr.site.awaitVisits(1+random.IntN(20), run.ended)
	}
	select {
	case <-run.ended:
	case <-time.After(time.Duration(random.IntN(600)) * time.Millisecond):
	}
}

// family holds the process ids of a running program and its children.
type family struct {
	program, store, redis, functions []int
}

func (f family) all() []int {
	return slices.Concat(f.program, f.store, f.redis, f.functions)
}

// familyOf returns a running program and the processes that it has started. The binary of a process
// tells what the process is: the program's own binary runs as the object store, a binary whose name
// begins with redis is Redis, and any other is a function.
func familyOf(pid int) family {
	f := family{program: []int{pid}}
	for _, child := range childrenOf(pid) {
		name, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", child))
		if err != nil {
			continue // the process has ended, or has not begun
		}
		switch base := filepath.Base(name); {
		case base == filepath.Base(program):
			f.store = append(f.store, child)
		case strings.HasPrefix(base, "redis"):
			f.redis = append(f.redis, child)
		default:
			f.functions = append(f.functions, child)
		}
	}
	return f
}

func childrenOf(pid int) []int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // cannot fail for this pattern
	var children []int
	for _, list := range lists {
		content, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, word := range strings.Fields(string(content)) {
			child, err := strconv.Atoi(word)
			if err == nil {
				children = append(children, child)
			}
		}
	}
	slices.Sort(children)
	return children
}

func one(random *rand.Rand, pids []int) []int {
	if len(pids) == 0 {
		return nil
	}
	return []int{pids[random.IntN(len(pids))]}
}

// awaitEnd returns when none of the processes runs any more: no child may outlive a program
// that was killed.
func awaitEnd(t testing.TB, pids []int) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for _, pid := range pids {
		for syscall.Kill(pid, 0) == nil && !isZombie(pid) {
			if time.Now().After(deadline) {
				name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // used only in the message
				t.Fatalf("process %d (%q) outlives the program", pid, name)
			}
			time.Sleep(5 * time.Millisecond) // there is no event for the end of another process's child
		}
	}
}

func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, hits := strings.Cut(string(stat), ") ")
	return err != nil || !hits || strings.HasPrefix(rest, "Z")
}
