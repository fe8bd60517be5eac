package frontier

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Waiting is a spool object that waits to be packed.
type Waiting struct {
	Batch layout.Version `json:"-"`
	Bytes int64          `json:"bytes"`
	Pages int            `json:"pages"`
	Since time.Time      `json:"since"`
}

// Inbox knows the spool objects of one storage partition that wait to be
// packed, so that pack need not list the bucket. It is a hint: what it misses
// the sweep finds, and what it names may be packed already. It is safe for
// concurrent use.
//
// It is one hash, p:{<partition>}:inbox, from version to the rest in JSON.
type Inbox struct {
	rdb       redis.UniversalClient
	partition layout.Partition
}

// NewInbox returns the inbox of a storage partition.
func NewInbox(rdb redis.UniversalClient, p layout.Partition) *Inbox {
	return &Inbox{rdb: rdb, partition: p}
}

func (b *Inbox) key() string { return "p:{" + b.partition.String() + "}:inbox" }

// Add enters a spool object; entering it again changes nothing.
func (b *Inbox) Add(ctx context.Context, w Waiting) error {
	value, err := json.Marshal(w)
	if err == nil {
		err = b.rdb.HSetNX(ctx, b.key(), w.Batch.String(), value).Err()
	}
	if err != nil {
		return fmt.Errorf("cannot add batch %s to inbox %s: %w", w.Batch, b.partition, err)
	}
	return nil
}

// List returns all that waits, sorted by version.
func (b *Inbox) List(ctx context.Context) ([]Waiting, error) {
	fields, err := b.rdb.HGetAll(ctx, b.key()).Result()
	if err != nil {
		return nil, fmt.Errorf("cannot list inbox %s: %w", b.partition, err)
	}
	list := make([]Waiting, 0, len(fields))
	for field, value := range fields {
		var w Waiting
		err := json.Unmarshal([]byte(value), &w)
		if err == nil {
			w.Batch, err = layout.ParseVersion(field)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read batch %q of inbox %s: %w", field, b.partition, err)
		}
		list = append(list, w)
	}
	slices.SortFunc(list, func(x, y Waiting) int { return x.Batch.Compare(y.Batch) })
	return list, nil
}

// Remove takes out what has been packed; what is not there is no error.
func (b *Inbox) Remove(ctx context.Context, batches []layout.Version) error {
	for part := range slices.Chunk(batches, chunk) {
		fields := make([]string, len(part))
		for i, v := range part {
			fields[i] = v.String()
		}
		if err := b.rdb.HDel(ctx, b.key(), fields...).Err(); err != nil {
			return fmt.Errorf("cannot remove %d batches from inbox %s: %w", len(part), b.partition, err)
		}
	}
	return nil
}
