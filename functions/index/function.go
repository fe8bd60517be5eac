// Package index builds the segment (index of the documents) of a package of pages, and commits it.
// The same commit masks documents in the partition's segments (marks them as dead), so that of
// every page only the last version is found.
package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
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
	Log   *slog.Logger
}

// Handle indexes the packages that the bucket events in the messages name (see Run).
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.Each(ctx, f.Log, event, func(ctx context.Context, body string) error {
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

// buildOnce builds and commits a package's segment, and sends merge a task if segments can
// be merged then. It returns partition.ErrStale if the partition has changed meanwhile
// so that the segment must be built again.
func (f *Function) buildOnce(ctx context.Context, p *partition.Partition, pkg manifest.Package) error {
	began := f.Now()
	forgotten, err := takedown.Load(ctx, f.Bucket)
	if err != nil {
		return err
	}
	inForce, err := f.Settings.Get(ctx)
	if err != nil {
		return err
	}
	content, err := f.Bucket.Get(ctx, pkg.Key, blob.Range{})
	if err != nil {
		return err
	}
	pages, err := extract(ctx, pkg.Key, content, forgotten, pageRules{inForce, f.Agent})
	if err != nil {
		return err
	}
	extracted := f.Now()
	listing := newCommitment(f, pkg, pages)
	if len(pages) > 0 {
		content, err := segments.Build(pages)
		if err != nil {
			return err
		}
		built, err := p.PutSegment(ctx, content)
		if err != nil {
			return err
		}
		listing.built = &built
	}
	err = p.Commit(ctx, func(e *partition.Edit) error {
		if e.Manifest().Forgotten > forgotten.Version { // newer takedowns are applied: no later sweep would erase what they forget from this segment
			return partition.ErrStale
		}
		return listing.edit(ctx, e)
	})
	if err != nil {
		return err
	}
	f.Log.InfoContext(ctx, "indexed", "partition", p.ID(), "generation", p.Manifest().Generation, "package", pkg.Key, "documents", len(pages),
		"extract", extracted.Sub(began), "build", f.Now().Sub(extracted))
	if f.Tiers.Mergeable(p.Manifest()) == nil {
		return nil
	}
	return task.Send(ctx, f.Sender, task.Merge, task.Tiers{Storage: p.ID()}, 0)
}
