package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/inventory"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Task is an export: the selected pages, the format, and the file or folder to write.
type Task struct {
	inventory.Selection
	Format string    // name of the format (see the package's comment)
	Path   string    // path of the file or folder, which must not exist yet
	At     time.Time // moment of the export; pages are exported as they were then
	// Progress, if not nil, is called after every page, with the number of pages done and the
	// number of all pages.
	Progress func(done, total int)
}

// Report is the result of an export.
type Report struct {
	Pages   int       // number of pages in the export
	Resumed int       // number of pages that an earlier run had written already
	At      time.Time // moment of the export; pages are exported as they were then
	Unread  []error   // an error for each page that could not be read, and for each partition that lost records of its pages
}

// resumption is the state of an unfinished export. It is stored as JSON in PATH.resume,
// beside the file or folder PATH, so that a later run can go on from there.
type resumption struct {
	inventory.Selection
	Format  string    `json:"format"`
	At      time.Time `json:"at"`
	Total   int       `json:"total"`   // number of pages to read: the selected pages, of any language
	Done    int       `json:"done"`    // number of pages read, including pages in other languages, which are not written
	Written int       `json:"written"` // number of pages written
	Bytes   int64     `json:"bytes"`   // size of the file with the pages written; 0 for a folder
}

// target is a file or a folder to which pages are written.
type target interface {
	// begin opens the target. If the parameter bytes is 0, it makes a new target. Otherwise it
	// opens the target that an earlier run left, and first cuts it to this number of bytes. The
	// parameter at is the moment of the export: pages are exported as they were then.
	begin(at time.Time, bytes int64) error
	// content returns the bytes to be written for a page. It is safe for concurrent use.
	content(r *Record) ([]byte, error)
	// write writes the content of the next page.
	write(r *Record, content []byte) error
	// save makes all pages written so far durable, and returns the size of the file, 0 for
	// a folder.
	save() (bytes int64, err error)
	// end finishes and closes the target.
	end() error
}

// savePeriod is the number of pages after which a run saves its state (resumption) again.
const savePeriod = 500

// Run exports the selected pages of a bucket as they were at the time t.At. If it fails, or is
// cancelled, another run with the same selection, format and path continues the export. The second run
// ignores its own t.At: it exports the pages as they were at the time t.At of the first run.
func (t Task) Run(ctx context.Context, bucket blob.Reader, s *settings.Settings) (report Report, err error) {
	to, resumePath, err := t.target()
	if err != nil {
		return report, err
	}
	state := t.resume(resumePath)
	pages, err := findPages(ctx, bucket, s, t.Selection, !t.isOfText(), state.At)
	if err != nil {
		return report, err
	}
	if state.Done > 0 && state.Total != len(pages.places) { // pages were forgotten since
		state.Done, state.Written, state.Bytes = 0, 0, 0
	}
	state.Total = len(pages.places)
	if m, isMirror := to.(*mirror); isMirror {
		if err := m.prepare(ctx, &t, pages, s); err != nil {
			return report, err
		}
	}
	report = Report{Resumed: state.Written, At: state.At, Unread: pages.faults}
	if err := to.begin(state.At, state.Bytes); err != nil {
		return report, err
	}
	err = t.copy(ctx, pages, to, &state, &report, resumePath)
	report.Pages = state.Written
	if err == nil {
		err = to.end()
	}
	if err != nil {
		return report, fmt.Errorf("cannot export to %s: %w (the same command goes on behind %d of %d pages)", t.Path, err, state.Done, state.Total)
	}
	return report, os.Remove(resumePath)
}

