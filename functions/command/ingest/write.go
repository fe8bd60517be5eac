package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/warc"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/epoch"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

const (
	// greatest size in bytes of a body that is imported; of a larger body only maxPage + 1 bytes
	// are read, which suffices for fetch.Function to find it too big
	maxPage  = 16 << 20
	maxBytes = 16 << 20 // a batch is full once its bodies, as transferred, have this number of bytes
	// greatest number of bytes that the bodies of all pending batches may have together; when it is
	// reached, the largest of these batches is stored
	maxAll = 64 << 20
)

// writer imports captures, which are the HTTP responses in WARC and WACZ files. It collects them in
// batches, one for each storage partition. When a batch is full, writer stores it as a spool object,
// and begins another batch of the same partition. A batch has at most spool.MaxPages URLs. It differs
// from a batch of a crawl in two ways: it is not leased, and its URLs may be of several hosts.
type writer struct {
	*Task
	settings *settings.Settings
	known    standings
	read     []manifest.Manifest // of all partitions: what epoch.Claim needs of them
	report   *Report
	// state of the first reading of the files; its method isPosted tells which records are answers
	// to POST and other requests than GET, and so must not be imported
	posted  *survey
	last    layout.Version // version of the batch that was stored last; zero before the first
	pending map[layout.Partition]*pending
	bytes   int64 // bytes of the bodies in all pending batches
}

// pending is a batch that is being filled. Its slices have one element for each target.
type pending struct {
	targets  []batch.Target
	captures []warc.Capture
	files    []int // file of each capture, as an index in Task.sources
	bytes    int64 // bytes of the captures' bodies
}

// inOrder compares captures by their positions: by file, then by offset.
func inOrder(a, b capture) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Inside, b.Inside))
}

