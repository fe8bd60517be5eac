package ingest

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/bucketsearch/bucketsearch/functions/shared/warc"
)

// source is a WARC file to be imported: a file on disk, or a member of a WACZ, which is a zip file.
type source struct {
	name     string // name of the WARC file in messages, such as "x.wacz: archive/data.warc.gz"
	path     string
	from     int64 // offset of the WARC's first byte in the file at path
	size     int64 // size of the WARC in bytes
	unpacked bool  // the file at path is a temporary copy, which closeAll deletes
}

// reader is an open WARC file.
type reader struct {
	*os.File
	*warc.Reader
}

func (s source) open() (reader, error) {
	file, err := os.Open(s.path)
	if err != nil {
		return reader{}, err
	}
	return reader{file, warc.NewReader(io.NewSectionReader(file, s.from, s.size), s.size)}, nil
}

// closeAll deletes the temporary files into which sourcesOf has unpacked WARC files.
func closeAll(sources []source) (err error) {
	for _, s := range sources {
		if s.unpacked {
			err = errors.Join(err, os.Remove(s.path))
		}
	}
	return err
}

// sourcesOf returns the WARC files at a path: the file, or the members of a WACZ. For a file
// of another kind of archive, the error says how to unpack it.
func sourcesOf(path string, report *Report) (sources []source, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("cannot import %s: %w", path, err), closeAll(sources))
		}
	}()
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, causeOf(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, causeOf(err)
	}
	defer file.Close()
	begin := make([]byte, 4)
	if _, err := file.ReadAt(begin, 0); err != nil && err != io.EOF {
		return nil, causeOf(err)
	}
	switch string(begin) {
	case "PK\x03\x04":
		return members(path, file, info.Size(), report)
	case "\x28\xB5\x2F\xFD":
		return nil, errors.New("it is compressed by zstd; unpack it first: zstd -d")
	}
	return []source{{name: path, path: path, size: info.Size()}}, nil
}

// causeOf returns an error of the file system without the path, which the caller's message has
// already.
func causeOf(err error) error {
	if at, is := errors.AsType[*os.PathError](err); is {
		return at.Err
	}
	return err
}

const (
	maxMembers = 100_000  // greatest number of members of a WACZ
	maxFree    = 64 << 20 // a member of at most this many unpacked bytes may have any compression ratio
	maxRatio   = 200      // greatest ratio of unpacked to packed bytes of a member that is larger than maxFree
)

var (
	errNoZip     = errors.New("it is a zip file that is cut short or damaged: its directory cannot be read; import what unzip or zip -FF gets out of it")
	errNoWARC    = errors.New("it is a zip file without WARC files in its folder archive, so no WACZ")
	errBomb      = errors.New("it expands too far")
	errPlace     = errors.New("it does not lie within the file, or lies in another member")
	errLength    = errors.New("it does not have the length that the directory says")
	errSum       = errors.New("its checksum is wrong")
	errEncrypted = errors.New("it is encrypted")
)

// members returns the WARC files in a WACZ (https://specs.webrecorder.net/wacz/1.1.1/#archive).
// size is the size of the WACZ in bytes.
//
//	member of the WACZ    WARC file returned for it
//	stored                the part of the WACZ with the member
//	compressed            a temporary file, into which members unpacks the member
//	damaged               the part before the damage, if any; the damage becomes a fault of the report
func members(path string, file *os.File, size int64, report *Report) (sources []source, err error) {
	if n, err := countMembers(file, size); err != nil || n > maxMembers {
		if err == nil {
			err = fmt.Errorf("it is a zip file of %d members; want at most %d", n, maxMembers)
		}
		return nil, err
	}
	z, err := zip.NewReader(file, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // no path is used
		return nil, errNoZip
	}
	found := false
	free := size                            // bytes that members may take together
	room := uint64(maxFree + maxRatio*size) // bytes that members may take together when they are unpacked
	for _, m := range z.File {
		lower := strings.ToLower(m.Name)
		if !strings.HasPrefix(lower, "archive/") || !strings.HasSuffix(lower, ".warc") && !strings.HasSuffix(lower, ".warc.gz") {
			continue
		}
		found = true
		s := source{name: fmt.Sprintf("%s: %s", path, printable(m.Name)), path: path}
		from, err := m.DataOffset()
		packed := int64(min(m.CompressedSize64, uint64(size)+1))
		switch {
		case m.Flags&1 != 0:
			err = errEncrypted
		case err != nil, from > size-packed, packed > free:
			err = errPlace
		case m.Method == zip.Store:
			s.from, s.size = from, packed
			if m.CompressedSize64 != m.UncompressedSize64 {
				err = errLength
			}
			free -= packed
		case m.Method != zip.Deflate:
			err = fmt.Errorf("it is compressed by method %d, which is unsupported", m.Method)
		default:
			free -= packed
			var damage error
			if s.path, s.size, damage, err = unpack(m, room); err != nil {
				return sources, err
			}
			room -= uint64(s.size)
			s.unpacked, err = s.path != "", damage
		}
		if err != nil {
			report.fault(s.name, &warc.Fault{Err: err})
		}
		if s.size > 0 {
			sources = append(sources, s)
		}
	}
	if !found {
		return nil, errNoWARC
	}
	return sources, nil
}

