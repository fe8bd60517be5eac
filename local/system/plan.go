package system

import (
	"context"
	"errors"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// DefaultCollection is the one that seeds of the command line fill.
const DefaultCollection = "default"

// Plan is what the command line asks to be crawled.
type Plan struct {
	Collections []collection.Collection // of files, each with a name of its own
	Seeds       []collection.Seed       // and what follows: of DefaultCollection
	Delay       time.Duration
	Connections int
	MaxPages    int64 // more than are stored now; 0: no limit
}

// Empty reports whether the plan asks for nothing.
func (p Plan) Empty() bool { return len(p.Seeds)+len(p.Collections) == 0 }

// Plan publishes what to crawl, before Run. A file's collection takes the place
// of the one of its name. The seeds are added to those of earlier crawls, which
// keep the scope that they had. URLs that failed are asked for again.
func (s *System) Plan(ctx context.Context, p Plan) error {
	again := time.Now().UTC().Truncate(time.Millisecond)
	for _, c := range p.Collections {
		if c.Agent == "" {
			c.Agent = s.options.Agent
		}
		c.Again = again
		if err := s.publish(ctx, c); err != nil {
			return err
		}
	}
	next, err := collection.Load(ctx, s.Bucket, DefaultCollection)
	absent := errors.Is(err, blob.ErrAbsent)
	if err != nil && !absent {
		return err
	}
	if len(p.Seeds) == 0 {
		if absent || next.StopAt == 0 || p.has(DefaultCollection) {
			return nil
		}
		next.StopAt = 0 // a limit is that of the crawl that asked for it
		return s.publish(ctx, next)
	}
	next = next.With(p.Seeds)
	next.Name = DefaultCollection
	next.DelayMillis, next.Connections = p.Delay.Milliseconds(), p.Connections
	next.Agent, next.Again = s.options.Agent, again
	next.StopAt = 0
	if p.MaxPages > 0 {
		now, err := ReadStatus(ctx, s.Bucket, countblob.Counts{}, "")
		if err != nil {
			return err
		}
		next.StopAt = int64(now.Stored) + p.MaxPages
	}
	return s.publish(ctx, next)
}

func (p Plan) has(name string) bool {
	for _, c := range p.Collections {
		if c.Name == name {
			return true
		}
	}
	return false
}

// publish publishes a collection with the seeds as they are crawled: cleaned,
// as are the links that lead to them.
func (s *System) publish(ctx context.Context, c collection.Collection) error {
	admission, err := c.Rules()
	if err != nil {
		return err
	}
	cleaned := make([]collection.Seed, len(c.Seeds))
	for i, seed := range c.Seeds {
		at, err := collection.ParseSeed(seed.URL)
		if err != nil {
			return err
		}
		cleaned[i] = seed
		cleaned[i].URL = admission.Clean(at).URL
	}
	c.Seeds = nil
	_, err = collection.Publish(ctx, s.Bucket, c.With(cleaned))
	return err
}
