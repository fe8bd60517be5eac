package repair

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/command/repair/remains"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/epoch"
)

// refound commits a generation of a partition that is made anew, where objects
// prove that the last ones are lost. It claims an epoch, by which frontiers find
// themselves behind: nobody knows what those generations had learnt. Should it
// be stopped, the next run goes on: until the new generation is there, the proof
// is, and afterwards nothing is left to do.
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
		damaged, found, err := r.get(ctx, e.Key)
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
