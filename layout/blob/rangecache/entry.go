package rangecache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

const (
	magic = "\xffBRNG\x01\r\n"
	fixed = len(magic) + 4 + 4 + 4 + 8 + 8 + 8 // size of a file's header in bytes, without the bucket's name and the key
	// unfinished is the prefix of the names of files that are being written.
	unfinished = "new-"
)

// errDamaged means that a file does not hold the bytes that were written for the range in its name.
var errDamaged = errors.New("cache entry is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fileName is the name of an entry's file: the hash of bucket, key and range.
type fileName [16]byte

func (n fileName) String() string { return hex.EncodeToString(n[:]) }

// parseName parses the 32 hexadecimal digits of a file's name; ok is false if s is
// anything else.
func parseName(s string) (n fileName, ok bool) {
	if len(s) != hex.EncodedLen(len(n)) {
		return n, false
	}
	_, err := hex.Decode(n[:], []byte(s))
	return n, err == nil && n.String() == s
}

// nameOf returns the name of the file of a range.
func nameOf(bucket string, id rangeID) fileName {
	hash := sha256.Sum256(headerOf(bucket, id, nil)[len(magic)+4:])
	return fileName(hash[:])
}

// headerOf returns the header of an entry's file: the bytes before its content (see
// the package comment).
func headerOf(bucket string, id rangeID, content []byte) []byte {
	h := make([]byte, 0, fixed+len(bucket)+len(id.key))
	h = append(h, magic...)
	h = append(h, 0, 0, 0, 0)
	h = binary.BigEndian.AppendUint32(h, uint32(len(bucket)))
	h = binary.BigEndian.AppendUint32(h, uint32(len(id.key)))
	h = binary.BigEndian.AppendUint64(h, uint64(id.Offset))
	h = binary.BigEndian.AppendUint64(h, uint64(id.Length))
	h = binary.BigEndian.AppendUint64(h, uint64(len(content)))
	h = append(h, bucket...)
	h = append(h, id.key...)
	sum := crc32.Update(crc32.Checksum(h[len(magic)+4:], castagnoli), castagnoli, content)
	binary.BigEndian.PutUint32(h[len(magic):], sum)
	return h
}

// readEntry returns the content in the file of an entry: the bytes of one range. It fails with
// errDamaged if the file is damaged, belongs to another bucket or range, or has more bytes of content
// than the last parameter allows.
func readEntry(path, bucket string, id rangeID, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	header := make([]byte, fixed+len(bucket)+len(id.key))
	size := info.Size() - int64(len(header))
	if size < 0 || size > most {
		return nil, fmt.Errorf("%s has %d bytes: %w", path, info.Size(), errDamaged)
	}
	content := make([]byte, size)
	for _, part := range [][]byte{header, content} {
		if _, err := io.ReadFull(file, part); err != nil {
			return nil, fmt.Errorf("cannot read %s: %w: %w", path, err, errDamaged)
		}
	}
	if !bytes.Equal(header, headerOf(bucket, id, content)) {
		return nil, fmt.Errorf("%s is not of its range, or not as it was written: %w", path, errDamaged)
	}
	return content, nil
}

// writeEntry writes an entry's file: first under a temporary name in dir, then renamed
// to path, so that path never holds a part of it.
func writeEntry(dir, path string, header, content []byte) error {
	file, err := os.CreateTemp(dir, unfinished+"*")
	if err != nil {
		return err
	}
	_, err = file.Write(header)
	if err == nil {
		_, err = file.Write(content)
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
