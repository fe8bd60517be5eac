// Package ole reads office documents from before 2007: Word (DOC) and PowerPoint (PPT)
// files, which are streams in an OLE compound file.
//
// It returns HTML with the same content: the text in its stored order, links from Word's
// fields, titles of slides as headings, without formatting. The result depends only on
// the document's bytes. Functions are safe for concurrent use.
//
//	compound file [MS-CFB], all numbers little-endian
//	┌────────────┬──────────┬──────────┬─────┐
//	│ header 512 │ sector 0 │ sector 1 │ …   │  sectors of 512 or 4096 bytes
//	└────────────┴──────────┴──────────┴─────┘
//	header         numbers of the sectors that hold the sector table; first sectors of the
//	               directory and of the table of small sectors
//	sector table   for each sector, the number of the next sector of the same stream
//	directory      entries of 128 bytes: name, kind, first sector, size
//	small sectors  have 64 bytes, and hold the streams below 4096 bytes; the stream of the
//	               directory's root entry is all small sectors, one after another
package ole

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/markup"
)

// Limits of a file. Data beyond them is left out.
const (
	MaxStream  = 32 << 20 // greatest size of one stream, in bytes; the rest is cut off
	MaxEntries = 10_000   // greatest number of entries of the directory
)

// Magic is the beginning of every compound file.
const Magic = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"

const (
	headerSize  = 512
	entrySize   = 128
	smallSector = 64
	smallStream = 4096       // size in bytes below which a stream lies in small sectors
	lastSector  = 0xFFFFFFFA // least number that stands for no sector, but is a mark such as the end of a chain
)

var little = binary.LittleEndian

// compound is an open compound file.
type compound struct {
	data      []byte
	sector    int      // size of a sector in bytes
	next      []uint32 // for each sector, the number of the next one in its chain
	nextSmall []uint32 // for each small sector of 64 bytes, the number of the next one in its chain
	small     []byte   // contents of all small sectors
	directory map[string]entry
	cut       bool // whether a stream was longer than MaxStream
}

type entry struct {
	first uint32
	size  uint64
}

var errBroken = errors.New("broken compound file")

func open(data []byte) (*compound, error) {
	if len(data) < headerSize || !bytes.HasPrefix(data, []byte(Magic)) {
		return nil, errors.New("no compound file")
	}
	shift := little.Uint16(data[30:])
	if shift != 9 && shift != 12 {
		return nil, errBroken
	}
	c := &compound{data: data, sector: 1 << shift, directory: map[string]entry{}}
	c.readTable()
	c.readDirectory(c.chain(little.Uint32(data[48:]), entrySize*MaxEntries))
	c.nextSmall = numbers(c.chain(little.Uint32(data[60:]), len(data)))
	if root, found := c.directory["Root Entry"]; found {
		c.small = c.chain(root.first, len(data))
	}
	return c, nil
}

// at returns the content of the sector with the number n: less than a whole sector at the end of
// the file, and nil if there is no such sector.
func (c *compound) at(n uint32) []byte {
	if n >= lastSector {
		return nil
	}
	start := (int64(n) + 1) * int64(c.sector)
	if start >= int64(len(c.data)) {
		return nil
	}
	return c.data[start:min(start+int64(c.sector), int64(len(c.data)))]
}

// readTable reads the table that has, for each sector, the number of the next one in its chain. The
// table itself is stored in sectors: the header has the numbers of the first 109 of them, and a
// chain of further sectors has the numbers of the others.
func (c *compound) readTable() {
	names := numbers(c.data[76:headerSize])
	more := little.Uint32(c.data[68:])
	for range len(c.data)/c.sector + 1 {
		for _, n := range names {
			if table := c.at(n); table != nil && len(c.next)*4 < len(c.data) {
				c.next = append(c.next, numbers(table)...)
			}
		}
		sector := c.at(more)
		if len(sector) < c.sector {
			return
		}
		names = numbers(sector[:c.sector-4])
		more = little.Uint32(sector[c.sector-4:])
	}
}

