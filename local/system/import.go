package system

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/command/ingest"
	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/local/datadir"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// importBytes is the size of the pages of one batch of an import, in bytes. A batch becomes
// one package.
const importBytes = 32 << 20

// Importer imports the pages of WARC and WACZ files into a bucket, and waits until searches can
// find them.
type Importer struct {
	bucket   blob.Bucket
	settings *settings.Cache
	agent    string
	close    func() error
	system   *System // the system, if this process runs it; nil if another program does
}

// OpenImporter opens the system for an import, without a crawl: no URL is requested from the
// web, even if some wait. If another program runs a system in the data directory, that system
// packs and indexes the imported pages.
func OpenImporter(ctx context.Context, o Options) (*Importer, error) {
	s, err := Open(ctx, o)
	switch {
	case err == nil:
		i := &Importer{bucket: s.Bucket, settings: s.Settings, agent: o.Agent, close: s.Close, system: s}
		if err = s.Publish(""); err == nil {
			return i, nil
		}
		return nil, errors.Join(err, s.Close())
	case !errors.Is(err, datadir.ErrInUse):
		return nil, err
	}
	a, errAttach := Attach(ctx, o)
	if errAttach != nil {
		return nil, err
	}
	return &Importer{bucket: a.Bucket, settings: a.Settings, agent: o.Agent, close: a.Close}, nil
}

// Log returns the log of the system or, if another program runs it, a log that discards
// everything.
func (i *Importer) Log() *slog.Logger {
	if i.system != nil {
		return i.system.Log
	}
	return slog.New(slog.DiscardHandler)
}

// Close closes the system that OpenImporter opened, or the connections to it if another program
// runs it.
func (i *Importer) Close() error { return i.close() }

// ErrOthers means that another program runs the system, so that Importer.Publish cannot publish.
var ErrOthers = errors.New("another program runs this data directory, so the collection cannot be published here; stop it, or crawl the collection first and give its name")

// Publish publishes a collection, as the command crawl does. It fails with ErrOthers if another
// program runs the system. It sends no requests to the web; therefore it refuses a topic with
// sample pages, which it would have to download.
func (i *Importer) Publish(ctx context.Context, c collection.Collection) error {
	switch {
	case i.system == nil:
		return ErrOthers
	case c.Topic != nil && len(c.Topic.Pages) > 0:
		return fmt.Errorf("collection %s has a topic with sample pages, which import does not ask for; crawl it first, and give its name", c.Name)
	}
	return i.system.Plan(ctx, Plan{Collections: []collection.Collection{c}})
}

// Import imports the pages of WARC files into the collection with the name. While it works, it
// calls progress with the name of the present stage, and how much of the stage's total is
// done.
func (i *Importer) Import(ctx context.Context, files []string, collection string, progress func(stage string, done, total int64)) (*ingest.Report, error) {
	limits := fetch.DefaultLimits()
	limits.Batch = importBytes
	f := &fetch.Function{
		Settings: i.settings, Now: time.Now, Agent: i.agent, Worker: commandWorker("import"), Limits: limits, Log: i.Log(),
	}
	if i.system != nil {
		if err := i.system.run(ctx, task.Schedule, task.Fetch); err != nil {
			return nil, err
		}
	}
	t := &ingest.Task{Files: files, Collection: collection, Bucket: i.bucket, Settings: i.settings, Fetch: f, Now: time.Now, Progress: progress}
	return t.Run(ctx)
}

// indexTick is the time between two checks whether an import is indexed.
const indexTick = 500 * time.Millisecond

// Wait waits until all imported pages are searchable. First it waits until all batches are packed
// that are in the spool when Wait is called. They may include batches of an earlier import that was
// killed. Then it waits until all packages that exist by then are indexed, and the documents of all
// gone pages are marked as dead. Each time it checks this, it calls progress with the amount of
// work done and the total.
func (i *Importer) Wait(ctx context.Context, progress func(stage string, done, total int64)) error {
	spooled, err := i.spooled(ctx)
	if err != nil {
		return err
	}
	ticker := time.NewTicker(indexTick)
	defer ticker.Stop()
	w := indexing{bucket: i.bucket, spooled: spooled}
	for {
		done, total, err := w.look(ctx)
		if err == nil && done == total {
			return nil
		}
		if err == nil {
			progress("index", done, total)
			err = i.flush(ctx)
		}
		if err != nil && (partition.IsFault(err) || i.system == nil) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-i.failed():
			return i.system.Err()
		case <-ticker.C:
		}
	}
}

// spooled returns the batches in the spool of every partition: those that were fetched, but not
// packed yet.
func (i *Importer) spooled(ctx context.Context) (map[layout.Partition][]layout.Version, error) {
	inForce, err := i.settings.Get(ctx)
	if err != nil {
		return nil, err
	}
	batches := make(map[layout.Partition][]layout.Version)
	for _, p := range inForce.Partitions() {
		batches[p] = nil
		objects, err := blob.List(ctx, i.bucket, layout.SpoolPrefix(p))
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			if _, v, err := layout.ParseSpoolKey(object.Key); err == nil {
				batches[p] = append(batches[p], v)
			}
		}
	}
	return batches, nil
}

// flush tells the function pack to pack all waiting batches now, however few they are. If another
// program runs the system, flush does nothing: that program packs them, after a while.
func (i *Importer) flush(ctx context.Context) error {
	if i.system == nil {
		return nil
	}
	return i.system.flush(ctx)
}

func (i *Importer) failed() <-chan struct{} {
	if i.system == nil {
		return nil
	}
	return i.system.Failed()
}

// indexing measures for Importer.Wait how much of the packing and indexing is done.
type indexing struct {
	bucket   blob.Reader
	spooled  map[layout.Partition][]layout.Version // fetched batches that were not packed yet when Wait was called
	packages map[string]bool                       // keys of the packages to index; nil until all batches are packed
}

// look reads the manifests. It returns how much of the work is done for which Importer.Wait waits:
//
//	done     number of packed batches, plus number of indexed packages
//	total    number of all batches, plus number of all packages, plus number of gone pages whose
//	         documents are not marked as dead yet
//
// When the documents of a gone page are marked as dead, total becomes smaller. So the work is finished
// when done is equal to total.
func (w *indexing) look(ctx context.Context) (done, total int64, err error) {
	packed := true
	all, indexed := make(map[string]bool), make(map[string]bool)
	for p, batches := range w.spooled {
		m, err := partition.Read(ctx, w.bucket, p)
		if err != nil {
			return 0, 0, err
		}
		for _, v := range batches {
			if total++; m.HasConsumed(v) || m.IsClosed(v) {
				done++
			} else {
				packed = false
			}
		}
		for _, listed := range m.Packages {
			all[listed.Key], indexed[listed.Key] = true, listed.Indexed
		}
		for _, gone := range m.Gone {
			if !gone.Masked {
				total++
			}
		}
	}
	if w.packages == nil && packed {
		w.packages = all
	}
	for key := range all {
		if w.packages != nil && !w.packages[key] {
			continue // stored later, by another program
		}
		if total++; indexed[key] {
			done++
		}
	}
	return done, total, nil
}
