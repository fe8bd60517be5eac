// Package index builds the segment (index of the documents) of a package of pages, and commits it. The same commit
// masks documents in the partition's segments (marks them as dead), so that of every page only the last version is
// found.
//
// The documents of a small package are made twice. They are made at once, so that its pages are found early. They
// are made again together with those of other small packages. Only then are there enough pages to tell which
// blocks of text their hosts repeat, such as menus (see Function.Together).
package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/rangecache"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// leaseTime is the duration of the lease on indexing a package. If index is killed,
// another process can index the package after that time.
const leaseTime = 30 * time.Second

// errBusy means that another process has the lease on indexing a package.
var errBusy = errors.New("another is building its segment")

// Settings returns the settings of the collections. settings.Cache implements it.
type Settings interface {
	Get(ctx context.Context) (*settings.Settings, error)
}

// Function is the index function: its fields are the clients and limits that it works with.
type Function struct {
	Bucket   blob.Bucket
	Settings Settings
	Redis    redis.UniversalClient
	Sender   task.Sender
	Now      func() time.Time
	Worker   string // name of the process in its leases
	// User-Agent of collections whose settings have none; a page may forbid indexing to this agent
	// only
	Agent string
	Tiers segments.Limits // limits that decide whether segments can be merged; if so, index sends merge a task
	// Ranges caches parts of segments that index reads (see NewRanges): the process reads the filter of each
	// segment (see segment.Find) only once, instead of once for each package that it indexes. If Ranges is nil,
	// nothing is cached.
	Ranges *rangecache.Cache
	Log    *slog.Logger
}

// NewRanges returns a cache for Function.Ranges, which reads through the bucket. It has at most 32 MiB, enough for
// the filters and tails of segments with some five million documents.
func NewRanges(bucket blob.Reader) *rangecache.Cache {
	ranges, err := rangecache.New(bucket, rangecache.Options{Memory: 32 << 20})
	if err != nil {
		panic(err) // never: only opening a directory can fail
	}
	return ranges
}

// Handle takes two kinds of messages:
//
//	message                        action
//	bucket event of packages/      index the package (see Run)
//	task.Together                  make the documents of small packages again (see Together)
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.Each(ctx, f.Log, event, func(ctx context.Context, body string) error {
		if t, isTask := message.Task[task.Together](body); isTask {
			if err := f.Together(ctx, t); err != nil {
				return fmt.Errorf("cannot index small packages of partition %s together: %w", t.Storage, err)
			}
			return nil
		}
		return message.EachKey(body, func(key string) error {
			if err := f.Run(ctx, key); err != nil {
				return fmt.Errorf("cannot index package %s: %w", key, err)
			}
			return nil
		})
	}), nil
}

// Run builds and commits the segment of the package with the given key.
//
//	the package is                   Run
//	leased by another process        returns an error, so that the message is delivered again later
//	indexed already                  does nothing
//	not in the newest manifest       does nothing: another message follows when it is listed
func (f *Function) Run(ctx context.Context, key string) error {
	p, _, err := layout.ParsePackageKey(key)
	if err != nil {
		return message.Terminal(err)
	}
	m, err := manifest.Read(ctx, f.Bucket, p)
	if err != nil {
		return err
	}
	listed := m.Package(key)
	if listed == nil {
		f.Log.DebugContext(ctx, "no generation lists the package yet", "partition", m.Partition, "generation", m.Generation, "package", key)
		return nil
	}
	if listed.Indexed {
		return nil
	}
	worked, err := lease.New(f.Redis, f.Worker).Do(ctx, "index "+listed.Key, f.Now, leaseTime, func() error {
		return f.build(ctx, p, listed.ID)
	})
	if err == nil && !worked {
		err = message.Later(errBusy)
	}
	return err
}

