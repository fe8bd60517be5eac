package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/command/repair/remains"
	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/epoch"
)

// mendManifests mends the manifests of a partition, which are numbered generations. It restores the
// newest generation from the hint, which is its copy, and replaces a hint that is not a copy of a
// generation. Older generations cannot be restored: there is no copy of them. If the newest generation
// follows from one of these, mendManifests commits the present state as a whole. It runs before the
// repairs of other objects of the partition, because these commit new generations. It returns a
// sentence for each object that it has mended.
func (r *Repairer) mendManifests(ctx context.Context, p layout.Partition, problems []verify.Problem) (mended []string, err error) {
	var damaged bool
	for _, problem := range problems {
		var done bool
		switch {
		case problem.Key == layout.HintKey(p):
			done, err = r.replaceHint(ctx, p)
		case strings.HasPrefix(problem.Key, layout.Manifests):
			damaged = true
			done, err = r.putBack(ctx, p, problem.Key)
		}
		if err != nil {
			return mended, err
		}
		if done {
			mended = append(mended, fmt.Sprintf("%s was damaged or missing, and is mended", problem.Key))
		}
	}
	if !damaged {
		return mended, nil
	}
	said, err := r.restate(ctx, p)
	if said != "" {
		mended = append(mended, said)
	}
	return mended, err
}

