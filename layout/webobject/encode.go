package webobject

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
	"time"
)

const (
	objectMagic = "\xFFWEBO"
	version1    = 1
	version2    = 2 // only read
	version3    = 3
)

// Append appends the object in version 3. A zero Hash is computed; another
// one must be that of Data. Bytes that are not UTF-8 in strings that a server
// sent become U+FFFD. It fails, and returns dst as it was, if the URL is not
// one line of UTF-8 or something is longer than the format allows: 65,535
// bytes each for MIME type, URL, and what version 3 adds; MaxSize in all.
func (o Object) Append(dst []byte) ([]byte, error) {
	return o.append(dst, version3)
}

// AppendV1 appends the object in version 1, which drops the fields that
// the others added. It fails as Append does.
func (o Object) AppendV1(dst []byte) ([]byte, error) {
	return o.append(dst, version1)
}

func (o Object) append(dst []byte, version byte) ([]byte, error) {
	b, err := o.appendHead(dst, version)
	if err != nil {
		return dst, fmt.Errorf("cannot encode %.200q: %w", o.URL, err)
	}
	return append(b, o.Data...), nil
}

// appendHead appends all that stands before the data.
func (o Object) appendHead(dst []byte, version byte) ([]byte, error) {
	start := len(dst)
	mime := strings.ToValidUTF8(o.MIME, "\uFFFD")
	cost := o.Cost / time.Millisecond
	if err := checkURL(o.URL); err != nil {
		return nil, err
	}
	if err := checkShort("MIME type", len(mime)); err != nil {
		return nil, err
	}
	if err := checkShort("URL", len(o.URL)); err != nil {
		return nil, err
	}
	if cost < 0 || cost > math.MaxUint32 {
		return nil, fmt.Errorf("web object: download cost %s is not between 0 and 49 days", o.Cost)
	}
	if len(o.Data) > MaxSize {
		return nil, fmt.Errorf("web object: data has %d bytes, at most %d fit", len(o.Data), MaxSize)
	}
	b := append(dst, objectMagic...)
	b = append(b, version)
	b = binary.BigEndian.AppendUint16(b, uint16(len(mime)))
	b = binary.BigEndian.AppendUint16(b, uint16(len(o.URL)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(o.Data)))
	b = binary.BigEndian.AppendUint32(b, uint32(cost))
	b = appendTime(b, o.Downloaded)
	b = appendTime(b, o.Expires)
	b = append(b, mime...)
	b = append(b, o.URL...)
	if version == version3 {
		var err error
		if b, err = o.appendAdded(b, start); err != nil {
			return nil, err
		}
	}
	if size := len(b) - start + len(o.Data); size > MaxSize {
		return nil, fmt.Errorf("web object: it has %d bytes, at most %d fit", size, MaxSize)
	}
	return b, nil
}

// appendAdded appends what version 3 adds, led by its size and ended by the
// CRC-32 of the object, which begins at objectStart, up to there.
func (o Object) appendAdded(b []byte, objectStart int) ([]byte, error) {
	hash := sha256.Sum256(o.Data)
	if o.Hash != [32]byte{} && o.Hash != hash {
		return nil, errors.New("web object: the data is not that of the hash")
	}
	address, err := o.Address.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("web object: address: %w", err)
	}
	b = append(b, 0, 0)
	start := len(b)
	b = binary.BigEndian.AppendUint16(b, o.Status)
	b = append(b, hash[:]...)
	b = binary.AppendUvarint(b, o.Version.Epoch)
	b = binary.AppendUvarint(b, o.Version.Token)
	b = appendString(b, string(address))
	b = appendStrings(b, o.Collections)
	b = appendStrings(b, o.Redirects)
	b = binary.AppendUvarint(b, uint64(len(o.Header)))
	for _, field := range o.Header {
		b = appendText(b, field.Name)
		b = appendText(b, field.Value)
	}
	size := len(b) + crc32.Size - start
	if err := checkShort("status, header, redirects and collections together", size); err != nil {
		return nil, err
	}
	binary.BigEndian.PutUint16(b[start-2:], uint16(size))
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[objectStart:])), nil
}

func checkShort(what string, size int) error {
	if size > math.MaxUint16 {
		return fmt.Errorf("web object: %s: %d bytes, at most %d fit", what, size, math.MaxUint16)
	}
	return nil
}

func appendTime(b []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(t.UnixMilli()))
}

func appendStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendText(b, s)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return appendString(b, strings.ToValidUTF8(s, "\uFFFD"))
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}