// printable returns a name with escapes in place of control characters.
func printable(name string) string {
	quoted := fmt.Sprintf("%q", name)
	return quoted[1 : len(quoted)-1]
}

// unpack copies a compressed member of a WACZ to a temporary file, and returns the path and size of
// this file. If the member is damaged, the file ends before the damage, and the result damage says
// what is wrong. The result err is an error in writing the file.
//
// unpack copies nothing of a member that is too large when unpacked; then the result damage is errBomb.
// A member is too large if its unpacked size is not less than the parameter room, or if this size is
// more than maxFree bytes and also more than maxRatio times the packed size.
func unpack(m *zip.File, room uint64) (path string, size int64, damage, err error) {
	if m.UncompressedSize64 >= room || m.UncompressedSize64 > maxFree && m.UncompressedSize64/maxRatio > m.CompressedSize64 {
		return "", 0, errBomb, nil
	}
	raw, err := m.OpenRaw() // m.Open hides what stands before the damage
	if err != nil {
		return "", 0, err, nil
	}
	sum := crc32.NewIEEE()
	from := io.TeeReader(flate.NewReader(raw), sum)
	to, err := os.CreateTemp("", "bucketsearch-*.warc")
	if err != nil {
		return "", 0, nil, fmt.Errorf("cannot unpack %s: %w", printable(m.Name), err)
	}
	var written error
	size, damage = io.Copy(noting{to, &written}, io.LimitReader(from, int64(m.UncompressedSize64)+1))
	switch {
	case damage == nil && uint64(size) != m.UncompressedSize64:
		damage = errLength
	case damage == nil && sum.Sum32() != m.CRC32:
		damage = errSum
	}
	if err = errors.Join(written, to.Close()); err != nil {
		return "", 0, nil, errors.Join(fmt.Errorf("cannot unpack %s: %w", printable(m.Name), err), os.Remove(to.Name()))
	}
	if size == 0 {
		return "", 0, damage, os.Remove(to.Name())
	}
	return to.Name(), size, damage, nil
}

// noting is a writer that passes all bytes on to another writer, and notes the error of the last
// write in *err. So the caller of io.Copy can tell an error of writing from one of reading.
type noting struct {
	to  io.Writer
	err *error
}

func (n noting) Write(p []byte) (int, error) {
	written, err := n.to.Write(p)
	*n.err = err
	return written, err
}

// countMembers estimates the number of members of a zip file without reading its directory, which
// may take too much memory. It counts how often the signature of a directory entry occurs in the
// last 64 MiB of the file, even outside the directory. size is the size of the file in bytes.
func countMembers(file io.ReaderAt, size int64) (n int, err error) {
	const most, step = 64 << 20, 1 << 20
	mark := []byte("PK\x01\x02")
	buffer := make([]byte, step+len(mark)-1)
	for at := max(0, size-most); at < size; at += step {
		read, err := file.ReadAt(buffer, at)
		if err != nil && err != io.EOF {
			return 0, err
		}
		n += bytes.Count(buffer[:read], mark)
	}
	return n, nil
}
