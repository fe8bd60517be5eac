package frontier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Waiting describes a spool object, the result of one fetched batch, that is still to be packed.
type Waiting struct {
	Batch layout.Version `json:"-"`
	Bytes int64          `json:"bytes"` // size of the batch's pages before compression, in bytes
	Pages int            `json:"pages"`
	Since time.Time      `json:"since"` // time at which the object was first added

	Settled bool `json:"-"` // the batch's outcomes have been applied to the frontiers of all crawl partitions
}

// Inbox is a list of the spool objects (results of fetched batches) of one storage partition that are not
// packed yet. It is in Redis, so that pack need not list the bucket. The list is only a hint: some
// objects in it may be packed already, and others may be missing in it. The function sweep finds the
// missing ones later. An Inbox is safe for concurrent use.
//
// In Redis there are three keys:
//
//	p:{<partition>}:inbox    hash    version of each batch → its Waiting in JSON
//	p:{<partition>}:settled  set     versions of the batches whose outcomes were applied to the frontiers
//	                                 (see Waiting.Settled)
//	p:{<partition>}:packed   number  pages in the packages of the partition (see Packed)
type Inbox struct {
	rdb       redis.UniversalClient
	partition layout.Partition
}

// NewInbox returns the inbox of a storage partition.
func NewInbox(rdb redis.UniversalClient, p layout.Partition) *Inbox {
	return &Inbox{rdb: rdb, partition: p}
}

func (b *Inbox) key() string     { return "p:{" + b.partition.String() + "}:inbox" }
func (b *Inbox) settled() string { return "p:{" + b.partition.String() + "}:settled" }
func (b *Inbox) packed() string  { return "p:{" + b.partition.String() + "}:packed" }

// Add adds a spool object to the list. If the object is listed already, Add changes nothing,
// except that it marks the object as settled if w.Settled is true. Another process may see the
// object before it is marked; then it settles the batch again, which changes nothing.
func (b *Inbox) Add(ctx context.Context, w Waiting) error {
	value, err := json.Marshal(w)
	if err == nil {
		_, err = b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			p.HSetNX(ctx, b.key(), w.Batch.String(), value)
			if w.Settled {
				p.SAdd(ctx, b.settled(), w.Batch.String())
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("cannot add batch %s to inbox %s: %w", w.Batch, b.partition, err)
	}
	return nil
}

// List returns the spool objects in the list, sorted by the versions of their batches.
func (b *Inbox) List(ctx context.Context) ([]Waiting, error) {
	var fields *redis.MapStringStringCmd
	var settled *redis.StringStructMapCmd
	_, err := b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		settled, fields = p.SMembersMap(ctx, b.settled()), p.HGetAll(ctx, b.key())
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot list inbox %s: %w", b.partition, err)
	}
	list := make([]Waiting, 0, len(fields.Val()))
	for field, value := range fields.Val() {
		w, err := b.parse(field, value)
		if err != nil {
			return nil, err
		}
		_, w.Settled = settled.Val()[field]
		list = append(list, w)
	}
	slices.SortFunc(list, compareWaiting)
	return list, nil
}

// Settled returns settled spool objects of the list, sorted by the versions of their batches: all of
// them, or some of them if there are more than the parameter enough. Then it returns at least that
// many, and reads hardly more from Redis.
func (b *Inbox) Settled(ctx context.Context, enough int) ([]Waiting, error) {
	batches := make(map[string]bool)
	for cursor := uint64(0); len(batches) < enough; {
		page, next, err := b.rdb.SScan(ctx, b.settled(), cursor, "", int64(enough)).Result()
		if err != nil {
			return nil, fmt.Errorf("cannot list what is settled in inbox %s: %w", b.partition, err)
		}
		for _, batch := range page { // Redis may yield a member twice
			batches[batch] = true
		}
		if cursor = next; cursor == 0 {
			break
		}
	}
	if len(batches) == 0 {
		return nil, nil
	}
	fields := slices.Collect(maps.Keys(batches))
	values, err := b.rdb.HMGet(ctx, b.key(), fields...).Result()
	if err != nil {
		return nil, fmt.Errorf("cannot list inbox %s: %w", b.partition, err)
	}
	list := make([]Waiting, 0, len(fields))
	for i, field := range fields {
		value, found := values[i].(string)
		if !found { // removed since the batch was read
			continue
		}
		w, err := b.parse(field, value)
		if err != nil {
			return nil, err
		}
		w.Settled = true
		list = append(list, w)
	}
	slices.SortFunc(list, compareWaiting)
	return list, nil
}

// parse returns the Waiting in an entry of the hash inbox.
func (b *Inbox) parse(field, value string) (w Waiting, err error) {
	if err = json.Unmarshal([]byte(value), &w); err == nil {
		w.Batch, err = layout.ParseVersion(field)
	}
	if err != nil {
		return w, fmt.Errorf("cannot read batch %q of inbox %s: %w", field, b.partition, err)
	}
	return w, nil
}

func compareWaiting(v, w Waiting) int { return v.Batch.Compare(w.Batch) }

// Len returns the number of spool objects in the list.
func (b *Inbox) Len(ctx context.Context) (int, error) {
	n, err := b.rdb.HLen(ctx, b.key()).Result()
	if err != nil {
		return 0, fmt.Errorf("cannot count inbox %s: %w", b.partition, err)
	}
	return int(n), nil
}

// Unsettle marks the spool object of a batch as not settled: its outcomes are still to be applied to
// the frontiers.
func (b *Inbox) Unsettle(ctx context.Context, batch layout.Version) error {
	if err := b.rdb.SRem(ctx, b.settled(), batch.String()).Err(); err != nil {
		return fmt.Errorf("cannot unsettle batch %s in inbox %s: %w", batch, b.partition, err)
	}
	return nil
}

// Remove removes the spool objects of these batches from the list, after they were packed. It
// ignores batches that are not listed.
func (b *Inbox) Remove(ctx context.Context, batches []layout.Version) error {
	for part := range slices.Chunk(batches, chunk) {
		args := make([]any, len(part))
		for i, v := range part {
			args[i] = v.String()
		}
		if err := removeScript.Run(ctx, b.rdb, []string{b.key(), b.settled()}, args...).Err(); err != nil {
			return fmt.Errorf("cannot remove %d batches from inbox %s: %w", len(part), b.partition, err)
		}
	}
	return nil
}

// removeScript removes batches from an inbox.
//
//	KEYS   inbox, settled
//	ARGV   versions of the batches
var removeScript = redis.NewScript(`
redis.call('HDEL', KEYS[1], unpack(ARGV))
return redis.call('SREM', KEYS[2], unpack(ARGV))
`)

// Packed returns the number of pages in the packages of the partition, as SetPacked entered it last.
// It is 0 if Redis has lost the number.
func (b *Inbox) Packed(ctx context.Context) (pages int, err error) {
	pages, err = b.rdb.Get(ctx, b.packed()).Int()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot tell how many pages of partition %s are packed: %w", b.partition, err)
	}
	return pages, nil
}

// SetPacked enters the number of pages in the packages of the partition.
func (b *Inbox) SetPacked(ctx context.Context, pages int) error {
	if err := b.rdb.Set(ctx, b.packed(), pages, 0).Err(); err != nil {
		return fmt.Errorf("cannot note how many pages of partition %s are packed: %w", b.partition, err)
	}
	return nil
}
