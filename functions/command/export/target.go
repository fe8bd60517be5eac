package export

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// file is the target of every format that writes a single file. Until the export is finished, the
// file's name has the suffix .part.
type file struct {
	format fileFormat
	path   string // path of the finished file, without the suffix .part
	open   *os.File
	out    *bufio.Writer // buffers what is written to the open file
	size   int64         // number of bytes written so far, including those in the buffer
}

func (f *file) begin(at time.Time, bytes int64) (err error) {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
		return err
	}
	flags := os.O_CREATE | os.O_RDWR
	if bytes == 0 {
		flags |= os.O_TRUNC
	}
	if f.open, err = os.OpenFile(f.path+".part", flags, 0o644); err != nil {
		return err
	}
	f.out, f.size = bufio.NewWriterSize(f.open, 1<<20), bytes
	if bytes == 0 {
		return f.add(f.format.begin(at))
	}
	if err := f.open.Truncate(bytes); err != nil {
		return err
	}
	_, err = f.open.Seek(bytes, io.SeekStart)
	return err
}

// add appends the bytes b to the file if the parameter err is nil. Otherwise it appends nothing and
// returns err, which is the error of the function that made b.
func (f *file) add(b []byte, err error) error {
	if err == nil {
		_, err = f.out.Write(b)
		f.size += int64(len(b))
	}
	return err
}

func (f *file) content(r *Record) ([]byte, error) { return f.format.page(r) }

func (f *file) write(_ *Record, content []byte) error { return f.add(content, nil) }

func (f *file) save() (int64, error) {
	return f.size, errors.Join(f.out.Flush(), f.open.Sync())
}

func (f *file) end() error {
	if err := f.add([]byte(f.format.end), nil); err != nil {
		return err
	}
	return f.finish()
}

// finish makes the file durable, closes it and removes the suffix .part.
func (f *file) finish() error {
	if _, err := f.save(); err != nil {
		return err
	}
	if err := f.open.Close(); err != nil {
		return err
	}
	return os.Rename(f.path+".part", f.path)
}
