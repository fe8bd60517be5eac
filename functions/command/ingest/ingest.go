// Package ingest imports the pages of WARC and WACZ files, as if fetch had fetched them at the times of
// their captures. It puts spool objects (batches of fetched pages, which pack stores) like those of
// fetch, and all other functions treat them in the same way.
//
// The files are read twice. The first reading finds the newest capture of every URL. Then the
// books, which record outcomes of requests, and the spool objects are read for the last outcomes
// of these URLs. The second reading imports
//
//	a page        as stored, or as unchanged if the same page was stored before
//	a redirect    as an outcome and a link
//	an asset      in the same way as a page
//
// Assets are imported only if the collection is published and wants assets. An asset must also be in
// the scope of the collection, or a page or style sheet in the files must refer to it.
//
// All other captures are skipped. The report counts them by the reason, such as "http 404":
//
//	skipped capture                                     why it is skipped
//	the files have a newer one of the same URL          only one version can be the live page
//	it is not newer than what is known of the URL       the newer answer counts
//	an error, robots.txt, or an unwanted asset          it is none of the three kinds above
//	a takedown or a strategy excludes its URL           a crawl does not fetch the URL either
//	the collection, if published, excludes its URL      a crawl does not fetch the URL either
//
// By the second of these rules, importing the same file again imports nothing.
//
// # Versions
//
// Every page has the epoch of its batch, and the page of a higher epoch counts as newer. An import
// claims a new epoch, so its pages count as newer than all that were stored before:
//
//	epoch    pages
//	n        fetched before the import, or by a crawl that runs at the same time
//	n + 1    imported
//	n + 2    fetched after the sweep has noticed the import and rebuilt the frontier
//
// A page that a crawl fetches during the import, in epoch n, counts as older than the imported page
// of the same URL, although it was fetched later. That ends when the URL is fetched again.
//
// Each spool object is created once, under a key of the import's own epoch. If an import is
// killed, its spool objects stay imported, and the next import of the files skips their pages
// because they are not newer.
//
// # Collections
//
// All imported pages get the name of one collection. If there is a published collection of that
// name, its rules say which pages are imported, which of their links the next crawl follows,
// and when pages are fetched again. If there is none, the name is only a label: all pages are
// imported, without assets, no link is followed, and nothing is fetched again.
//
// Every URL in the books needs a link by which it was found. An imported URL gets a link from
// itself to itself. The kind of this link is book.Listed, for an asset book.Asset. The depth
// of the URL is 1, for a seed 0.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
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

// Replayer makes a spool object (the results of a batch) from captures, as fetch makes one from
// responses, and finds the assets to which a captured page or style sheet refers. fetch.Function
// implements it.
type Replayer interface {
	Replay(ctx context.Context, b batch.Batch, captures []warc.Capture) (spool.Spool, error)
	Assets(c warc.Capture, at address.Address) []address.Address
}

// Task is the import of WARC and WACZ files into a bucket.
type Task struct {
	Files      []string
	Collection string // name of the collection of the imported pages
	Bucket     blob.Bucket
	Settings   *settings.Cache
	Fetch      Replayer
	Now        func() time.Time
	// Progress, if not nil, is called after every record. stage is "read" or "import", done the
	// number of bytes of the files that the stage has read, and total the number of bytes of all
	// files.
	Progress func(stage string, done, total int64)

	// sources, set by Run, are the WARC files to read, in the order of Files. Each WARC file in a
	// WACZ is a source of its own.
	sources []source
}

// Report is the result of an import.
type Report struct {
	Records   map[string]int // number of records by type; "other" for unknown types
	Stored    int            // number of pages stored
	Assets    int            // number of assets stored
	Unchanged int            // number of pages and assets that were stored before and are the same
	Skipped   map[string]int // number of URLs recorded without a page (redirects, aliases, unreadable pages), by reason
	Passed    map[string]int // number of captures that were not imported, by reason
	Faults    []FileFault    // damaged parts of files, at most maxFaults
	Faulty    int            // number of all damaged parts, including those that Faults leaves out
	Batches   []Batch        // the spool objects that were put, one for each batch
}

// FileFault is a damaged part of a file that was to be imported.
type FileFault struct {
	File string
	*warc.Fault
}

// Error implements error: it returns a text with the file and the damage.
func (f FileFault) Error() string { return fmt.Sprintf("%s, %v", f.File, f.Fault) }

// Batch names a spool object (the results of one batch) that the import has stored.
type Batch struct {
	Storage layout.Partition
	Version layout.Version
}

// maxFaults is the greatest number of faults that a report describes.
const maxFaults = 20

