package main

import (
	"context"
	"fmt"
	"os"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/restore"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/local/redis"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Numbers of queries that are measured. A cold one costs more than a warm one.
const (
	coldQueries = 20
	warmQueries = 200
)

// costsOf crawls a web with the given number of pages, and returns the costs of all operations by their names.
// Files are made in the directory; "" stands for the system's directory of temporary files.
func costsOf(ctx context.Context, pages int, dir string) (map[string]*cost, error) {
	dir, err := os.MkdirTemp(dir, "scale-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // only a temporary directory
	server, err := redis.Start(ctx, redis.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	defer server.Close()
	options, err := goredis.ParseURL(server.URL)
	if err != nil {
		return nil, err
	}
	rdb := goredis.NewClient(options)
	defer rdb.Close() //nolint:errcheck // nothing is written any more
	clock := functionstest.NewClock()
	w := newWeb(pages, func() { clock.Advance(answerTime) })
	c, kept, err := newCrawl(ctx, dir, rdb, w, clock)
	if err != nil {
		return nil, err
	}
	defer kept.Close() //nolint:errcheck // its file is gone anyway
	defer c.close()
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	if err := c.examine(ctx, w); err != nil {
		return nil, err
	}
	return c.meter.costs, nil
}

// examine measures what is done with the bucket when the web has been crawled.
func (c *crawl) examine(ctx context.Context, w *web) error {
	for _, o := range []struct {
		name string
		do   func(ctx context.Context, w *web, name string) error
	}{
		{"idle sweep", c.idle},
		{"status", c.status},
		{"cold query", c.askCold},
		{"warm query", c.askWarm},
		{"forget", c.forget},
		{"rebuild", c.rebuild},
		{"verify", c.verify},
	} {
		if err := o.do(ctx, w, o.name); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
	}
	return nil
}

// idle sweeps when there is nothing to do.
func (c *crawl) idle(ctx context.Context, _ *web, name string) error {
	return c.meter.measure(name, func() error { return c.sweep(ctx, c.call) })
}

// status reads the status, and compares it with the web. There may be more documents than pages: those of packages that
// were packed anew are dead in their first segments until a merge leaves them out. That none lives twice is what verify
// checks.
func (c *crawl) status(ctx context.Context, w *web, name string) error {
	return c.meter.measure(name, func() error {
		found, err := system.ReadStatus(ctx, c.bucket, countblob.Counts{}, "")
		if want := w.pages(); err == nil && (found.Stored != want || found.Documents < want || found.Pending > 0 || len(found.Faults) > 0) {
			err = fmt.Errorf("%d pages are stored, %d documents indexed, %d URLs pending, and the web has %d pages; faults: %q",
				found.Stored, found.Documents, found.Pending, want, found.Faults)
		}
		return err
	})
}

// askCold asks each query in a new engine.
func (c *crawl) askCold(ctx context.Context, w *web, name string) error {
	for _, text := range w.queries(coldQueries) {
		err := c.meter.measure(name, func() error {
			e, err := c.engine()
			if err == nil {
				err = ask(ctx, e, text)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// askWarm asks all queries in one engine, twice: only the second time is measured.
func (c *crawl) askWarm(ctx context.Context, w *web, name string) error {
	e, err := c.engine()
	if err != nil {
		return err
	}
	queries := w.queries(warmQueries)
	for _, text := range queries {
		if err := ask(ctx, e, text); err != nil {
			return err
		}
	}
	for _, text := range queries {
		if err := c.meter.measure(name, func() error { return ask(ctx, e, text) }); err != nil {
			return err
		}
	}
	return nil
}

func (c *crawl) engine() (*engine.Engine, error) {
	return engine.New(c.bucket, engine.Options{Settings: c.settings, Now: c.clock.Now, Age: time.Minute, Log: c.log})
}

// ask asks a query, which must find something.
func ask(ctx context.Context, e *engine.Engine, text string) error {
	found, err := e.Search(ctx, engine.Query{Query: search.Query{Text: text, Size: 10}})
	if err == nil && found.Total == 0 {
		err = fmt.Errorf("nothing is found for %q", text)
	}
	return err
}

// forget takes one page down, and lets the functions erase it.
func (c *crawl) forget(ctx context.Context, w *web, name string) error {
	last := len(w.sizes) - 1
	page, err := address.Parse(w.url(last, w.sizes[last]-1))
	if err != nil {
		return err
	}
	return c.meter.measure(name, func() error {
		if _, err := takedown.Forget(ctx, c.bucket, takedown.URL(page, c.clock.Now())); err != nil {
			return err
		}
		c.clock.Advance(c.settings.Age) // now all functions read the takedown
		return c.sweep(ctx, c.call)
	})
}

// rebuild makes the frontier anew.
func (c *crawl) rebuild(ctx context.Context, _ *web, name string) error {
	return c.meter.measure(name, func() error {
		f := &restore.Frontiers{Bucket: c.bucket, Redis: c.redis, Now: c.clock.Now, Worker: worker, Log: c.log}
		_, err := f.Rebuild(ctx)
		return err
	})
}

// verify verifies the whole bucket, and compares the frontier with it.
func (c *crawl) verify(ctx context.Context, _ *web, name string) error {
	return c.meter.measure(name, func() error {
		v := &verify.Verifier{Bucket: c.bucket, Now: c.clock.Now(), Frontiers: []*frontier.Frontier{frontier.New(c.redis, 0)}}
		report, err := v.Run(ctx)
		if err == nil && !report.Sound() {
			err = fmt.Errorf("%d problems, such as %v", len(report.Problems)+report.More, report.Problems[0])
		}
		return err
	})
}