// chain returns the content of the chain of sectors that begins with sector n, at most
// limit bytes.
func (c *compound) chain(n uint32, limit int) []byte {
	var content []byte
	for len(content) < limit {
		sector := c.at(n)
		if sector == nil {
			break
		}
		content = append(content, sector...)
		if int(n) >= len(c.next) {
			break
		}
		n = c.next[n]
	}
	return content[:min(len(content), limit)]
}

func (c *compound) smallChain(n uint32, limit int) []byte {
	var content []byte
	for len(content) < limit && int(n) < len(c.nextSmall) && (int(n)+1)*smallSector <= len(c.small) {
		content = append(content, c.small[int(n)*smallSector:][:smallSector]...)
		n = c.nextSmall[n]
	}
	return content[:min(len(content), limit)]
}

func (c *compound) readDirectory(content []byte) {
	for ; len(content) >= entrySize; content = content[entrySize:] {
		length := int(little.Uint16(content[64:]))
		if length < 2 || length > 64 {
			continue
		}
		name := markup.UTF16(content[:length-2])
		size := little.Uint64(content[120:])
		if c.sector == headerSize {
			size &= 0xFFFFFFFF // the upper half may be anything in this version
		}
		if _, found := c.directory[name]; !found {
			c.directory[name] = entry{little.Uint32(content[116:]), size}
		}
	}
}

// stream returns the content of the named stream, at most MaxStream bytes, or nil if there is no
// such stream.
func (c *compound) stream(name string) []byte {
	e, found := c.directory[name]
	if !found {
		return nil
	}
	c.cut = c.cut || min(e.size, uint64(len(c.data))) > MaxStream
	limit := int(min(e.size, MaxStream, uint64(len(c.data))))
	if e.size < smallStream {
		return c.smallChain(e.first, limit)
	}
	return c.chain(e.first, limit)
}

// numbers decodes 32-bit numbers, little-endian.
func numbers(b []byte) []uint32 {
	n := make([]uint32, len(b)/4)
	for i := range n {
		n[i] = little.Uint32(b[4*i:])
	}
	return n
}

// narrowed decodes windows-1252. PowerPoint stores a text in this charset if each of its
// characters fits into one byte.
func narrowed(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		s.WriteRune(windows1252.DecodeByte(c))
	}
	return s.String()
}

var windows1252 = charmap.Windows1252

// The media types of compound files.
const (
	DOC   = "application/msword"
	PPT   = "application/vnd.ms-powerpoint"
	XLS   = "application/vnd.ms-excel" // media type of Excel files, which this package cannot read
	Other = "application/x-ole-storage"
)

// Is reports whether this package reads documents of a media type.
func Is(media string) bool { return media == DOC || media == PPT }

// Type returns the media type of the document in a compound file: DOC, PPT, XLS, or Other for any
// other document and for a broken file. It returns "" if data is no compound file.
func Type(data []byte) string {
	if !bytes.HasPrefix(data, []byte(Magic)) {
		return ""
	}
	c, err := open(data)
	if err != nil {
		return Other
	}
	return c.media()
}

func (c *compound) media() string {
	for _, m := range []struct{ stream, media string }{
		{"WordDocument", DOC}, {"PowerPoint Document", PPT}, {"Workbook", XLS}, {"Book", XLS},
	} {
		if _, found := c.directory[m.stream]; found {
			return m.media
		}
	}
	return Other
}

// HTML converts a Word or PowerPoint document to HTML. It fails for any other file, and for a Word
// document that needs a password, is older than Word 97, or lacks the list of its text pieces.
func HTML(data []byte) (page markup.Page, err error) {
	c, err := open(data)
	if err != nil {
		return page, fmt.Errorf("cannot read document: %w", err)
	}
	switch c.media() {
	case DOC:
		page, err = c.word()
	case PPT:
		page, err = c.slides()
	default:
		err = errors.New("the compound file holds none that is known")
	}
	if err != nil {
		return page, fmt.Errorf("cannot read document: %w", err)
	}
	if c.cut {
		page.Omit(fmt.Sprintf("parts of the file beyond %d MiB", MaxStream>>20))
	}
	return page, nil
}
