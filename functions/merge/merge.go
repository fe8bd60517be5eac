// Package merge keeps the segments of a partition few and free of dead documents: it merges
// segments of similar size into one, and at the end of a crawl as many as pay (see segments.Limits.Mergeable).
// It also writes a segment anew without its dead documents when these are more than a fifth, or when they
// must be erased.
//
// A merge commits in one generation of the partition's manifest or not at all. The merged segments
// are condemned (marked for deletion), and running queries can still read them. A lease keeps two
// processes from the same merge; if both merge nevertheless, the slower one finds at its commit
// that its inputs are no longer listed. A killed merge leaves one unlisted object.
//
// A segment that is damaged, or too large to be merged, is left out and tried again after an hour; meanwhile the
// others are merged without it.
//
// A merge of 2 GiB takes two to three minutes, up to 2500 requests, 4 GiB of disk, and 100 bytes of memory for each
// document besides the memory of the words and suggestions: see segment.Merge.
package merge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring"
	"github.com/aws/aws-lambda-go/events"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
)

// leaseTime is the duration of the lease on merging in a partition. If merge is killed,
// another process can merge there after that time.
const leaseTime = 30 * time.Second

// Function is the merge function: its fields are the clients and limits that it works with.
type Function struct {
	Bucket blob.Bucket
	Redis  redis.UniversalClient
	Sender task.Sender
	Now    func() time.Time
	Worker string          // name of the process in its leases
	Tiers  segments.Limits // limits that decide which segments are merged
	Dir    string          // directory for the merged segment while it is written; "" for the system's directory of temporary files
	Log    *slog.Logger

	aside aside
}

// Handle merges segments: each message, a task.Tiers, names a partition (see Run).
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.EachTask(ctx, f.Log, event, func(ctx context.Context, t task.Tiers) error {
		if err := f.Run(ctx, t); err != nil {
			return fmt.Errorf("cannot merge segments of partition %s: %w", t.Storage, err)
		}
		return nil
	}), nil
}

// Run does the most urgent merge of a partition, and sends a task for the next one
// when there is more to do. It does nothing while another process merges there.
func (f *Function) Run(ctx context.Context, t task.Tiers) error {
	var more bool
	_, err := lease.New(f.Redis, f.Worker).Do(ctx, fmt.Sprintf("merge %s", t.Storage), f.Now, leaseTime, func() (err error) {
		more, err = f.merge(ctx, t)
		return err
	})
	if err != nil || !more {
		return err
	}
	return task.Send(ctx, f.Sender, task.Merge, t, 0)
}

// merge does the most urgent merge of readable segments. The result more is true if there is
// another merge to do.
func (f *Function) merge(ctx context.Context, t task.Tiers) (more bool, err error) {
	own, err := partition.Open(ctx, f.Bucket, t.Storage, f.Now)
	if err != nil {
		return false, err
	}
	for {
		listed := f.mergeable(own.Manifest(), t.Ended)
		if listed == nil {
			return false, nil
		}
		err := f.mergeListed(ctx, own, listed)
		if errors.Is(err, partition.ErrStale) { // the partition has changed meanwhile
			f.Log.InfoContext(ctx, "merged in vain", "partition", own.ID(), "generation", own.Manifest().Generation, "error", err)
			return true, nil
		}
		if !f.setAside(ctx, listed, err) {
			return err == nil && f.mergeable(own.Manifest(), t.Ended) != nil, err
		}
	}
}

// mergeListed merges listed segments into one new segment, and commits it. It returns partition.ErrStale
// if the merge must be repeated, because the partition has changed meanwhile (see replace).
func (f *Function) mergeListed(ctx context.Context, p *partition.Partition, listed []manifest.Segment) error {
	began := f.Now()
	inputs, err := f.open(ctx, listed)
	if err != nil {
		return err
	}
	content, free, err := segment.Merge(ctx, forSegment(inputs), mostBytes(inputs), f.Dir)
	if err != nil {
		return err
	}
	defer free()
	anchors, freeAnchors, err := f.mergeAnchors(ctx, inputs)
	if err != nil {
		return err
	}
	defer freeAnchors()
	merged, err := p.PutSegment(ctx, content)
	if err != nil {
		return err
	}
	err = p.Commit(ctx, func(e *partition.Edit) error { return f.replace(ctx, e, inputs, merged, anchors) })
	if err != nil {
		return err
	}
	f.Log.InfoContext(ctx, "merged", "partition", p.ID(), "generation", p.Manifest().Generation, "segments", len(inputs), "into", merged.Key,
		"bytes", merged.Bytes, "documents", merged.Documents, "took", f.Now().Sub(began))
	return nil
}

// replace changes the manifest for the commit. It lists the merged segment in place of its inputs,
// with the ranks of the inputs, and with the given anchors (texts of links) if they are not nil.
// Documents that died in the inputs during the merge become dead in the merged segment, too.
// replace returns partition.ErrStale if the merge must be repeated, because
//
//   - an input is no longer listed;
//   - a document that was dead, and was left out by the merge, is alive now; or
//   - the merged segment was stored too long ago to be listed safely, or is condemned.
func (f *Function) replace(ctx context.Context, e *partition.Edit, inputs []*input, merged partition.Segment, anchors []byte) error {
	late := roaring.New()
	offset := uint32(0)
	var keys []string
	var parts []manifest.Part
	ranks := ranking{whole: true, anchors: anchors}
	for _, in := range inputs {
		listed := e.Manifest().Segments
		i := slices.IndexFunc(listed, func(s manifest.Segment) bool { return s.Key == in.Key })
		if i < 0 {
			return partition.ErrStale
		}
		dead, err := partition.Dead(ctx, f.Bucket, &listed[i])
		if err != nil {
			return err
		}
		if roaring.AndNot(in.dead, dead).GetCardinality() > 0 {
			return partition.ErrStale
		}
		for _, doc := range in.late(dead) {
			late.Add(offset + doc)
		}
		if err := ranks.add(ctx, f.Bucket, in, &listed[i]); err != nil {
			return err
		}
		offset += uint32(in.Documents) - uint32(in.dead.GetCardinality())
		keys, parts = append(keys, in.Key), append(parts, in.parts()...)
	}
	if err := e.ReplaceSegments(keys, merged, parts...); err != nil {
		return err
	}
	if err := e.Mask(ctx, map[string]*roaring.Bitmap{merged.Key: late}); err != nil {
		return err
	}
	return ranks.set(ctx, e, merged.Key)
}
