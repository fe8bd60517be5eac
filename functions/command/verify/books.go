package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// To bound memory, verify divides the hash space of URLs into ranges. It reads the first range from
// all books, then the second range from all books, and so on. The ranges are chosen so that all
// books together have about rangeBytes bytes in each, which is some ten thousand URLs. To choose
// them, verify divides each book into parts of partBytes bytes.
const (
	partBytes  = 16 << 10
	rangeBytes = 2 << 20
)

// openBook is a book (object with outcomes and links) that is read range by range of URLs.
type openBook struct {
	manifest.Book
	partition layout.Partition
	reader    *book.Reader
	lost      atomic.Bool // the book is missing or damaged
}

// readBooks reads every book (object with outcomes and links) whole and compares its hash with its
// key. Then it divides the hash space of URLs into ranges, in v.ranges. foldRanges will read the
// books again, one range after another.
func (v *run) readBooks(ctx context.Context) error {
	var all []*openBook
	var size int64
	for _, p := range v.partitions {
		for _, listed := range p.Books {
			b := &openBook{Book: listed, partition: p.Partition}
			p.books, all = append(p.books, b), append(all, b)
			size += listed.Bytes
		}
	}
	v.report.Books = len(all)
	progress := v.stage(Books, size)
	err := each(ctx, all, func(ctx context.Context, b *openBook) error {
		defer progress.add(b.Bytes)
		return v.lose(b, v.readBook(ctx, b))
	})
	var parts []book.Part
	for _, b := range all {
		if b.reader != nil {
			parts = append(parts, b.reader.Parts(layout.Range{}, partBytes)...)
		}
	}
	v.ranges = divide(parts)
	return err
}

// readBook checks the bytes of one book (object with outcomes and links) and opens it. It reports a
// problem if the book still has links of a forgotten page.
func (v *run) readBook(ctx context.Context, b *openBook) error {
	content, err := v.Bucket.Get(ctx, b.Key, blob.Range{})
	if err != nil {
		return err
	}
	if key := layout.BookKey(b.partition, layout.ContentHash(content)); key != b.Key {
		return fmt.Errorf("%w: its content is that of %s", book.ErrDamaged, key)
	}
	if b.reader, err = book.Open(ctx, v.Bucket, b.Key); err != nil {
		return err
	}
	check := v.forgotten(v.partition(b.partition))
	if check.set == nil {
		return nil
	}
	sources, err := b.reader.Sources(ctx)
	if i := slices.IndexFunc(sources, check.id); i >= 0 {
		v.problem(Behind, b.partition, b.Key, "holds links of the page %s, which is forgotten", sources[i])
	}
	return err
}

// lose handles an error in reading the book b (object with outcomes and links). If the book is
// missing or damaged, lose marks it as lost and returns nil; it returns any other error. It reports
// a damaged book, unless the book is marked already. (The method objects reports missing ones.)
func (v *run) lose(b *openBook, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, blob.ErrAbsent): // reported by the method objects
		b.lost.Store(true)
		return nil
	case errors.Is(err, book.ErrDamaged):
		if !b.lost.Swap(true) {
			v.problem(Damaged, b.partition, b.Key, "cannot be read: %v", err)
		}
		return nil
	}
	return err
}

// divide divides the hash space of URLs into ranges that verify reads one after another. In each range,
// all books together have about rangeBytes bytes. The parameter parts has the parts of all books, with
// the size and the first hash of each part.
func divide(parts []book.Part) []layout.Range {
	slices.SortFunc(parts, func(a, b book.Part) int { return cmp.Compare(a.From, b.From) })
	ranges := make([]layout.Range, 1)
	var bytes int64
	for _, p := range parts {
		last := &ranges[len(ranges)-1]
		if bytes >= rangeBytes && p.From > last.From {
			last.To, bytes = p.From, 0
			ranges = append(ranges, layout.Range{From: p.From})
		}
		bytes += p.Bytes
	}
	return ranges
}

// partition returns what the verification has read of a storage partition: the newest manifest, the
// books that it lists, and the batches that are not packed yet.
func (v *run) partition(p layout.Partition) *audit {
	return v.partitions[slices.IndexFunc(v.partitions, func(own *audit) bool { return own.Partition == p })]
}

// noteUndiscovered records a URL of partition p that has an outcome although no seed or link leads
// to it. judgeUndiscovered decides later whether that is a problem.
func (v *run) noteUndiscovered(url string, p layout.Partition) {
	v.count(func(r *Report) {
		if r.Waiting.Find++; r.Waiting.Find <= MaxProblems {
			v.undiscovered = append(v.undiscovered, Problem{Kind: Unaccounted, Partition: p, URL: url,
				Detail: "has an outcome, yet no seed or link leads to it"})
		}
	})
}

// judgeUndiscovered reports the URLs that have an outcome although no seed or link leads to them (see
// noteUndiscovered), except those that were seeds once. It reports none of them if links may be
// missing for a known reason: takedowns have erased pages with links, or books or spool objects with
// links are lost.
func (v *run) judgeUndiscovered(ctx context.Context) error {
	waiting := &v.report.Waiting
	if waiting.Find == 0 || waiting.Fetch > 0 || !v.settings.Takedowns.Empty() || v.incomplete() {
		return nil
	}
	if v.report.Pending > 0 {
		lost, err := v.spoolLost(ctx)
		if err != nil || lost {
			return err
		}
	}
	if len(v.undiscovered) > 0 { // a collection may have had another seed, or be removed
		seeds, err := collection.EverySeed(ctx, v.Bucket)
		if err != nil {
			return err
		}
		before := len(v.undiscovered)
		v.undiscovered = slices.DeleteFunc(v.undiscovered, func(p Problem) bool { return seeds[p.URL] })
		waiting.Find -= before - len(v.undiscovered)
	}
	for _, p := range v.undiscovered {
		v.problems.add(p)
	}
	v.problems.more += waiting.Find - len(v.undiscovered)
	waiting.Find = 0
	return nil
}

// judgeStrategies reports the faults of the strategies, the published rules that divide URLs among
// partitions, if some wanted URL has no partition because of them. Such URLs are never fetched.
func (v *run) judgeStrategies() {
	n := v.unplaced.Load()
	if n == 0 {
		return
	}
	for _, d := range []*rules.Document{&v.settings.Crawl, &v.settings.Storage} {
		for _, fault := range d.Faults() {
			v.problems.add(Problem{Kind: Missing, Key: layout.StrategyKey(string(d.Kind), d.Version),
				Detail: fmt.Sprintf("%s; %d URLs have no partition and are not asked for until the next version has one for them", fault, n)})
		}
	}
}

// spoolLost reports whether any spool object was found damaged before it was packed, so that the
// outcomes and links of its batch are lost. Such an object has a copy in quarantine.
func (v *run) spoolLost(ctx context.Context) (bool, error) {
	for _, err := range v.Bucket.List(ctx, layout.QuarantinePrefix(layout.Spool), "") {
		if err != nil {
			return false, fmt.Errorf("cannot list the quarantine: %w", err)
		}
		return true, nil
	}
	return false, nil
}
