package why

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// read gathers what spool and books of all partitions say of the URL.
func (t *teller) read(ctx context.Context) error {
	for _, p := range t.settings.Partitions() {
		// Spool before manifest, as in package account.
		keys, err := spoolKeys(ctx, t.bucket, p)
		if err != nil {
			return err
		}
		m, err := manifest.Read(ctx, t.bucket, p)
		if err != nil {
			return err
		}
		t.manifests = append(t.manifests, m)
		if err := t.readBooks(ctx, &m); err != nil {
			return err
		}
		for _, key := range keys {
			if err := t.readSpool(ctx, &m, key); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(t.story.Asked, func(a, b Asked) int { return a.outcome.Compare(b.outcome) })
	return nil
}

func spoolKeys(ctx context.Context, bucket blob.Reader, p layout.Partition) ([]string, error) {
	var keys []string
	for object, err := range bucket.List(ctx, layout.SpoolPrefix(p), "") {
		if err != nil {
			return nil, fmt.Errorf("cannot list spool of partition %s: %w", p, err)
		}
		keys = append(keys, object.Key)
	}
	return keys, nil
}

// readBooks reads of each book the one place of the URL.
func (t *teller) readBooks(ctx context.Context, m *manifest.Manifest) error {
	books, err := partition.OpenBooks(ctx, t.bucket, m.Books)
	if err != nil {
		return err
	}
	read := make([]pages, len(m.Books))
	err = books.Each(ctx, func(ctx context.Context, i int, r *book.Reader) (err error) {
		read[i], err = pagesOf(ctx, r, t.url)
		return err
	})
	if err != nil {
		return err
	}
	for _, damaged := range books.Damaged() {
		t.story.Problems = append(t.story.Problems, damaged.Error())
	}
	for _, found := range read {
		t.add(found, true)
	}
	return nil
}

// pages is what one book or spool object says of the URL.
type pages struct {
	outcomes []book.Outcome
	links    []book.Link
	sources  map[layout.Identity]string // URLs of the links' sources, as far as it tells
}

// pagesOf returns what a book says of the URL; nothing of one that is damaged.
func pagesOf(ctx context.Context, reader *book.Reader, url address.Address) (found pages, err error) {
	if found.outcomes, err = reader.Find(ctx, url.Place, url.ID); err != nil {
		return pages{}, err
	}
	wanted := make(map[layout.Identity]bool)
	for l, err := range reader.Links(ctx, layout.Range{From: url.Place, To: url.Place + 1}) {
		if err != nil {
			return pages{}, err
		}
		if l.Target == url.URL {
			found.links = append(found.links, l)
			wanted[l.Source] = true
		}
	}
	if len(wanted) == 0 {
		return found, nil
	}
	found.sources = make(map[layout.Identity]string)
	for o, err := range reader.Outcomes(ctx, layout.Range{}) {
		if err != nil {
			return pages{}, err
		}
		if id := o.Identity(); wanted[id] {
			found.sources[id] = o.URL
		}
	}
	return found, nil
}

func (t *teller) readSpool(ctx context.Context, m *manifest.Manifest, key string) error {
	_, batch, err := layout.ParseSpoolKey(key)
	if err != nil || m.HasConsumed(batch) || m.IsClosed(batch) {
		return nil
	}
	ledger, err := spool.ReadLedger(ctx, t.bucket, key)
	switch {
	case errors.Is(err, blob.ErrAbsent): // packed and deleted since
		return nil
	case errors.Is(err, spool.ErrDamaged):
		t.story.Problems = append(t.story.Problems, err.Error())
		return nil
	case err != nil:
		return err
	}
	found := pages{sources: make(map[layout.Identity]string)}
	for _, o := range ledger.Outcomes {
		found.sources[o.Identity()] = o.URL
		if o.URL == t.url.URL {
			found.outcomes = append(found.outcomes, o)
		}
	}
	pages, err := membership.ParsePages(ledger.Outcomes)
	var links []book.Link
	if err == nil {
		links, err = t.settings.Assign(ledger.Links, pages, nil) // as pack will
	}
	if err != nil {
		t.problem(fmt.Errorf("spool object %s: %w", key, err))
	}
	for _, l := range links {
		if l.Target == t.url.URL {
			found.links = append(found.links, l)
		}
	}
	t.add(found, false)
	return nil
}

func (t *teller) add(found pages, packed bool) {
	for _, o := range found.outcomes {
		t.story.Asked = append(t.story.Asked, Asked{
			Batch: o.Version, At: o.Time, State: o.State, Reason: o.Reason, Detail: o.Detail,
			Status: o.Status, Attempt: o.Attempts, Packed: packed, outcome: o,
		})
	}
	t.links = append(t.links, found.links...)
	for id, url := range found.sources {
		t.sources[id] = url
	}
}
