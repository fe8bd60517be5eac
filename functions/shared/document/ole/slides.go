package ole

import (
	"errors"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/markup"
)

// Records of a PowerPoint file that are read ([MS-PPT] 2.13.24).
const (
	master      = 0x03F8
	handout     = 0x0FC9
	slideList   = 0x0FF0 // the outline of slides, notes or masters
	textHeader  = 0x0F9F
	textWide    = 0x0FA0
	textNarrow  = 0x0FA8
	listMasters = 1 // instance of slideList
	recordSize  = 8
	containerOf = 0xF // version of a record that holds records
)

// slides reads the text of every slide. Each record is a header (version and
// instance u16, type u16, size u32) and its content.
func (c *compound) slides() ([]byte, error) {
	file := c.stream("PowerPoint Document")
	if len(file) < recordSize {
		return nil, errors.New("the presentation is empty")
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
			writeLines(&w, wide(content), heading)
		case kind == textNarrow:
			writeLines(&w, narrow(content), heading)
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
