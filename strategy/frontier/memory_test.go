//go:build !race

// The memory of redis-server is the same under the race detector, and many URLs take long there.

package frontier

import (
	"fmt"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// TestMemory checks how much memory redis-server needs for each URL. A stored URL may take 40 bytes, and 10 more
// for each tally that counts it. A waiting URL may take 50 bytes plus its length. A stored URL that was retired may
// take 5 bytes, and 20 in the bucket.
func TestMemory(t *testing.T) {
	rdb := redistest.Server(t)
	f := opened(t, rdb)
	const urls = 70_000 // some more buckets than a power of two, when hash tables are largest
	list, known, tallied, length := make([]Entry, urls), make([]Known, urls), make([]Known, urls), 0
	for i := range list {
		list[i] = benchURL(i)
		known[i] = Known{ID: list[i].ID, Place: placeOf(list[i]), Version: layout.Version{Epoch: 1, Token: uint64(1 + i/100)}, State: book.Stored}
		tallied[i] = known[i]
		tallied[i].Tallies = []string{"h:docs:docs.example.org", fmt.Sprint("p:docs:", i/100)}
		length += len(list[i].URL)
	}
	bytes := func(load func()) int {
		f.must(rdb.FlushDB(t.Context()).Err())
		before := memory(t, rdb, dataset)
		load()
		return (memory(t, rdb, dataset) - before) / urls
	}
	bytes(func() { f.must(f.Mark(t.Context(), known)) }) // the first time, Redis also takes memory for scripts and buffers
	stored := bytes(func() { f.must(f.Mark(t.Context(), known)) })
	counted := bytes(func() { f.must(f.Mark(t.Context(), tallied)) })
	waiting := bytes(func() { f.admit(noon, list...) })
	retired := bytes(func() {
		const rounds = 7
		for i := range rounds {
			f.must(f.Mark(t.Context(), known[i*urls/rounds:(i+1)*urls/rounds]))
			f.retire()
		}
	})
	inBucket := 0
	for object, err := range f.bucket.List(t.Context(), layout.Runs, "") {
		f.must(err)
		inBucket += int(object.Size)
	}
	t.Logf("bytes a URL: %d retired, %.1f in the bucket", retired, float64(inBucket)/float64(urls))
	if retired > 5 || inBucket > 20*urls {
		t.Errorf("bytes a URL: %d retired, %d in the bucket, want at most 5 and 20", retired, inBucket/urls)
	}
	t.Logf("bytes a URL: %d stored, %d on two tallies, %d waiting (%d of them its address)", stored, counted, waiting, length/urls)
	if stored > 40 || counted > 60 || waiting > 50+length/urls {
		t.Errorf("bytes a URL: %d stored, %d on two tallies, %d waiting, want at most 40, 60, and 50 more than its length", stored, counted, waiting)
	}
}

// dataset is the field of Redis' information about its memory that has the bytes of the data, without the buffers of
// connections.
const dataset = "used_memory_dataset"
