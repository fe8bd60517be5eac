package export

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"
	"path"
	"strings"
	"time"
)

// wacz is a target that is a WACZ file (specs.webrecorder.net/wacz/1.1.1):
//
//	archive/data.warc.gz        the file that the format warc writes, not compressed again
//	pages/pages.jsonl           address, time and title of the pages that have text
//	indexes/index.cdx.gz        a line of CDXJ for each page, sorted
//	indexes/index.idx           a line for each member of index.cdx.gz
//	datapackage.json            size and SHA-256 of each member above
//	datapackage-digest.json     SHA-256 of datapackage.json
//
// Pages are written to the WARC in its final place in the zip file. At the same time a line
// for each page is added to a temporary file, PATH.part.pages. At the end the other members
// are made from these lines.
type wacz struct {
	file
	at    time.Time // moment of the export; pages are exported as they were then
	head  int64     // offset of the WARC in the zip file
	pages *os.File  // the open temporary file PATH.part.pages; pages are added to it through w.list
	list  *bufio.Writer
}

// capture describes a page. The list PATH.part.pages has it as a line of JSON.
type capture struct {
	URL    string    `json:"url"`
	Time   time.Time `json:"time"`
	MIME   string    `json:"mime"`
	Status int       `json:"status"`
	Digest string    `json:"digest"` // SHA-1 of the page, as "sha1:" and base 32
	Offset int64     `json:"offset"` // offset of the page's record in the WARC, in bytes
	Length int64     `json:"length"`
	Title  string    `json:"title"`
	Text   bool      `json:"text"` // the page has text
}

const dataName = "archive/data.warc.gz"

// beginWACZ returns the first bytes of a WACZ file: the zip header of its first member, which is
// the WARC, and the WARC's first record. Both are dated with the parameter at.
func beginWACZ(at time.Time) ([]byte, error) {
	head, err := waczHead(at)
	if err != nil {
		return nil, err
	}
	info, err := warcInfo(at)
	return append(head, info...), err
}

// waczHead returns the zip header of a WACZ file's first member, the WARC.
func waczHead(at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	_, err := z.CreateHeader(&zip.FileHeader{Name: dataName, Method: zip.Store, Modified: at.UTC()})
	err = errors.Join(err, z.Flush())
	return b.Bytes(), err
}

func (w *wacz) listPath() string { return w.path + ".part.pages" }

// begin implements target. The parameter size is the number of bytes that an earlier run has
// written and this run keeps; 0 for a new file. In the list PATH.part.pages, begin keeps only the
// pages whose records lie within these bytes.
func (w *wacz) begin(at time.Time, size int64) error {
	head, err := waczHead(at)
	if err != nil {
		return err
	}
	w.at, w.head = at, int64(len(head))
	if err := w.file.begin(at, size); err != nil {
		return err
	}
	if w.pages, err = os.OpenFile(w.listPath(), os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return err
	}
	end := int64(0) // end of the lines on pages that are in the file
	for line, err := range linesOf(w.pages) {
		var c capture
		if err != nil || json.Unmarshal(line, &c) != nil || w.head+c.Offset+c.Length > size {
			break
		}
		end += int64(len(line))
	}
	was, err := w.pages.Stat()
	if err == nil && was.Size() > end {
		err = w.pages.Truncate(end)
	}
	if err != nil {
		return err
	}
	_, err = w.pages.Seek(end, io.SeekStart)
	w.list = bufio.NewWriterSize(w.pages, 1<<20)
	return err
}

// linesOf yields the lines of a file from its beginning, each with its line feed. The bytes of a
// line are valid only until the next line is yielded. A line longer than 1 MiB is an error.
func linesOf(f *os.File) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReaderSize(io.NewSectionReader(f, 0, 1<<62), 1<<20)
		for {
			line, err := in.ReadSlice('\n')
			if errors.Is(err, io.EOF) && len(line) == 0 || !yield(line, err) || err != nil {
				return
			}
		}
	}
}

func (w *wacz) write(r *Record, content []byte) error {
	o := &r.object
	mime, _, _ := strings.Cut(o.MIME, ";")
	line, err := json.Marshal(capture{
		URL: o.URL, Time: r.Fetched, MIME: strings.TrimSpace(mime), Status: statusOf(o), Digest: digest(o.Data),
		Offset: w.size - w.head, Length: int64(len(content)), Title: r.Title, Text: r.Text != "",
	})
	if err != nil {
		return err
	}
	if _, err := w.list.Write(append(line, '\n')); err != nil {
		return err
	}
	return w.file.write(r, content)
}

func (w *wacz) save() (int64, error) {
	if err := errors.Join(w.list.Flush(), w.pages.Sync()); err != nil {
		return 0, err
	}
	return w.file.save()
}

