package system

import (
	"context"
	"errors"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// collectionName is the collection that the command line fills.
const collectionName = "default"

// Plan is what the command line asks to be crawled.
type Plan struct {
	Seeds       []collection.Seed
	Delay       time.Duration
	Connections int
	MaxPages    int64 // more than are stored now; 0: no limit
}

// Plan publishes what to crawl, before Run. Seeds of earlier crawls stay, with
// the scope that they had; URLs that failed are asked for again.
func (s *System) Plan(ctx context.Context, p Plan) error {
	current, err := collection.Load(ctx, s.Bucket, collectionName)
	if err != nil && !errors.Is(err, blob.ErrAbsent) {
		return err
	}
	next := current.With(p.Seeds)
	next.Name = collectionName
	next.DelayMillis, next.Connections = p.Delay.Milliseconds(), p.Connections
	next.Agent, next.Again = s.options.Agent, time.Now().UTC().Truncate(time.Millisecond)
	next.StopAt = 0
	if p.MaxPages > 0 {
		now, err := ReadStatus(ctx, s.Bucket, countblob.Counts{})
		if err != nil {
			return err
		}
		next.StopAt = int64(now.Stored) + p.MaxPages
	}
	_, err = collection.Publish(ctx, s.Bucket, next)
	return err
}
