package frontier

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// TestCluster: frontiers, an inbox and a cache of robots.txt work on a Redis Cluster of three nodes. A node rejects
// a script or a transaction whose keys are not all in the same slot.
func TestCluster(t *testing.T) {
	rdb := redistest.Cluster(t, 3)
	run := newModelRun(t, rdb, 1)
	run.steps(300)
	run.must(Tell(t.Context(), rdb, map[int][]Held{4: {{Version: token(1), Host: "a", Deadline: noon}}}))
	for crawl := range 6 { // on all nodes
		other := fixture{New(rdb, crawl), t}
		other.must(other.Reset(t.Context()))
		other.must(other.Open(t.Context(), 9, "", nil))
		other.admit(noon, entry("b", fmt.Sprint(crawl), 1))
		other.must(other.Forget(t.Context(), map[layout.Identity]Removal{entry("b", fmt.Sprint(crawl), 1).ID: Remove}))
		other.must(other.Built(t.Context(), ""))
	}
	crawls, err := Partitions(t.Context(), rdb)
	if diff := cmp.Diff([]int{0, 1, 2, 3, 4, 5}, crawls); err != nil || diff != "" {
		t.Errorf("partitions: %v %s", err, diff)
	}
	if ended, err := Ended(t.Context(), rdb, crawls); err != nil || !ended {
		t.Errorf("ended: %v, %v", ended, err)
	}

	inbox, waiting := NewInbox(rdb, 2), Waiting{Batch: token(5), Bytes: 7, Pages: 1, Since: noon.UTC(), Settled: true}
	run.must(inbox.Add(t.Context(), waiting))
	if got, err := inbox.List(t.Context()); err != nil || len(got) != 1 || !got[0].Settled {
		t.Errorf("inbox: %+v, %v", got, err)
	}
	run.must(inbox.Remove(t.Context(), []layout.Version{waiting.Batch}))

	cache, origins := NewRobotsCache(rdb), make([]string, 10)
	for i := range origins {
		origins[i] = fmt.Sprintf("http://host%d", i)
		run.must(cache.Put(t.Context(), origins[i], 200, nil, noon.Add(time.Hour)))
	}
	if found, err := cache.Get(t.Context(), noon, origins...); err != nil || len(found) != len(origins) {
		t.Errorf("robots.txt of %d origins, %v, want %d", len(found), err, len(origins))
	}
}
