package ole

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/text/encoding/charmap"
)

var windows1252 = charmap.Windows1252

// The media types of compound files.
const (
	DOC   = "application/msword"
	PPT   = "application/vnd.ms-powerpoint"
	XLS   = "application/vnd.ms-excel" // not read
	Other = "application/x-ole-storage"
)

// Is reports whether a media type is of a document that is read.
func Is(media string) bool { return media == DOC || media == PPT }

// Type returns the media type of a compound file, or "" if it is none.
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

// HTML returns what a document says. It fails where there is nothing that it
// can read, as in documents that need a password.
func HTML(data []byte) ([]byte, error) {
	c, err := open(data)
	if err != nil {
		return nil, fmt.Errorf("cannot read document: %w", err)
	}
	var page []byte
	switch c.media() {
	case DOC:
		page, err = c.word()
	case PPT:
		page, err = c.slides()
	default:
		err = errors.New("the compound file holds none that is known")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read document: %w", err)
	}
	return page, nil
}
