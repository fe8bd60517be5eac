package environment

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// TestCheck checks a function that can work, and two that cannot. What a check stores are vital signs of one
// invocation, and they are stored even if others are not due yet.
func TestCheck(t *testing.T) {
	there := redistest.Embedded(t)
	gone := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	defer gone.Close()
	refuses := func(faultblob.Call) faultblob.Fault { return faultblob.Before }
	for name, test := range map[string]struct {
		redis redis.UniversalClient
		fault func(faultblob.Call) faultblob.Fault
		want  string // part of the error; "": none
	}{
		"works":        {there, nil, ""},
		"without one":  {nil, nil, ""},
		"no Redis":     {gone, nil, "cannot reach Redis"},
		"a bad bucket": {there, refuses, "cannot write into the bucket"},
	} {
		store := memblob.New()
		var bucket blob.Bucket = store
		if test.fault != nil {
			bucket = faultblob.New(store, test.fault)
		}
		e, _, clock := watched(task.Pack, bucket)
		e.Redis = test.redis
		err := e.check(t.Context())
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		stored := functionstest.Keys(t, store, layout.Feedback)
		if (len(stored) == 1) != (err == nil) {
			t.Errorf("%s: %q is stored", name, stored)
		}
		if err == nil && signsOf(t, store, clock, task.Pack).Invocations != 1 {
			t.Errorf("%s: the check is not counted", name)
		}
	}
}
