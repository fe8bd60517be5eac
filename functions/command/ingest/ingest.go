// Package ingest imports the pages of WARC files, as if they had been fetched when they
// were captured: it puts spool objects as fetch does, which pack, index and all others
// treat like those of a crawl.
//
// The files are read twice. The first reading finds the newest capture of every URL; then
// books and spool tell what is known of these URLs; the second reading imports
//
//	a page             stored, or unchanged if it is what was stored before
//	a redirect         as an outcome and a link
//
// and nothing else. Passed over, and counted by reason, are
//
//	a capture                                     why
//	another of the same URL is newer              only one can be the live page
//	not newer than the last answer that is known  the newer answer counts; so to import
//	                                              twice is to import once
//	of errors, images, styles, robots.txt, …      they are no pages
//	forgotten, or refused by a strategy           as for a crawl
//	refused by the rules of the collection        if it is a published one
//
// # Versions
//
// An import claims an epoch, so that its pages are newer than all that were stored
// before. The sweep then finds batches of an epoch that the frontier does not know, and
// rebuilds the frontier in a later one: what is fetched from then on is newer than the
// import. What a crawl fetches between the claim and that rebuild is older than the
// import if both have the same URL: the page that was imported counts until the URL is
// asked for once more.
//
// A batch is put once, under a name of its own epoch. When an import is killed, what it
// put is imported, and the next one finds it known.
//
// # Collections
//
// Pages get the name of a collection. If it is published, its rules say which pages are
// imported, which of their links are followed by the next crawl, and when pages are asked
// for again. If it is not, the name is only a label: all pages are imported, no link is
// followed, and nothing is asked for again.
//
// A link from the page to itself, of kind Listed, at depth 1 (0 for a seed), stands for
// the file in the books, so that every URL has a way by which it was found.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/warc"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Replayer makes a spool object of captured answers, as fetch does of those that it asks
// for.
type Replayer interface {
	Replay(ctx context.Context, b batch.Batch, captures []warc.Capture) (spool.Spool, error)
}

// Task is an import.
type Task struct {
	Files      []string
	Collection string // that the pages get
	Bucket     blob.Bucket
	Settings   *settings.Cache
	Fetch      Replayer
	Now        func() time.Time
	// Progress, if not nil, is called now and then with the bytes of the files that a
	// stage has read, and those of all of them.
	Progress func(stage string, done, total int64)
}

// Report is the result of an import.
type Report struct {
	Records   map[string]int // by type; those of other types are "other"
	Stored    int            // pages
	Unchanged int            // pages that are as they were stored before
	Skipped   map[string]int // URLs that are recorded without a page: redirects, aliases, unreadable pages, by reason
	Passed    map[string]int // captures that leave no trace, by reason
	Faults    []FileFault    // the first of them
	Faulty    int            // how many there are
	Batches   []Batch        // that were put
}

// FileFault is a damaged part of a file.
type FileFault struct {
	File string
	*warc.Fault
}

// Error implements error.
func (f FileFault) Error() string { return fmt.Sprintf("%s, %v", f.File, f.Fault) }

// Batch names a spool object.
type Batch struct {
	Storage layout.Partition
	Version layout.Version
}

// maxFaults is the number of faults that a report describes.
const maxFaults = 20

func (r *Report) fault(file string, f *warc.Fault) {
	if r.Faulty++; len(r.Faults) < maxFaults {
		r.Faults = append(r.Faults, FileFault{file, f})
	}
}

// Run imports the files. When it fails, what it put so far is imported, as the report
// says, and another run imports the rest.
func (t *Task) Run(ctx context.Context) (report *Report, err error) {
	report = &Report{Records: map[string]int{}, Skipped: map[string]int{}, Passed: map[string]int{}}
	inForce, err := t.Settings.Renew(ctx)
	if err != nil {
		return report, err
	}
	newest, posted, err := t.survey(ctx, inForce, report)
	if err != nil || len(newest) == 0 {
		return report, err
	}
	known, err := readStandings(ctx, t.Bucket, inForce, func(id layout.Identity) bool { _, wanted := newest[id]; return wanted })
	if err != nil {
		return report, fmt.Errorf("cannot tell what is stored: %w", err)
	}
	for id, c := range newest {
		switch final := known.final(id); {
		case final == nil || !outdates(final) || c.at.After(final.Time):
			continue
		case c.at.Equal(final.Time):
			report.Passed["already imported"]++
		default:
			report.Passed["what is known is newer"]++
		}
		delete(newest, id)
	}
	if len(newest) == 0 {
		return report, nil
	}
	w := &writer{Task: t, settings: inForce, known: known, report: report, posted: posted, pending: map[layout.Partition]*pending{}}
	return report, w.write(ctx, slices.SortedFunc(maps.Values(newest), inOrder))
}

// survey reads the files, and returns the newest capture of every URL that may be
// imported.
func (t *Task) survey(ctx context.Context, inForce *settings.Settings, report *Report) (map[layout.Identity]capture, *survey, error) {
	s := &survey{
		task: t, settings: inForce, now: t.Now(), report: report, newest: map[layout.Identity]capture{},
		answers: map[uint64]spot{}, posted: map[uint64]bool{}, seed: maphash.MakeSeed(),
	}
	total, err := t.size()
	if err != nil {
		return nil, nil, err
	}
	var before int64
	for i := range t.Files {
		var last int64
		if err := s.file(ctx, i, func(at int64) { last = max(last, at); t.progress("read", before+last, total) }); err != nil {
			return nil, nil, err
		}
		before += last
	}
	return s.newest, s, nil
}

// size returns the bytes of all files. It fails if any of them cannot be imported.
func (t *Task) size() (total int64, err error) {
	for i, path := range t.Files {
		if slices.ContainsFunc(t.Files[:i], func(other string) bool { return filepath.Clean(other) == filepath.Clean(path) }) {
			return 0, fmt.Errorf("%s is named twice", path)
		}
		file, size, err := open(path)
		if err != nil {
			return 0, err
		}
		total += size
		if err := file.Close(); err != nil {
			return 0, err
		}
	}
	return total, nil
}

func (t *Task) progress(stage string, done, total int64) {
	if t.Progress != nil {
		t.Progress(stage, done, total)
	}
}

// depth returns the depth at which a page is imported that was not known.
func (t *Task) depth(s *settings.Settings, at address.Address) uint16 {
	if slices.Contains(s.SeedOf(at), t.Collection) {
		return 0
	}
	return 1
}

// archives are the files that the second reading has open.
type archives struct {
	task    *Task
	opened  []*os.File
	readers []*warc.Reader
}

func (f *archives) read(at spot, limit int64) (*warc.Record, warc.Capture, error) {
	if f.readers == nil {
		f.opened, f.readers = make([]*os.File, len(f.task.Files)), make([]*warc.Reader, len(f.task.Files))
	}
	if f.readers[at.file] == nil {
		file, size, err := open(f.task.Files[at.file])
		if err != nil {
			return nil, warc.Capture{}, err
		}
		f.opened[at.file], f.readers[at.file] = file, warc.NewReader(file, size)
	}
	record, err := f.readers[at.file].At(at.Place)
	if err != nil {
		return nil, warc.Capture{}, err
	}
	c, err := record.Capture(limit)
	return record, c, err
}

// close closes the files before a number.
func (f *archives) close(before int) (err error) {
	for i := range min(before, len(f.opened)) {
		if f.opened[i] != nil {
			err = errors.Join(err, f.opened[i].Close())
			f.opened[i], f.readers[i] = nil, nil
		}
	}
	return err
}