// restate commits the present state of a partition as a whole, if the newest generation is a delta (a
// list of changes) that follows from a lost or damaged one: then only the hint has this state. It
// returns a sentence for the report; "" if there was nothing to do.
func (r *Repairer) restate(ctx context.Context, p layout.Partition) (string, error) {
	own, err := partition.Open(ctx, r.Bucket, p, r.Now)
	if partition.IsFault(err) { // the present state is lost: see refound
		return "", nil
	}
	if err != nil || own.Manifest().Generation == 0 {
		return "", err
	}
	newest := own.Manifest().Generation
	_, err = manifest.At(ctx, r.Bucket, p, newest)
	if !errors.Is(err, manifest.ErrDamaged) && !errors.Is(err, blob.ErrAbsent) {
		return "", err
	}
	err = own.Commit(ctx, func(e *partition.Edit) error {
		e.Restate()
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("generation %d of partition %s followed from one that is lost, and is committed again as a whole", newest, p), nil
}

// putBack stores a missing or damaged generation again under its key, as the hint has it, which is the
// replaceable copy of a recent generation. If the hint is not a copy of this generation, putBack changes
// nothing and returns false. If the generation was a delta (a list of changes), it becomes a whole
// one. This is possible only if no other generation follows from it.
func (r *Repairer) putBack(ctx context.Context, p layout.Partition, key string) (bool, error) {
	_, number, err := layout.ParseManifestKey(key)
	if err != nil { // the key is not of a generation: the object is foreign
		return false, nil
	}
	copied, found, err := blob.Find(ctx, r.Bucket, layout.HintKey(p))
	if err != nil || !found {
		return false, err
	}
	hint, err := manifest.Decode(p, copied)
	if err != nil || hint.Generation != number {
		return false, nil
	}
	whole := copied
	if layout.ContentHash(copied) != hint.Hash() {
		if whole, err = hint.EncodeWhole(); err != nil {
			return false, err
		}
	}
	if next, err := manifest.GetEntry(ctx, r.Bucket, p, number+1); err == nil && next.Parent != layout.ContentHash(whole) {
		return false, nil
	}
	damaged, found, err := blob.Find(ctx, r.Bucket, key)
	if err != nil || found && bytes.Equal(damaged, whole) {
		return false, err
	}
	if err := r.Bucket.Replace(ctx, layout.HintKey(p), whole); err != nil {
		return false, fmt.Errorf("cannot replace the hint of partition %s: %w", p, err)
	}
	if found {
		if err := r.remove(ctx, key, damaged); err != nil {
			return false, err
		}
	}
	if err := blob.CreateOnce(ctx, r.Bucket, key, whole); err != nil {
		return false, fmt.Errorf("cannot put back %s: %w", key, err)
	}
	return true, nil
}

// replaceHint makes the hint of a partition a copy of its newest stored generation. It returns
// false, and changes nothing, if that generation cannot be read.
func (r *Repairer) replaceHint(ctx context.Context, p layout.Partition) (bool, error) {
	var newest string
	for object, err := range r.Bucket.List(ctx, layout.ManifestPrefix(p), "") {
		if err != nil {
			return false, fmt.Errorf("cannot list manifests of partition %s: %w", p, err)
		}
		if _, _, err := layout.ParseManifestKey(object.Key); err == nil {
			newest = object.Key
		}
	}
	_, number, err := layout.ParseManifestKey(newest)
	if err != nil { // no generation is stored
		return false, nil
	}
	m, err := manifest.At(ctx, r.Bucket, p, number)
	if errors.Is(err, manifest.ErrDamaged) || errors.Is(err, blob.ErrAbsent) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	damaged, found, err := blob.Find(ctx, r.Bucket, layout.HintKey(p))
	if err != nil {
		return false, err
	}
	if found {
		if err := r.keep(ctx, layout.HintKey(p), damaged); err != nil {
			return false, err
		}
	}
	return true, manifest.PutHint(ctx, r.Bucket, m)
}

// refound stores a new generation (version of the manifest) of a partition if objects in the bucket
// prove that its last generations are lost (see partition.Lost). The field Learnt of the new
// generation has a value that it never had before, the key of a new epoch. The frontiers (the crawl's
// queues in Redis) have recorded an older value of the field. As the two differ, they are rebuilt.
//
// The parameter elsewhere lists the partitions to which pages of p may have moved. The result is a
// sentence for the report; it is empty if no generation is lost.
func (r *Repairer) refound(ctx context.Context, p layout.Partition, elsewhere []layout.Partition) (mended []string, err error) {
	newest, err := manifest.Read(ctx, r.Bucket, p)
	if errors.Is(err, manifest.ErrDamaged) {
		newest, err = manifest.Manifest{Partition: p}, nil
	}
	if err != nil {
		return nil, err
	}
	evidence, err := partition.Lost(ctx, r.Bucket, newest)
	if err != nil || len(evidence) == 0 {
		return nil, err
	}
	next, said, err := remains.Generation(ctx, r.Bucket, newest, elsewhere, evidence, r.Now())
	if err != nil {
		return nil, err
	}
	number, err := epoch.Claim(ctx, r.Bucket, "repair", newest)
	if err != nil {
		return nil, err
	}
	next.Learnt = layout.EpochKey(number)
	for _, e := range evidence {
		if !strings.HasPrefix(e.Key, layout.Manifests) {
			continue
		}
		damaged, found, err := blob.Find(ctx, r.Bucket, e.Key)
		if err != nil {
			return nil, err
		}
		if found {
			if err := r.keep(ctx, e.Key, damaged); err != nil {
				return nil, err
			}
		}
	}
	if err := manifest.Refound(ctx, r.Bucket, next); err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("%s (%s %s)", said, evidence[0].Key, evidence[0].Detail)}, nil
}

// keep copies the damaged content of an object into quarantine.
func (r *Repairer) keep(ctx context.Context, key string, content []byte) error {
	err := blob.CreateOnce(ctx, r.Bucket, layout.QuarantineKey(key, content), content)
	if err != nil {
		return fmt.Errorf("cannot keep damaged object %s: %w", key, err)
	}
	return nil
}

// remove copies the damaged content of an object into quarantine and deletes the object. Another
// object will be built in its place, and may get the same key. So the damaged object has to be
// deleted first. Until the new object exists, readers find none.
func (r *Repairer) remove(ctx context.Context, key string, content []byte) error {
	if err := r.keep(ctx, key, content); err != nil {
		return err
	}
	if err := r.Bucket.Delete(ctx, key); err != nil {
		return fmt.Errorf("cannot delete damaged object %s: %w", key, err)
	}
	return nil
}