// fault adds a damaged part of a file to the report.
func (r *Report) fault(file string, f *warc.Fault) {
	if r.Faulty++; len(r.Faults) < maxFaults {
		r.Faults = append(r.Faults, FileFault{file, f})
	}
}

// Run imports the WARC and WACZ files in Files. If it fails, the report has the captures imported
// so far, and another run imports the rest.
func (t *Task) Run(ctx context.Context) (report *Report, err error) {
	report = &Report{Records: map[string]int{}, Skipped: map[string]int{}, Passed: map[string]int{}}
	inForce, err := t.Settings.Renew(ctx)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, closeAll(t.sources)) }()
	newest, posted, err := t.survey(ctx, inForce, report)
	if err != nil || len(newest) == 0 {
		return report, err
	}
	known, read, err := readStandings(ctx, t.Bucket, inForce, func(id layout.Identity) bool { _, wanted := newest[id]; return wanted })
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
	w := &writer{Task: t, settings: inForce, known: known, read: read, report: report, posted: posted, pending: map[layout.Partition]*pending{}}
	return report, w.write(ctx, slices.SortedFunc(maps.Values(newest), inOrder))
}

// survey reads all files for the first time; the writer will read them once more. It returns the newest
// capture of every URL, among those captures that may be imported. The parameter inForce has the
// settings that decide this. survey also returns the state of this first reading. The writer needs its
// method isPosted to recognize answers to requests other than GET, such as POST, and to leave them out.
func (t *Task) survey(ctx context.Context, inForce *settings.Settings, report *Report) (map[layout.Identity]capture, *survey, error) {
	s := &survey{
		task: t, settings: inForce, now: t.Now(), report: report, newest: map[layout.Identity]capture{},
		answers: map[uint64]spot{}, parts: map[layout.Identity]bool{}, assets: inForce.WantAssets(t.Collection), posted: map[uint64]bool{}, seed: maphash.MakeSeed(),
	}
	total, err := t.find(report)
	if err != nil {
		return nil, nil, err
	}
	var before int64
	for i := range t.sources {
		var last int64
		if err := s.file(ctx, i, func(at int64) { last = max(last, at); t.progress("read", before+last, total) }); err != nil {
			return nil, nil, err
		}
		before += last
	}
	s.dropUnreferred()
	return s.newest, s, nil
}

// find fills t.sources with the WARC files to be read, and returns their total size in bytes. It
// fails if a file in t.Files cannot be imported or is listed twice.
func (t *Task) find(report *Report) (total int64, err error) {
	for i, path := range t.Files {
		if slices.ContainsFunc(t.Files[:i], func(other string) bool { return filepath.Clean(other) == filepath.Clean(path) }) {
			return 0, fmt.Errorf("%s is named twice", path)
		}
		found, err := sourcesOf(path, report)
		if err != nil {
			return 0, err
		}
		t.sources = append(t.sources, found...)
		for _, s := range found {
			total += s.size
		}
	}
	return total, nil
}

func (t *Task) progress(stage string, done, total int64) {
	if t.Progress != nil {
		t.Progress(stage, done, total)
	}
}

// depth returns the depth for an imported page that was never fetched before: 0 for a seed of the
// collection, else 1.
func (t *Task) depth(s *settings.Settings, at address.Address) uint16 {
	if slices.Contains(s.SeedOf(at), t.Collection) {
		return 0
	}
	return 1
}

// archives reads records of the task's WARC files. Each file is opened when its first record is read.
// This is the second reading of the files: the first one (see the method survey) has chosen the records.
type archives struct {
	task    *Task
	readers []reader // a reader for each element of Task.sources; zero while that file is not open
}

// read returns the record at the given position of a file, and the capture in this record. Of the
// capture's body it reads at most limit + 1 bytes. It opens the file if it is not open yet.
func (f *archives) read(at spot, limit int64) (*warc.Record, warc.Capture, error) {
	if f.readers == nil {
		f.readers = make([]reader, len(f.task.sources))
	}
	if f.readers[at.file].File == nil {
		var err error
		if f.readers[at.file], err = f.task.sources[at.file].open(); err != nil {
			return nil, warc.Capture{}, err
		}
	}
	record, err := f.readers[at.file].At(at.Place)
	if err != nil {
		return nil, warc.Capture{}, err
	}
	c, err := record.Capture(limit)
	return record, c, err
}

// close closes the open files whose index in Task.sources is less than the parameter before: they
// are not read any more.
func (f *archives) close(before int) (err error) {
	for i := range min(before, len(f.readers)) {
		if f.readers[i].File != nil {
			err = errors.Join(err, f.readers[i].Close())
			f.readers[i] = reader{}
		}
	}
	return err
}
