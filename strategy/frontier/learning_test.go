package frontier

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
)

// learn calls Learning for a commit in storage partition 2.
func (f fixture) learn(before, next string) {
	f.t.Helper()
	f.must(f.Learning(f.t.Context(), 2, before, next))
}

// behind reports whether, according to Knows, the frontier lacks books. The parameter learnt is the
// name of the last commit to storage partition 2.
func (f fixture) behind(learnt string) bool {
	f.t.Helper()
	err := f.Knows(f.t.Context(), map[layout.Partition]string{2: learnt})
	if err != nil && (!errors.Is(err, ErrNotBuilt) || !strings.Contains(err.Error(), "it is behind the books of partition 0002")) {
		f.t.Fatal(err)
	}
	return err != nil
}

// TestLearning announces commits to the frontier, and then checks which of them the frontier has
// recorded. Each case lists the announced commits (pairs "before>next"), the commits that must be
// recorded, and commits that must not be.
func TestLearning(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		for _, story := range []struct {
			name, told string
			knows      []string
			behind     []string
		}{
			{"never told", "", []string{""}, []string{"1a"}},
			{"the first commit, made or not", ">1a", []string{"", "1a"}, []string{"1b", "a", "1"}},
			{"commits in order", ">1a 1a>2b 2b>3c", []string{"1a", "2b", "3c"}, []string{"4d"}},
			{"told twice", ">1a >1a 1a>2b 1a>2b", []string{"1a", "2b"}, nil},
			{"two packs, the second wins", "1a>2b 1a>2c 2c>3b", []string{"2c", "3b"}, []string{"3c"}},
			{"two packs, the first wins", "1a>2b 1a>2c 2b>3c", []string{"2b", "3c"}, []string{"3b"}},
			{"it missed a commit, and is told of the next", "1a>2b 3c>4d 4d>5e", []string{"1a", "2b"}, []string{"3c", "4d", "5e"}},
			{"two packs, the first commits twice", "1a>2b 1a>2c 2b>3d 1a>2e 3d>4f", []string{"3d", "4f"}, []string{"4g"}},
			{"many commits that were not made", "1a>b 1a>c 1a>d 1a>e 1a>f 1a>g 1a>h 1a>i 1a>j 1a>k", []string{"1a", "k"}, []string{"b"}},
			{"a long time", "1a>2 2>3 3>4 4>5 5>6 6>7 7>8 8>9 9>10", []string{"3", "9", "10"}, []string{"1a", "2"}},
		} {
			f.must(f.Reset(t.Context()))
			first, _, _ := strings.Cut(story.told, ">")
			f.must(f.Open(t.Context(), 1, "", map[layout.Partition]string{2: first}))
			for _, told := range strings.Fields(story.told) {
				before, next, _ := strings.Cut(told, ">")
				f.learn(before, next)
			}
			for _, learnt := range story.knows {
				if f.behind(learnt) {
					t.Errorf("%s: it is behind %q", story.name, learnt)
				}
			}
			for _, learnt := range story.behind {
				if !f.behind(learnt) {
					t.Errorf("%s: it knows %q", story.name, learnt)
				}
			}
		}
	})
}

func TestLearnedByARebuild(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.learn("", "1a")
		f.must(f.Reset(t.Context()))
		for _, learnt := range []map[layout.Partition]string{{2: "1a"}, nil} {
			if err := f.Knows(t.Context(), learnt); !errors.Is(err, ErrNotBuilt) {
				t.Errorf("Knows before Open: %v, want ErrNotBuilt", err)
			}
		}
		f.learn("2b", "3c") // while the rebuild runs, which has read commit 2b
		learnt := map[layout.Partition]string{2: "2b", 3: "", 7: "9c"}
		f.must(f.Open(t.Context(), 2, "", learnt))
		f.must(f.Knows(t.Context(), learnt))
		f.must(f.Knows(t.Context(), nil))
		f.learn("3c", "4d")
		if f.behind("2b") || f.behind("3c") || f.behind("4d") || !f.behind("1a") {
			t.Error("want it to know what came since the rebuild began, and nothing from before")
		}
	})
}

