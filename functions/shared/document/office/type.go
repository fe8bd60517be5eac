package office

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// The media types of the documents that are read.
const (
	DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	ODT  = "application/vnd.oasis.opendocument.text"
	ODS  = "application/vnd.oasis.opendocument.spreadsheet"
	ODP  = "application/vnd.oasis.opendocument.presentation"
	EPUB = "application/epub+zip"
)

// Is reports whether a media type is of a document that is read.
func Is(media string) bool {
	switch media {
	case DOCX, PPTX, XLSX, ODT, ODS, ODP, EPUB:
		return true
	}
	return false
}

// Type returns the media type of a document, or "" if it is none that is read.
func Type(data []byte) string {
	if !bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return ""
	}
	a, err := open(data)
	if err != nil {
		return ""
	}
	return a.media()
}

func (a *archive) media() string {
	// A template is read as what it makes.
	said := strings.TrimSuffix(strings.TrimSpace(string(a.read("mimetype"))), "-template")
	if Is(said) {
		return said
	}
	switch part := a.main(); {
	case strings.HasPrefix(part, "word/"):
		return DOCX
	case strings.HasPrefix(part, "ppt/"):
		return PPTX
	case strings.HasPrefix(part, "xl/") && !strings.HasSuffix(part, ".bin"):
		return XLSX
	}
	return ""
}

// HTML returns what a document says. It fails where the archive cannot be
// opened or holds no document that is read.
func HTML(data []byte) ([]byte, error) {
	a, err := open(data)
	if err != nil {
		return nil, fmt.Errorf("cannot read office document: %w", err)
	}
	switch a.media() {
	case DOCX:
		return a.word(), nil
	case PPTX:
		return a.presentation(), nil
	case XLSX:
		return a.spreadsheet(), nil
	case ODT, ODS, ODP:
		return a.openDocument(), nil
	case EPUB:
		return a.book(), nil
	}
	return nil, errors.New("cannot read office document: the archive holds none that is known")
}
