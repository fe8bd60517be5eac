package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/spool"
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
		content.Ledger.Links = v.settings.CleanLinks(content.Ledger.Links, content.Ledger.Outcomes) // as pack will
		p.spooled = append(p.spooled, content.Ledger)
		v.report.Waiting.Spool++
	}
	return nil
}
