package repair

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// mendManifests puts a generation back of which the hint is a copy, and
// replaces a hint that is none. It comes before all else, which is committed
// on top of them. Another generation that is lost stays so: only its hash is
// known, from the one that followed.
func (r *Repairer) mendManifests(ctx context.Context, p layout.Partition, problems []verify.Problem) (mended []string, err error) {
	for _, problem := range problems {
		var done bool
		switch {
		case problem.Key == layout.HintKey(p):
			done, err = r.replaceHint(ctx, p)
		case strings.HasPrefix(problem.Key, layout.Manifests):
			done, err = r.putBack(ctx, p, problem.Key)
		}
		if err != nil {
			return mended, err
		}
		if done {
			mended = append(mended, fmt.Sprintf("%s was damaged or missing, and is mended", problem.Key))
		}
	}
	return mended, nil
}

// putBack makes a generation anew from the hint.
func (r *Repairer) putBack(ctx context.Context, p layout.Partition, key string) (bool, error) {
	_, number, err := layout.ParseManifestKey(key)
	if err != nil { // it is foreign
		return false, nil
	}
	copied, found, err := r.get(ctx, layout.HintKey(p))
	if err != nil || !found || !isGeneration(copied, p, number) {
		return false, err
	}
	if next, err := manifest.At(ctx, r.Bucket, p, number+1); err == nil && next.Parent != layout.ContentHash(copied) {
		return false, nil
	}
	damaged, found, err := r.get(ctx, key)
	if err != nil || found && bytes.Equal(damaged, copied) {
		return false, err
	}
	if found {
		if err := r.remove(ctx, key, damaged); err != nil {
			return false, err
		}
	}
	if err := blob.CreateOnce(ctx, r.Bucket, key, copied); err != nil {
		return false, fmt.Errorf("cannot put back %s: %w", key, err)
	}
	return true, nil
}

// replaceHint makes the hint a copy of the newest generation that is stored.
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
	if err != nil { // there is none
		return false, nil
	}
	content, found, err := r.get(ctx, newest)
	if err != nil || !found || !isGeneration(content, p, number) {
		return false, err
	}
	damaged, found, err := r.get(ctx, layout.HintKey(p))
	if err != nil {
		return false, err
	}
	if found {
		if err := r.keep(ctx, layout.HintKey(p), damaged); err != nil {
			return false, err
		}
	}
	if err := r.Bucket.Replace(ctx, layout.HintKey(p), content); err != nil {
		return false, fmt.Errorf("cannot replace the hint of partition %s: %w", p, err)
	}
	return true, nil
}

func isGeneration(content []byte, p layout.Partition, number uint64) bool {
	m, err := manifest.Decode(p, content)
	return err == nil && m.Generation == number
}