// TestLearningDuringARebuild: packs announce commits (by Learning) while a rebuild reads the bucket.
// After the rebuild, Knows must report whether the frontier lacks the book of a commit. A case gives
// the announced commits (told), the last commit that the rebuild has read (found), the last commit of
// all (manifest), and the expected report (behind).
func TestLearningDuringARebuild(t *testing.T) {
	var many []string
	for i := range 3 * kept {
		many = append(many, fmt.Sprintf("%d>%d", i, i+1))
	}
	eachRedis(t, func(t *testing.T, f fixture) {
		for _, story := range []struct {
			name, told, found, manifest string
			behind                      bool
		}{
			{"nothing happened", "", "5", "5", false},
			{"the first commit", ">1", "", "1", false},
			{"commits after the look", "5>6 6>7", "5", "7", false},
			{"commits before and after it", "5>6 6>7", "6", "7", false},
			{"commits before it", "5>6 6>7", "7", "7", false},
			{"a lost commit", "5>x 5>6", "5", "6", false},
			{"a repair after the look, then a commit", "R>7", "5", "7", true},
			{"a repair before the look, then a commit", "R>7", "R", "7", false},
			{"a commit, a repair after the look, a commit", "5>6 R>7", "5", "7", true},
			{"a commit, a repair before the look, a commit", "5>6 R>7", "R", "7", true},
			{"a commit told before Reset, made after the look", "", "5", "6", true},
			{"the same, and another", "6>7", "5", "7", true},
			{"a repair is all", "", "5", "R", true},
			{"more commits than are kept", strings.Join(many, " "), "0", fmt.Sprint(len(many)), false},
		} {
			f.must(f.Reset(t.Context()))
			for _, told := range strings.Fields(story.told) {
				before, next, _ := strings.Cut(told, ">")
				f.learn(before, next)
			}
			for range 2 { // the call is repeated, as after a lost reply
				f.must(f.Open(t.Context(), 1, "", map[layout.Partition]string{2: story.found}))
			}
			if got := f.behind(story.manifest); got != story.behind {
				t.Errorf("%s: behind: %v, want %v", story.name, got, story.behind)
			}
			f.learn(story.manifest, "next")
			if got := f.behind("next"); got != story.behind {
				t.Errorf("%s: behind the next commit: %v, want %v", story.name, got, story.behind)
			}
		}
	})
}

// TestOlderCopy proves the purpose of Learning. Two packs, A and B, settle batches and announce their
// commits by Learning. Redis is copied after one of these steps, and is set back to this copy at the
// end. If it then lacks settlements of a committed book, Knows must report that the frontier lacks
// books. All steps are tried.
func TestOlderCopy(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		settled := func(name string) func() {
			return func() { f.admit(noon, entry("a", name, 1)) }
		}
		told := func(before, next string) func() { return func() { f.learn(before, next) } }
		steps := []func(){
			settled("B"), told("", "1B"), settled("A"), told("", "1A"), // A commits 1A; B begins again
			told("1A", "2B"), // B commits 2B
			settled("C"), told("2B", "3C"),
		}
		done := func() string { // returns the batches that Redis has settled
			var names strings.Builder
			for _, name := range []string{"B", "A", "C"} {
				if _, waits := f.pending()[entry("a", name, 1).ID]; waits {
					names.WriteString(name)
				}
			}
			return names.String()
		}
		for learnt, needs := range map[string]string{"1A": "BA", "2B": "BA", "3C": "BAC"} {
			for copied := range len(steps) + 1 {
				f.must(f.rdb.FlushAll(t.Context()).Err())
				f.must(f.Open(t.Context(), 1, "", nil))
				for _, step := range steps[:copied] {
					step()
				}
				name := fmt.Sprintf("a copy after step %d, when %s is in force", copied, learnt)
				if has := done(); !strings.HasPrefix(has, needs) && !f.behind(learnt) {
					t.Errorf("%s: it has %q and is not behind", name, has)
				}
				// Further commits do not change that a frontier lacks the earlier ones.
				if behind := f.behind(learnt); behind {
					f.learn(learnt, "9Z")
					if !f.behind("9Z") {
						t.Errorf("%s: it forgot that it is behind", name)
					}
				}
			}
		}
	})
}
