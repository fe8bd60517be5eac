package engine

import (
	"log/slog"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestCacheAfterTakedown starts one engine after the other with the same cache on disk, as processes do that
// are started again. A takedown empties the cache. The test checks that the engines after
// the takedown read everything from the bucket again, but only once.
func TestCacheAfterTakedown(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(3)...)
	dir := t.TempDir()
	gets := func() int64 {
		bucket := countblob.New(s.Bucket)
		e, err := New(bucket, Options{
			Settings: &settings.Cache{Bucket: bucket, Now: s.Clock.Now, Age: time.Minute}, Now: s.Clock.Now, Age: time.Minute,
			Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Dir: dir, Disk: 1 << 30, Name: "b",
		})
		s.Check(err)
		totalOf(t, e, "manual")
		s.Check(e.ranges.Close())
		return bucket.Counts().Get
	}
	gets()
	warm := gets()
	_, err := takedown.Forget(t.Context(), s.Bucket, takedown.URL(s.Address("https://nobody.example/x"), querytest.Noon))
	s.Check(err)
	// The first engine has read the small segment from the disk before it knows of the takedown. The second reads it again.
	first, second, third := gets(), gets(), gets()
	if first+second <= 2*third || third > warm+1 { // the takedown itself may cost some requests
		t.Errorf("GETs: %d with a cache, %d and %d after something was forgotten, at last %d", warm, first, second, third)
	}
}
