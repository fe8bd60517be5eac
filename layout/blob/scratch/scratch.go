// Package scratch keeps large contents in files instead of in memory. A mapped file looks like a byte slice, but
// the system reads its pages when they are needed, and drops them when memory is short.
package scratch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// File is a file without a name. Bytes are appended to it by Write and Take, and read by Map. Its space on the disk
// is free again after Close, or when the process ends in any way. It is not safe for concurrent use.
type File struct {
	file   *os.File
	size   int64
	mapped []byte // what Map has mapped; nil before
}

// Create creates an empty file in a directory; "" stands for the system's directory of temporary files.
func Create(dir string) (*File, error) {
	file, err := os.CreateTemp(dir, "bucketsearch-*")
	if err != nil {
		return nil, fmt.Errorf("cannot create a scratch file: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close() // the first error says more
		return nil, fmt.Errorf("cannot create a scratch file: %w", err)
	}
	return &File{file: file}, nil
}

// Write appends bytes to the file.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	f.size += int64(n)
	if err != nil {
		err = fmt.Errorf("cannot write %d bytes to a scratch file of %d bytes: %w", len(p), f.size, err)
	}
	return n, err
}

// Take appends all bytes of another file, which stays as it is.
func (f *File) Take(other *File) error {
	_, err := other.file.Seek(0, io.SeekStart)
	if err == nil {
		var n int64
		n, err = io.Copy(f.file, other.file)
		f.size += n
	}
	if err != nil {
		return fmt.Errorf("cannot copy a scratch file of %d bytes: %w", other.size, err)
	}
	return nil
}

// Size returns the number of bytes that were appended.
func (f *File) Size() int64 { return f.size }

// Map returns the content of the file. The slice has free space for more bytes after its end, as many as room says.
// The caller may change it and append to it within this space, which does not change the file. It must not be used
// after Close. Map is called at most once, after the last byte was appended.
func (f *File) Map(room int) ([]byte, error) {
	if f.size == 0 {
		return nil, nil
	}
	whole := f.size + int64(room)
	err := f.file.Truncate(whole)
	if err == nil {
		f.mapped, err = syscall.Mmap(int(f.file.Fd()), 0, int(whole), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot map a scratch file of %d bytes: %w", f.size, err)
	}
	return f.mapped[:f.size], nil
}

// Close frees the file. Slices that Map returned must not be used any more: reading one would crash the process.
func (f *File) Close() error {
	if f.mapped != nil {
		if err := syscall.Munmap(f.mapped); err != nil {
			return fmt.Errorf("cannot unmap a scratch file: %w", err)
		}
		f.mapped = nil
	}
	return f.file.Close()
}

// window is the size of the ranges in which Read reads an object, in bytes. An object that is smaller takes one
// request, and is kept in memory.
const window = 8 << 20

// Read reads a whole object in ranges of 8 MiB. It keeps a larger object than that in a file in dir (see Create).
// The caller calls the function free when it no longer uses the content. If the object is absent, Read returns
// found = false and no error.
func Read(ctx context.Context, r blob.Reader, key, dir string) (content []byte, free func(), found bool, err error) {
	free = func() {}
	var file *File
	for from := int64(0); ; from += window {
		part, err := r.Get(ctx, key, blob.Range{Offset: from, Length: window})
		switch {
		case errors.Is(err, blob.ErrRange): // the object ends here
		case from == 0 && errors.Is(err, blob.ErrAbsent):
			return nil, free, false, nil
		case err != nil:
			free()
			return nil, func() {}, false, fmt.Errorf("cannot read %s: %w", key, err)
		}
		if from == 0 {
			if len(part) < window {
				return part, free, true, nil
			}
			if file, err = Create(dir); err != nil {
				return nil, free, false, err
			}
			free = func() { _ = file.Close() } // it was only read
		}
		if _, err := file.Write(part); err != nil {
			free()
			return nil, func() {}, false, err
		}
		if len(part) < window {
			break
		}
	}
	if content, err = file.Map(0); err != nil {
		free()
		return nil, func() {}, false, err
	}
	return content, free, true, nil
}
