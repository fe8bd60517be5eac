package repair_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/command/verify/verifytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// TestReplica repairs replicas of a bucket. An object store copies a bucket to another region object by object, in any
// order, and the first region may be gone before it has copied the newest objects. After repair, and after the work
// that it leaves to the crawl, each URL must be stored and indexed again, and verify must find no problem. Only older
// generations of the manifest, which nothing of today depends on, may be lost to history.
func TestReplica(t *testing.T) {
	whole := lived(t)
	for seed := range uint64(replicas) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := &verifytest.World{T: t, Bucket: memblob.New(), Settings: whole.Settings}
			t.Logf("without %q", replicate(w, whole, rand.New(rand.NewPCG(seed, 0))))
			for range 2 { // here, where time stands still, a new package may get the name of a lost one, and be repaired again
				t.Logf("mended:\n%s", strings.Join(run(w).Mended, "\n"))
				w.Settle(links...)
				w.Mask()
			}
			after := check(w)
			problems := slices.DeleteFunc(after.Problems, func(p verify.Problem) bool {
				return p.Kind == verify.Missing && strings.HasPrefix(p.Key, layout.Manifests) && strings.Contains(p.Detail, "lost to history")
			})
			if len(problems) > 0 || after.Pending+after.Waiting.Fetch > 0 || after.Stored+after.Failed != 4 {
				t.Errorf("%+v\nproblems:\n%s", after, sentences(problems))
			}
		})
	}
}

// replicas is the number of replicas that TestReplica repairs.
const replicas = 250

// replicate copies a bucket. Of its newest objects, between none and all but the first ten, each is missing with a
// probability of one half. The result is the keys of the missing ones.
func replicate(to, from *verifytest.World, random *rand.Rand) (missing []string) {
	objects, err := blob.List(to.T.Context(), from.Bucket, "")
	if err != nil {
		to.T.Fatal(err)
	}
	slices.SortStableFunc(objects, func(a, b blob.Object) int { return a.Modified.Compare(b.Modified) })
	copied := 10 + random.IntN(len(objects)-10)
	for i, o := range objects {
		if i >= copied && random.IntN(2) == 0 {
			missing = append(missing, o.Key)
			continue
		}
		functionstest.Put(to.T, to.Bucket, o.Key, from.Content(o.Key))
	}
	return missing
}