// build builds and commits the segment of the package that has the number pkg in the manifest. It
// begins again if another commit makes the segment outdated meanwhile. It does nothing if the
// package is indexed already, or no longer listed.
func (f *Function) build(ctx context.Context, id layout.Partition, pkg uint32) error {
	for {
		p, err := partition.Open(ctx, f.Bucket, id, f.Now)
		if err != nil {
			return err
		}
		packages := p.Manifest().Packages
		i := slices.IndexFunc(packages, func(listed manifest.Package) bool { return listed.ID == pkg })
		if i < 0 || packages[i].Indexed {
			return nil
		}
		err = f.buildOnce(ctx, p, packages[i])
		if !errors.Is(err, partition.ErrStale) {
			return err
		}
	}
}

// buildOnce builds and commits a package's segment, and sends tasks for what can be done then: merge
// segments, or make documents of small packages again. It returns partition.ErrStale if the partition
// has changed meanwhile so that the segment must be built again.
func (f *Function) buildOnce(ctx context.Context, p *partition.Partition, pkg manifest.Package) error {
	began := f.Now()
	m, err := f.maker(ctx, p.Manifest())
	if err != nil {
		return err
	}
	drafts, err := m.read(ctx, pkg.Key, nil)
	if err != nil {
		return err
	}
	pages := m.finish(drafts, nil)
	extracted := f.Now()
	if err := f.commit(ctx, p, m, newCommitment(f, pages, pkg)); err != nil {
		return err
	}
	f.Log.InfoContext(ctx, "indexed", "partition", p.ID(), "generation", p.Manifest().Generation, "package", pkg.Key, "documents", len(pages),
		"extract", extracted.Sub(began), "build", f.Now().Sub(extracted))
	if segments.Together(p.Manifest(), false) != nil {
		if err := task.Send(ctx, f.Sender, task.Index, task.Together{Storage: p.ID()}, 0); err != nil {
			return err
		}
	}
	return f.raiseMerge(ctx, p)
}

// maker returns a maker of documents that follows the takedowns and settings in force. It fails if the partition has
// applied takedowns that cannot be read any more, because its segments could not be committed.
func (f *Function) maker(ctx context.Context, current *manifest.Manifest) (maker, error) {
	forgotten, err := takedown.Load(ctx, f.Bucket)
	if err != nil {
		return maker{}, err
	}
	if current.Forgotten > forgotten.Version {
		return maker{}, fmt.Errorf("partition %s has applied version %d of the takedowns, but %d is the last that can be read", current.Partition, current.Forgotten, forgotten.Version)
	}
	if f.Ranges != nil {
		f.Ranges.Follow(strconv.FormatUint(forgotten.Version, 10)) // a new version empties the cache of erased pages
	}
	inForce, err := f.Settings.Get(ctx)
	return maker{f.Bucket, forgotten, pageRules{inForce, f.Agent}}, err
}

// commit builds the segment of the commitment's pages, and commits it. The parameter m has made the
// pages. commit returns partition.ErrStale if they must be made again.
func (f *Function) commit(ctx context.Context, p *partition.Partition, m maker, listing *commitment) error {
	if len(listing.pages) > 0 {
		content, err := segments.Build(listing.pages)
		if err != nil {
			return err
		}
		built, err := p.PutSegment(ctx, content)
		if err != nil {
			return err
		}
		listing.built = &built
	}
	return p.Commit(ctx, func(e *partition.Edit) error {
		if e.Manifest().Forgotten > m.forgotten.Version { // no later sweep would erase their pages here
			return partition.ErrStale
		}
		return listing.edit(ctx, e)
	})
}

// raiseMerge sends merge a task if segments of the partition can be merged.
func (f *Function) raiseMerge(ctx context.Context, p *partition.Partition) error {
	if f.Tiers.Mergeable(p.Manifest(), false) == nil {
		return nil
	}
	return task.Send(ctx, f.Sender, task.Merge, task.Tiers{Storage: p.ID()}, 0)
}
