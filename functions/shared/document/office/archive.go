// Package office reads office documents that are XML in zip archives: DOCX,
// PPTX and XLSX (ECMA-376), ODT, ODS and ODP (OpenDocument 1.3), EPUB (3.3).
//
// It returns HTML with the same content: the text in reading order, headings where the
// format marks them, links, and the title, language and last change of the document's properties.
// Hidden and deleted text, comments, headers and footers are left out. The result
// depends only on the document's bytes. Functions are safe for concurrent use.
package office

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/markup"
)

// Limits of a document. A document with more members is refused; beyond the other limits it
// is cut.
const (
	MaxMembers = 10_000   // greatest number of members of the archive
	MaxMember  = 16 << 20 // greatest size of one member, decompressed, in bytes
	MaxTotal   = 32 << 20 // greatest sum of the sizes of all members that are read, decompressed, in bytes
	maxStrings = 1 << 20  // greatest number of shared strings of a spreadsheet
)

// archive reads the members of a zip file, within limits.
type archive struct {
	members map[string]*zip.File
	left    int64 // bytes that may still be decompressed
	cut     bool  // whether a member, or the list of shared strings, was cut at its limit
}

func open(data []byte) (*archive, error) {
	// Before the directory is read, which takes ten times its size.
	if n := bytes.Count(data, []byte("PK\x01\x02")); n > MaxMembers {
		return nil, fmt.Errorf("zip of %d members, want at most %d", n, MaxMembers)
	}
	reader, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	a := &archive{members: make(map[string]*zip.File, len(reader.File)), left: MaxTotal}
	for _, f := range reader.File {
		if _, found := a.members[f.Name]; !found {
			a.members[f.Name] = f
		}
	}
	return a, nil
}

// read returns the content of the named member, cut to MaxMember bytes. It is cut earlier if the
// members that were read would together exceed MaxTotal. The content of a missing member is empty;
// that of a damaged member is the part before the damage.
func (a *archive) read(name string) []byte {
	f, found := a.members[name]
	if !found {
		return nil
	}
	r, err := f.Open()
	if err != nil {
		return nil
	}
	defer r.Close()
	limit := min(MaxMember, a.left)
	content, _ := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(content)) > limit {
		content, a.cut = content[:limit], true
	}
	a.left -= int64(len(content))
	return bytes.TrimPrefix(content, []byte("\xEF\xBB\xBF"))
}

// resolve returns the name of the member to which a reference leads. The parameter from is the name
// of the member that has the reference: "../media/a.png" in "word/document.xml" leads to
// "media/a.png".
func resolve(from, reference string) string {
	reference, _, _ = strings.Cut(reference, "#")
	if rooted, is := strings.CutPrefix(reference, "/"); is {
		return path.Clean(rooted)
	}
	return path.Join(path.Dir(from), reference)
}

// The media types of the documents that this package reads.
const (
	DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	ODT  = "application/vnd.oasis.opendocument.text"
	ODS  = "application/vnd.oasis.opendocument.spreadsheet"
	ODP  = "application/vnd.oasis.opendocument.presentation"
	EPUB = "application/epub+zip"
)

// Is reports whether this package reads documents of a media type.
func Is(media string) bool {
	switch media {
	case DOCX, PPTX, XLSX, ODT, ODS, ODP, EPUB:
		return true
	}
	return false
}

// Type returns the media type of a document, or "" if this package does not read it.
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
	// A template is read as a document of its kind.
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

// HTML converts a document to HTML. It fails if the archive cannot be opened or holds no
// document of a known kind.
func HTML(data []byte) (page markup.Page, err error) {
	a, err := open(data)
	if err != nil {
		return page, fmt.Errorf("cannot read office document: %w", err)
	}
	switch a.media() {
	case DOCX:
		page = a.word()
	case PPTX:
		page = a.presentation()
	case XLSX:
		page = a.spreadsheet()
	case ODT, ODS, ODP:
		page = a.openDocument()
	case EPUB:
		page = a.book()
	default:
		return page, errors.New("cannot read office document: the archive holds none that is known")
	}
	if a.cut {
		page.Omit(fmt.Sprintf("parts of the archive beyond %d MiB, %d MiB in all, or %d shared texts of cells", MaxMember>>20, MaxTotal>>20, maxStrings))
	}
	return page, nil
}

// relation is a reference from one part of an ECMA-376 document to another, or to a web address
// (ECMA-376, Part 2, 6.5). A part is a member of the archive.
type relation struct {
	kind   string // type of the relation, such as "hyperlink": the last part of the URL in the attribute Type
	target string // name of a member of the archive, or a web address if external
}

// relationTable holds the relations of a part. The field all has them in the order of the archive.
// The field byID maps the id of a relation to its index in all.
type relationTable struct {
	all  []relation
	byID map[string]int
}

// relations returns the relations of the part with the given name, or those of the whole document
// if part is "".
func (a *archive) relations(part string) relationTable {
	found := relationTable{byID: map[string]int{}}
	directory, name := path.Split(part)
	for s := markup.NewScanner(a.read(directory + "_rels/" + name + ".rels")); s.Next(); {
		if s.Kind != markup.Start || s.Name != "relationship" {
			continue
		}
		r := relation{path.Base(s.Attribute("type")), s.Attribute("target")}
		if !strings.EqualFold(s.Attribute("targetmode"), "external") {
			r.target = resolve(part, r.target)
		}
		found.byID[s.Attribute("id")] = len(found.all)
		found.all = append(found.all, r)
	}
	return found
}

// target returns the target of the relation with the given id; "" if there is no such relation.
func (r relationTable) target(id string) string {
	if i, found := r.byID[id]; found {
		return r.all[i].target
	}
	return ""
}

func (r relationTable) of(kind string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, one := range r.all {
			if one.kind == kind && !yield(one.target) {
				return
			}
		}
	}
}

// main returns the name of the main part of an ECMA-376 document, such as "word/document.xml"; ""
// if the archive has none.
func (a *archive) main() string {
	for part := range a.relations("").of("officeDocument") {
		return part
	}
	return ""
}

// copyText writes the text that follows the scanner's position, up to the next tag. This is the end
// tag of the current element, or a tag inside of the element. The scanner then stands at this tag.
func copyText(w *markup.Writer, s *markup.Scanner) {
	for s.Next() && s.Kind == markup.Text {
		w.Text(s.Text())
	}
}

// properties are the Dublin Core properties of a document.
type properties struct{ title, language, modified string }

// properties returns the first title, the first language and the first time of the last change (Dublin
// Core: modified, or date) in the named member of the archive.
func (a *archive) properties(part string) (p properties) {
	for s := markup.NewScanner(a.read(part)); s.Next(); {
		if s.Kind != markup.Start {
			continue
		}
		switch s.Name {
		case "title":
			p.title = cmp.Or(p.title, s.Inner())
		case "language":
			p.language = cmp.Or(p.language, s.Inner())
		case "modified", "date":
			p.modified = cmp.Or(p.modified, s.Inner())
		case "manifest", "spine": // of an EPUB's package
			return p
		}
	}
	return p
}

// web returns a reference if it is a web address, else "".
func web(reference string) string {
	reference = strings.TrimSpace(reference)
	if i := strings.Index(reference, "://"); i > 0 && (strings.EqualFold(reference[:i], "http") || strings.EqualFold(reference[:i], "https")) {
		return reference
	}
	return ""
}
