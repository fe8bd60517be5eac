package system

import (
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// TestClaimFullRedis claims a Redis for a bucket, and again when it has used up its memory, as the command status does,
// which says so.
func TestClaimFullRedis(t *testing.T) {
	t.Parallel()
	rdb, bucket := redistest.Server(t), memblob.New() // the embedded Redis has no limit
	if err := bucket.Create(t.Context(), layout.StrategyKey(string(rules.Storage), 1), []byte("of this bucket")); err != nil {
		t.Fatal(err)
	}
	for _, most := range []string{"0", "1"} {
		if err := rdb.ConfigSet(t.Context(), "maxmemory", most).Err(); err != nil {
			t.Fatal(err)
		}
		if err := claimRedis(t.Context(), bucket, rdb); err != nil {
			t.Errorf("with a maxmemory of %s: %v", most, err)
		}
	}
}
