package simulation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout"
)

var foreignKinds = []kind{
	{"somebody leaves a foreign object", func(w *world, c *call) (fault, string, bool) {
		keys := foreignKeys(layout.Prefixes[w.random.IntN(len(layout.Prefixes))])
		key := keys[w.random.IntN(len(keys))]
		happened := !w.foreign[key]
		if happened {
			w.leave(c.process.runner, key)
		}
		return none, key, happened
	}},
}

// foreignKeys returns keys that begin with the given prefix, but that no function of the program
// ever writes. Some sort before all real keys of the prefix, and some after them. Some look like
// keys of partitions, strategies and collections.
func foreignKeys(prefix string) []string {
	keys := []string{
		prefix + "!notes.txt", prefix + "notes", prefix + "0000/!notes.spf", prefix + "0001/notes.json", prefix + "99999999999999999999",
		prefix + "storage/notes.json", prefix + functionstest.Collection + "/notes.again", prefix + "0000/9/000000000009.json.zst",
	}
	for _, key := range keys {
		if !layout.IsForeign(key) {
			panic(key + " is not foreign")
		}
	}
	return keys
}

// leave stores an object under a foreign key (one that no function of the program writes). The
// content has the format of objects below epochs/. A function that reads it as any other kind of
// object finds it damaged. If a new object with the key's prefix raises an event (see hears), leave
// also sends this event to the runner's queue.
func (w *world) leave(r *runner, key string) {
	w.t.Helper()
	content := fmt.Sprintf(`{"by":"%s","generations":{"0":99,"1":99}}`, key)
	functionstest.Put(w.t, w.store, key, []byte(content))
	w.foreign[key] = true
	for _, h := range hears {
		if strings.HasPrefix(key, h.prefix) {
			r.queue.send(h.function, string(message.S3Event("test", key, int64(len(content)), w.clock.Now())), 0)
		}
	}
}

// withoutForeign returns the problems that verify has found, without its reports of foreign objects
// (objects that no function writes). It fails the test unless every foreign object in the bucket is
// reported.
func (w *world) withoutForeign(problems []verify.Problem) []verify.Problem {
	w.t.Helper()
	told := make(map[string]bool)
	problems = slices.DeleteFunc(problems, func(p verify.Problem) bool {
		isForeign := p.Kind == verify.Foreign && w.foreign[p.Key]
		told[p.Key] = told[p.Key] || isForeign
		return isForeign
	})
	for key := range w.foreign {
		if !told[key] {
			w.t.Errorf("verify does not name the foreign object %s", key)
		}
	}
	return problems
}

// TestForeign runs every life (kind of run) in a bucket with foreign objects below all
// prefixes: objects that no function writes. No function may fail because of them or delete
// them, and verify must name each.
func TestForeign(t *testing.T) {
	t.Parallel()
	m := newMemories(t)
	for _, l := range lives(t, m) {
		t.Run(l.name, func(t *testing.T) {
			inWorld(t, m, l.plan, func(w *world) {
				for _, prefix := range layout.Prefixes {
					for _, key := range foreignKeys(prefix) {
						w.leave(w.runners[0], key)
					}
				}
				l.start(w)
				w.run()
				if report := w.repair(); len(report.Mended) > 0 {
					t.Errorf("repair mended %q", report.Mended)
				}
				w.check(l.want)
			})
		})
	}
}