// write imports captures. They must be in the order of their positions in the files (see inOrder).
func (w *writer) write(ctx context.Context, captures []capture) (err error) {
	from := &archives{task: w.Task}
	originals := &archives{task: w.Task}
	defer func() { err = errors.Join(err, from.close(len(w.sources)), originals.close(len(w.sources))) }()
	var done, total int64
	sizes := make([]int64, len(w.sources))
	for _, c := range captures {
		sizes[c.file] = max(sizes[c.file], c.Offset)
	}
	for _, size := range sizes {
		total += size
	}
	for i, c := range captures {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i > 0 && c.file != captures[i-1].file {
			done += sizes[captures[i-1].file]
			if err := from.close(c.file); err != nil {
				return err
			}
		}
		w.progress("import", done+c.Offset, total)
		if err := w.take(ctx, from, originals, c); err != nil {
			return err
		}
	}
	for _, p := range w.partitions() {
		for len(w.pending[p].targets) > 0 {
			if err := w.flush(ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// take reads a capture and adds it to the pending batch of its partition. If the capture's record is
// a revisit record, take also reads the answer to which it refers, which may be in another file. Both
// parameters of type archives are the same files, opened twice: take reads the captures' records
// from the first, and the answers to which revisit records refer from the second.
func (w *writer) take(ctx context.Context, from, originals *archives, c capture) error {
	record, answer, err := from.read(c.spot, maxPage)
	if err == nil && w.posted.isPosted(record) {
		w.report.Passed["an answer to another request than GET"]++
		return nil
	}
	if record != nil && c.body != c.spot {
		_, answer, err = originals.read(c.body, maxPage)
	}
	if errors.Is(err, warc.ErrShort) {
		w.report.Passed["cut short"]++
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s at %s cannot be read any more; was it changed? %w", w.sources[c.file].name, c.Place, err)
	}
	at, err := address.Parse(record.Target())
	if err != nil {
		return fmt.Errorf("%s at %s has another record now: %w", w.sources[c.file].name, c.Place, err)
	}
	storage, err := w.settings.Storage.Decide(at)
	if err != nil {
		return err
	}
	answer.Time = c.at
	return w.add(ctx, layout.Partition(storage), w.target(at), answer, c.file)
}

// target returns an imported URL as a target of a batch (one of the URLs that a batch fetches). If the
// URL was fetched before the import, the target takes over data from the outcome of the last fetch:
// its depth, its weight, its collections, and data on the answer, such as its time (see batch.Look).
func (w *writer) target(at address.Address) batch.Target {
	t := batch.Target{URL: at.URL, Depth: w.depth(w.settings, at), Collections: []string{w.Collection}}
	last := w.known.final(at.ID)
	if last == nil {
		return t
	}
	t.Depth, t.Hops, t.Weight, t.Exponent, t.Last = last.Depth, last.Hops, last.Weight, last.Exponent, batch.LookOf(*last)
	var others []string // on whose behalf its links are followed
	for _, name := range last.Collections {
		if name != w.Collection && w.settings.Collection(name).Version > 0 {
			others = append(others, name)
		}
	}
	t.Collections = append(others, w.Collection)
	t.Collections = t.Collections[max(0, len(t.Collections)-book.MaxCollections):]
	return t
}

// add adds a capture to the pending batch of a partition, with its target t. If this makes the
// batch full, add stores it as a spool object. Otherwise, if all pending batches together have
// maxAll bytes, add stores the largest one. The parameter file is the index of the capture's file
// in Task.sources.
func (w *writer) add(ctx context.Context, p layout.Partition, t batch.Target, c warc.Capture, file int) error {
	fill := w.pending[p]
	if fill == nil {
		fill = new(pending)
		w.pending[p] = fill
	}
	fill.targets, fill.captures, fill.files = append(fill.targets, t), append(fill.captures, c), append(fill.files, file)
	fill.bytes += int64(len(c.Body))
	w.bytes += int64(len(c.Body))
	if len(fill.targets) >= spool.MaxPages || fill.bytes >= maxBytes {
		return w.flush(ctx, p)
	}
	if w.bytes < maxAll {
		return nil
	}
	fullest := slices.MaxFunc(w.partitions(), func(a, b layout.Partition) int { return cmp.Compare(w.pending[a].bytes, w.pending[b].bytes) })
	return w.flush(ctx, fullest)
}

// partitions returns the partitions with a pending batch, sorted by number.
func (w *writer) partitions() []layout.Partition {
	all := make([]layout.Partition, 0, len(w.pending))
	for p := range w.pending {
		all = append(all, p)
	}
	slices.Sort(all)
	return all
}

// flush stores the pending batch of a partition as a spool object. Captures that do not fit into it
// stay pending, for the next batch.
func (w *writer) flush(ctx context.Context, p layout.Partition) error {
	fill := w.pending[p]
	first, err := address.Parse(fill.targets[0].URL)
	if err != nil {
		return err
	}
	crawl, err := w.settings.Crawl.Decide(first)
	if err != nil {
		return err
	}
	if w.last.Epoch == 0 {
		if w.last.Epoch, err = epoch.Claim(ctx, w.Bucket, "import", w.read...); err != nil {
			return err
		}
	}
	w.last.Token++
	b := batch.Batch{Version: w.last, Crawl: crawl, Storage: p, Host: first.Host, Targets: fill.targets}
	object, err := w.Fetch.Replay(ctx, b, fill.captures)
	if err != nil {
		return err
	}
	rest := new(pending)
	for i, o := range object.Ledger.Outcomes {
		if o.State == book.NotAsked {
			rest.targets, rest.captures, rest.files = append(rest.targets, fill.targets[i]), append(rest.captures, fill.captures[i]), append(rest.files, fill.files[i])
			rest.bytes += int64(len(fill.captures[i].Body))
		}
	}
	if len(rest.targets) == len(fill.targets) {
		return fmt.Errorf("batch %s takes none of its pages", b.Version)
	}
	w.bytes -= fill.bytes - rest.bytes
	w.pending[p] = rest
	w.choose(&object, fill)
	if len(object.Ledger.Outcomes) == 0 {
		return nil
	}
	content, err := spool.Encode(object)
	if err != nil {
		return err
	}
	if err := blob.CreateOnce(ctx, w.Bucket, layout.SpoolKey(p, b.Version), content); err != nil {
		return fmt.Errorf("cannot put batch %s: %w", b.Version, err)
	}
	w.report.Batches = append(w.report.Batches, Batch{p, b.Version})
	for _, o := range object.Ledger.Outcomes {
		switch o.State {
		case book.Stored:
			if o.Asset {
				w.report.Assets++
			} else {
				w.report.Stored++
			}
		case book.Unchanged:
			w.report.Unchanged++
		default:
			w.report.Skipped[o.Reason]++
		}
	}
	return nil
}

// choose removes from a spool object the outcomes that are not imported (see isImported), such as
// those of failed requests, together with their pages and links. It counts the removed outcomes by
// reason. For each remaining outcome it adds a link from the URL to itself, because a URL counts as
// discovered only if a link leads to it. The parameter from is the batch of which the spool object
// was made.
func (w *writer) choose(object *spool.Spool, from *pending) {
	l := &object.Ledger
	var outcomes []book.Outcome
	moved := make(map[int]int, len(l.Outcomes))
	sources := make(map[layout.Identity]bool, len(l.Outcomes))
	for i, o := range l.Outcomes {
		switch {
		case o.State == book.NotAsked:
			continue
		case !isImported(o):
			w.report.Passed[o.Reason]++
			continue
		case o.State == book.Stored:
			note := "imported from " + filepath.Base(w.sources[from.files[i]].path)
			if o.Detail != "" {
				note = o.Detail + "; " + note
			}
			o.Detail = message.Cut(note, book.MaxDetail)
		}
		moved[i] = len(outcomes)
		outcomes = append(outcomes, o)
		sources[o.Identity()] = true
	}
	links := slices.DeleteFunc(l.Links, func(link book.Link) bool { return !sources[link.Source] })
	for _, o := range outcomes {
		kind := book.Listed
		if o.Asset {
			kind = book.Asset
		}
		links = append(links, book.Link{
			Source: o.Identity(), Target: o.URL, Place: o.Place, Kind: kind, Region: book.Text,
			Depth: o.Depth, Hops: o.Hops, Weight: o.Weight, Collection: w.Collection,
		})
	}
	pages := slices.DeleteFunc(object.Pages, func(p spool.Page) bool { _, kept := moved[p.Outcome]; return !kept })
	for i := range pages {
		pages[i].Outcome = moved[pages[i].Outcome]
	}
	l.Outcomes, l.Links, object.Pages = outcomes, links, pages
}

// isImported reports whether the import keeps an outcome. It keeps stored and unchanged pages,
// pages that are unreadable or too big, redirects and aliases.
func isImported(o book.Outcome) bool {
	switch o.State {
	case book.Stored:
		return true
	case book.Unchanged:
		return o.Reason == ""
	case book.Skipped:
		return o.Reason != "type" && !membership.WasUnasked(o)
	}
	return false
}