// copy writes the pages to the target, except the first state.Done pages, which earlier runs have
// read. It saves the state at the beginning, every savePeriod pages and at the end. It adds pages
// that cannot be read to report.Unread.
func (t Task) copy(ctx context.Context, pages *storedPages, to target, state *resumption, report *Report, resumePath string) error {
	at := *state
	save := func() error {
		bytes, err := to.save()
		if err == nil {
			at.Bytes = bytes
			err = at.save(resumePath)
		}
		if err == nil {
			*state = at
		}
		return err
	}
	if err := save(); err != nil {
		return err
	}
	next := inOrder(pages.read(ctx, at.Done), runtime.GOMAXPROCS(0), func(f loaded) prepared { return t.read(ctx, f, to) })
	for p := range next {
		if p.err == nil {
			p.err = ctx.Err()
		}
		switch {
		case errors.Is(p.err, webobject.ErrDamaged), errors.Is(p.err, blob.ErrAbsent):
			report.Unread = append(report.Unread, p.err)
		case p.err != nil:
			return errors.Join(p.err, save())
		case p.wanted:
			if err := to.write(&p.record, p.content); err != nil {
				return err
			}
			at.Written++
		}
		if at.Done++; at.Done%savePeriod == 0 {
			if err := save(); err != nil {
				return err
			}
		}
		if t.Progress != nil {
			t.Progress(at.Done, at.Total)
		}
	}
	return save()
}

// prepared is a page that has been read and can be written to the target.
type prepared struct {
	record  Record
	wanted  bool   // the page is exported: it is in the selected language, or no language is selected
	content []byte // bytes to be written
	err     error
}

// read decompresses a page and, if the export needs its text or language, parses it. The result has
// the bytes that the target will write for the page.
func (t Task) read(ctx context.Context, f loaded, to target) (p prepared) {
	o, err := f.object(ctx)
	if err != nil {
		return prepared{err: err}
	}
	p.record = recordOf(o)
	inLanguage := t.Lang == "" || f.at.indexed || f.at.asset
	if t.writesText() || !inLanguage {
		p.record.read()
	}
	if f.at.indexed {
		p.record.Lang = t.Lang
	}
	if p.wanted = inLanguage || p.record.Lang == t.Lang; p.wanted {
		p.content, p.err = to.content(&p.record)
	}
	return p
}

// writesText reports whether the format contains text that was extracted from pages.
func (t Task) writesText() bool { return t.isOfText() || t.Format == WACZ }

// isOfText reports whether the format holds the text of pages, and not the bytes that servers
// sent.
func (t Task) isOfText() bool {
	switch t.Format {
	case WARC, WACZ, Webo, Mirror:
		return false
	}
	return true
}

// target returns the target of the task, and the path of the file in which the state of the
// unfinished export is kept. It fails if a file or folder exists at the target's path, unless an
// earlier, unfinished run of an export left it.
func (t Task) target() (to target, resumePath string, err error) {
	if t.Format == Markdown || t.Format == Mirror {
		resumePath = t.Path + ".resume"
		if entries, err := os.ReadDir(t.Path); err == nil && len(entries) > 0 && !exists(resumePath) {
			return nil, "", fmt.Errorf("%s exists and is not empty; export to another folder", t.Path)
		}
		if t.Format == Mirror {
			return &mirror{root: t.Path}, resumePath, nil
		}
		return &folder{root: t.Path}, resumePath, nil
	}
	f, err := formatOf(t.Format)
	if err != nil {
		return nil, "", err
	}
	resumePath = t.Path + ".resume"
	if exists(t.Path) {
		return nil, "", fmt.Errorf("%s exists; export to another file, or remove it", t.Path)
	}
	one := file{format: f, path: t.Path}
	switch t.Format {
	case WACZ:
		return &wacz{file: one}, resumePath, nil
	case Webo:
		if beside := t.Path + descSuffix; exists(beside) && !exists(resumePath) {
			return nil, "", fmt.Errorf("%s exists; export to another file, or remove it", beside)
		}
		return &webop{file: one}, resumePath, nil
	}
	return &one, resumePath, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// resume returns the state that an earlier run of the same task saved at the path. If there is no
// such state, it returns the state of an export that has not begun.
func (t Task) resume(path string) resumption {
	begin := resumption{Selection: t.Selection, Format: t.Format, At: t.At}
	var state resumption
	content, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(content, &state) != nil || state.Selection != t.Selection || state.Format != t.Format {
		return begin
	}
	return state
}

// save writes the state to the file at the path. If it is interrupted, the file has the old state
// or the new one, never half of one.
func (r *resumption) save(path string) error {
	content, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", content, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
