package export

import (
	"bufio"
	"errors"
	"os"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// descSuffix is appended to the name of a .webop to name the file that describes it: a.webop.desc
// describes a.webop.
const descSuffix = ".desc"

// webop is a target of two files: NAME.webop, which contains the Web objects of all pages, and
// NAME.webop.desc, by which readers find each Web object. The second file is made at the end, by
// reading the first one.
type webop struct {
	file
	created time.Time // moment of the export; pages are exported as they were then
}

func beginWebop(time.Time) ([]byte, error) { return []byte(webobject.WebopMagic), nil }

// webObject returns a page as a Web object of version 1, the format of a thesis of 2006 on a
// distributed search engine (chapter 4).
func webObject(r *Record) ([]byte, error) { return r.object.AppendVersion1(nil) }

func (w *webop) begin(at time.Time, bytes int64) error {
	w.created = at
	return w.file.begin(at, bytes)
}

func (w *webop) end() error {
	size, err := w.save()
	if err == nil {
		err = w.describe(size)
	}
	if err != nil {
		return err
	}
	return w.finish()
}

// describe writes the file NAME.webop.desc, by which readers find each Web object in NAME.webop
// (see webop). size is the size of NAME.webop in bytes.
func (w *webop) describe(size int64) error {
	path := w.path + descSuffix
	desc, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(desc, 1<<20)
	err = errors.Join(webobject.WriteDescription(out, w.open, size, w.created), out.Flush(), desc.Sync(), desc.Close())
	if err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}