// end implements target. The member with the WARC file is complete by now: end writes the members
// that follow it, and the central directory of the zip file.
func (w *wacz) end() error {
	size, err := w.save()
	if err != nil {
		return err
	}
	z := waczWriter{zip: zip.NewWriter(&behind{w.out, size}), at: w.at.UTC()}
	blocks := []byte(idxBegin)
	for _, member := range []struct {
		name   string
		method uint16
		fill   func(io.Writer) error
	}{
		{dataName, zip.Store, func(out io.Writer) error {
			_, err := io.Copy(out, io.NewSectionReader(w.open, w.head, size-w.head))
			return err
		}},
		{"pages/pages.jsonl", zip.Deflate, w.writePages},
		{"indexes/" + cdxName, zip.Store, func(out io.Writer) (err error) {
			blocks, err = writeCDX(out, sortLines(w.cdxLines(), w.path+".part.sort", maxSorted), blocks)
			return err
		}},
		{"indexes/index.idx", zip.Deflate, func(out io.Writer) error { _, err := out.Write(blocks); return err }},
	} {
		if err := z.add(member.name, member.method, member.fill); err != nil {
			return err
		}
	}
	if err := z.close(); err != nil {
		return err
	}
	if err := w.finish(); err != nil {
		return err
	}
	return errors.Join(w.pages.Close(), os.Remove(w.listPath()))
}

// captures yields the pages that are listed in PATH.part.pages.
func (w *wacz) captures() iter.Seq2[capture, error] {
	return func(yield func(capture, error) bool) {
		for line, err := range linesOf(w.pages) {
			var c capture
			if err == nil {
				err = json.Unmarshal(line, &c)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// writePages writes the content of pages/pages.jsonl: address, time and title of the pages with
// text.
func (w *wacz) writePages(out io.Writer) error {
	if _, err := io.WriteString(out, `{"format":"json-pages-1.0","id":"pages","title":"All pages"}`+"\n"); err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for c, err := range w.captures() {
		if err == nil && c.Text {
			err = encoder.Encode(struct {
				ID    string `json:"id"`
				URL   string `json:"url"`
				Time  string `json:"ts"`
				Title string `json:"title,omitempty"`
			}{hashOf(c.URL), c.URL, c.Time.Format(time.RFC3339), c.Title})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cdxLines yields the lines of index.cdx.gz, unsorted.
func (w *wacz) cdxLines() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for c, err := range w.captures() {
			line := ""
			if err == nil {
				line, err = c.cdxLine(path.Base(dataName))
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// waczWriter writes the members of a WACZ file, and at the end their digests.
type waczWriter struct {
	zip       *zip.Writer
	at        time.Time
	resources []resource // descriptions of the members written so far
}

// resource describes a member in datapackage.json (Data Package, "Data Resource").
type resource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// add writes a member of the zip file with a name and a compression method. The function fill
// writes the member's content.
func (z *waczWriter) add(name string, method uint16, fill func(io.Writer) error) error {
	member, err := z.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: z.at})
	if err != nil {
		return err
	}
	sum := summed{hash: sha256.New()}
	if err := fill(io.MultiWriter(member, &sum)); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	z.resources = append(z.resources, resource{path.Base(name), name, fmt.Sprintf("sha256:%x", sum.hash.Sum(nil)), sum.bytes})
	return nil
}

// close adds datapackage.json, which describes all members, and its digest, and writes the
// directory of the zip file.
func (z *waczWriter) close() error {
	described, err := json.MarshalIndent(struct {
		Profile   string     `json:"profile"`
		Version   string     `json:"wacz_version"`
		Software  string     `json:"software"`
		Created   string     `json:"created"`
		Resources []resource `json:"resources"`
	}{"data-package", "1.1.1", "bucketsearch", z.at.Format(time.RFC3339), z.resources}, "", "  ")
	if err != nil {
		return err
	}
	const name = "datapackage.json"
	digested, err := json.Marshal(struct {
		Path string `json:"path"`
		Hash string `json:"hash"`
	}{name, fmt.Sprintf("sha256:%x", sha256.Sum256(described))})
	if err != nil {
		return err
	}
	return errors.Join(z.add(name, zip.Deflate, func(out io.Writer) error { _, err := out.Write(described); return err }),
		z.add("datapackage-digest.json", zip.Deflate, func(out io.Writer) error { _, err := out.Write(digested); return err }),
		z.zip.Close())
}

// summed is a writer that counts and hashes the bytes written to it.
type summed struct {
	hash  hash.Hash
	bytes int64
}

func (s *summed) Write(b []byte) (int, error) {
	s.bytes += int64(len(b))
	return s.hash.Write(b)
}

// behind is a writer that drops the first bytes that it is given, and writes the rest to another
// writer. A zip.Writer can complete a file in this way: it writes the whole file from the beginning,
// and behind drops those bytes that the file already has.
type behind struct {
	out   io.Writer
	bytes int64 // number of bytes that Write has still to drop
}

func (w *behind) Write(b []byte) (int, error) {
	have := min(w.bytes, int64(len(b)))
	w.bytes -= have
	n, err := w.out.Write(b[have:])
	return int(have) + n, err
}
