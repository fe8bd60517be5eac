package ole

import (
	"errors"
	"strconv"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/markup"
)

// Offsets of fields in the header of a Word file, and flags in the field at wordFlags
// ([MS-DOC] 2.5.1 to 2.5.6).
const (
	wordFlags      = 0x0A
	flagEncrypted  = 0x0100
	flagTable1     = 0x0200 // flag: the list of text pieces is in the stream 1Table, not in 0Table
	wordTextLength = 0x4C   // offset of the length of the main text (without notes and headers) in characters
	// offset of two u32 about the list of text pieces: where it begins in the stream 0Table or 1Table,
	// and its size in bytes
	wordPieces     = 0x01A2
	wordHeaderSize = 0x01AA
)

func (c *compound) word() (page markup.Page, err error) {
	file := c.stream("WordDocument")
	if len(file) < wordHeaderSize || little.Uint16(file) != 0xA5EC {
		return page, errors.New("not a file of Word 97 or later")
	}
	flags := little.Uint16(file[wordFlags:])
	if flags&flagEncrypted != 0 {
		return page, errors.New("it needs a password")
	}
	table := c.stream("0Table")
	if flags&flagTable1 != 0 {
		table = c.stream("1Table")
	}
	place, size := uint64(little.Uint32(file[wordPieces:])), uint64(little.Uint32(file[wordPieces+4:]))
	if place+size > uint64(len(table)) {
		return page, errors.New("the list of its pieces is missing")
	}
	var w markup.Writer
	text, cut := textPieces(file, table[place:place+size], little.Uint32(file[wordTextLength:]))
	writeFields(&w, text)
	if page = w.Page("", ""); cut {
		page.Omit("text beyond " + strconv.Itoa(markup.MaxBytes>>20) + " MiB")
	}
	return page, nil
}

// textPieces returns the first characters of a Word file's text. The parameter length is their
// number. The text lies in the file in n pieces. The list of pieces ([MS-DOC] 2.9.38 and 2.9.178)
// holds, in this order:
//
//	property changes   they are skipped
//	n + 1 times u32    number of the first character of each piece; then the end of the last piece
//	n times 8 bytes    bytes 2 to 5: offset of each piece in the file
//
// The result cut is true if the text was cut, at about markup.MaxBytes.
func textPieces(file, list []byte, length uint32) (joined string, cut bool) {
	for len(list) > 3 && list[0] == 1 {
		list = list[min(3+int(little.Uint16(list[1:])), len(list)):]
	}
	if len(list) < 5 || list[0] != 2 {
		return "", false
	}
	list = list[5:]
	count := (len(list) - 4) / 12
	var text strings.Builder
	for i := range count {
		if text.Len() >= markup.MaxBytes {
			return text.String(), true
		}
		from, to := little.Uint32(list[4*i:]), little.Uint32(list[4*i+4:])
		if from >= to || from >= length {
			continue
		}
		place := little.Uint32(list[4*(count+1)+8*i+2:])
		text.WriteString(piece(file, place, uint64(min(to, length)-from)))
	}
	return text.String(), false
}

// piece returns the text of a piece with the given number of characters. The parameter place holds
// the offset of the piece in the file, and a bit that is set if each character has one byte instead
// of two.
func piece(file []byte, place uint32, characters uint64) string {
	const compressed = 1 << 30
	start, size, decode := uint64(place), 2*characters, markup.UTF16
	if place&compressed != 0 {
		start, size, decode = uint64(place&^compressed)/2, characters, narrowed
	}
	if start >= uint64(len(file)) {
		return ""
	}
	return decode(file[start:min(start+size, uint64(len(file)))])
}

// writeFields writes the text of a Word file, in which control characters end lines and
// enclose fields. A field has an instruction and a result; only the result is written, as
// a link if the instruction is HYPERLINK ([MS-DOC] 2.8.25).
func writeFields(w *markup.Writer, text string) {
	const begin, separate, end = 0x13, 0x14, 0x15
	hidden := 0 // number of instructions of nested fields in which the text is
	start := 0
	flush := func(to int) {
		if hidden == 0 {
			w.Text(text[start:to])
		}
		start = to + 1
	}
	var fields []bool // for each open field: its instruction has not ended yet
	for i := range len(text) {
		c := text[i]
		if c >= ' ' {
			continue
		}
		switch {
		case c == begin:
			flush(i)
			fields = append(fields, true)
			hidden++
		case c == separate && len(fields) > 0 && fields[len(fields)-1]:
			if hidden == 1 {
				w.Link(hyperlink(text[start:i]))
			}
			start = i + 1
			fields[len(fields)-1] = false
			hidden--
		case c == end && len(fields) > 0:
			flush(i)
			if fields[len(fields)-1] {
				hidden--
			}
			fields = fields[:len(fields)-1]
			w.EndLink()
		case c == '\r', c == '\f', c == '\v', c == '\a', c == '\n':
			flush(i)
			w.Break()
		default:
			flush(i)
			if c == '\t' {
				w.Text(" ")
			}
		}
	}
	flush(len(text))
}

// hyperlink returns the address in the instruction of a field, such as HYPERLINK "http://a/", or
// "".
func hyperlink(instruction string) string {
	rest, is := strings.CutPrefix(strings.TrimSpace(instruction), "HYPERLINK ")
	if !is {
		return ""
	}
	_, rest, _ = strings.Cut(rest, `"`)
	address, _, _ := strings.Cut(rest, `"`)
	if !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://") {
		return ""
	}
	return address
}

// Values in the headers of records of a PowerPoint file. By these values the method slides finds
// the records with text. A value without a comment is a type of record ([MS-PPT] 2.13.24).
const (
	master      = 0x03F8
	handout     = 0x0FC9
	slideList   = 0x0FF0 // type of a record with a list of slides, of notes or of masters, with their text
	textHeader  = 0x0F9F
	textWide    = 0x0FA0
	textNarrow  = 0x0FA8
	listMasters = 1   // instance number of a slideList record that lists masters, not slides or notes
	recordSize  = 8   // bytes of a record's header
	containerOf = 0xF // version in the header of a container: a record whose content is other records
)

// slides reads the text of every slide. The file is a sequence of records, each with a
// header (version and instance u16, type u16, size u32) and its content. Masters and
// handouts are left out.
func (c *compound) slides() (page markup.Page, err error) {
	file := c.stream("PowerPoint Document")
	if len(file) < recordSize {
		return page, errors.New("the presentation is empty")
	}
	var w markup.Writer
	heading := false
	for len(file) >= recordSize && !w.Full() {
		version, kind := little.Uint16(file), little.Uint16(file[2:])
		size := min(uint64(little.Uint32(file[4:])), uint64(len(file)-recordSize))
		inside := file[recordSize:]
		content := inside[:size]
		file = inside[size:]
		switch {
		case kind == master, kind == handout, kind == slideList && version>>4 == listMasters:
		case version&0xF == containerOf:
			file = inside
		case kind == textHeader && len(content) >= 4:
			use := little.Uint32(content)
			heading = use == 0 || use == 6 // title, centred title
		case kind == textWide:
			writeLines(&w, markup.UTF16(content), heading)
		case kind == textNarrow:
			writeLines(&w, narrowed(content), heading)
		}
	}
	return w.Page("", ""), nil
}

func writeLines(w *markup.Writer, text string, heading bool) {
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\r' || r == '\v' || r == '\n' }) {
		if line = strings.TrimSpace(line); line == "*" || line == "" { // the place of a number or date
			continue
		}
		if heading {
			w.Heading(1)
		}
		w.Text(line)
		w.Break()
	}
}
