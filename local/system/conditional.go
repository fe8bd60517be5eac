package system

import (
	"context"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// CheckStore returns an error if the object store of --s3 is known to replace objects that are to be
// created only if they are absent (see store.checkCreate). An embedded store is not checked.
func (a *Attached) CheckStore(ctx context.Context) error { return a.store.checkCreate(ctx) }

// checkCreate returns an error if a remote object store ignores the condition If-None-Match of a PUT, as
// some stores do. There, two processes that commit at the same time would both succeed, and one of them
// would erase what the other has committed.
//
// To find out, checkCreate creates an object that the bucket has, the first storage strategy, once more
// with the same bytes. So nothing changes in a store that ignores the condition. If the object is absent,
// or the store answers by another error, nothing is known, and checkCreate returns nil.
func (s *store) checkCreate(ctx context.Context) error {
	if s.server != nil {
		return nil
	}
	key := layout.StrategyKey(string(rules.Storage), 1)
	content, err := s.bucket.Get(ctx, key, blob.Range{})
	if err != nil {
		return nil
	}
	if s.counting.Create(ctx, key, content) != nil { // not s.bucket, which repeats a request whose answer is lost
		return nil
	}
	return fmt.Errorf("the object store of --s3 %s ignores the condition If-None-Match of a PUT: it has replaced %s, which exists, and so would lose commits; use a store that refuses this with status 412, as AWS S3 does", s.url, key)
}
