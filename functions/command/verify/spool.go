package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

func (v *run) listSpool(ctx context.Context, p layout.Partition) ([]string, error) {
	var keys []string
	for object, err := range v.Bucket.List(ctx, layout.SpoolPrefix(p), "") {
		if err != nil {
			return nil, fmt.Errorf("cannot list spool of partition %s: %w", p, err)
		}
		keys = append(keys, object.Key)
	}
	return keys, nil
}

// readSpool reads what waits to be packed. What was packed already, or comes
// too late, does not count; neither does what nobody here has written.
func (v *run) readSpool(ctx context.Context, p *audit, keys []string) error {
	for _, key := range keys {
		_, batch, err := layout.ParseSpoolKey(key)
		if err != nil || p.HasConsumed(batch) || p.IsClosed(batch) {
			continue
		}
		content, err := spool.Read(ctx, v.Bucket, key)
		switch {
		case errors.Is(err, blob.ErrAbsent): // consumed and deleted since it was listed
			continue
		case errors.Is(err, spool.ErrDamaged):
			v.problem(Damaged, p.Partition, key, "is damaged: %v", err)
			continue
		case err != nil:
			return err
		}
		if url := v.forgotten(p).ledger(&content.Ledger); url != "" {
			v.problems.add(Problem{Kind: Behind, Partition: p.Partition, Key: key, URL: url, Detail: "is still there, although it is forgotten"})
		}
		pages, err := membership.ParsePages(content.Ledger.Outcomes)
		if err == nil {
			content.Ledger.Links, err = v.settings.Assign(content.Ledger.Links, pages, nil) // as pack will
		}
		if err != nil {
			v.problem(Damaged, p.Partition, key, "is damaged: %v", err)
			continue
		}
		p.spooled = append(p.spooled, content.Ledger)
		v.report.Waiting.Spool++
	}
	return nil
}
