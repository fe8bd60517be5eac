package export

import (
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// compressors are gzip writers for reuse, because they take much memory.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// warcRecord returns a WARC record (WARC 1.1, 4), compressed as one gzip member (annex D). The
// parameter kind is its type, such as "response". The parameter fields are those lines of its
// header that not every record has; warcRecord adds the others. The parameter block is its content.
func warcRecord(kind string, at time.Time, fields []string, block []byte) ([]byte, error) {
	var b bytes.Buffer
	z := compressors.Get().(*gzip.Writer)
	defer compressors.Put(z)
	z.Reset(&b)
	head := append([]string{
		"WARC/1.1", "WARC-Type: " + kind, "WARC-Record-ID: " + recordID(kind, at.Format(time.RFC3339Nano), strings.Join(fields, "\n"), string(block)),
		"WARC-Date: " + at.UTC().Format("2006-01-02T15:04:05.000Z"), "WARC-Block-Digest: " + digest(block),
	}, fields...)
	head = append(head, fmt.Sprintf("Content-Length: %d", len(block)), "", "")
	for _, part := range [][]byte{[]byte(strings.Join(head, "\r\n")), block, []byte("\r\n\r\n")} {
		if _, err := z.Write(part); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// recordID returns a WARC-Record-ID: a UUID that is a hash of the given parts of the record (RFC
// 9562, 5.5). So the record of a page has the same id in every export.
func recordID(parts ...string) string {
	id := sha1.Sum([]byte(strings.Join(parts, "\n")))
	id[6], id[8] = id[6]&0x0F|0x50, id[8]&0x3F|0x80
	return fmt.Sprintf("<urn:uuid:%x-%x-%x-%x-%x>", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

// digest returns the SHA-1 of the bytes as WARC fields have it: "sha1:" and base 32.
func digest(b []byte) string {
	sum := sha1.Sum(b)
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

// warcInfo returns the first record of a WARC file, which describes the file.
func warcInfo(at time.Time) ([]byte, error) {
	return warcRecord("warcinfo", at, []string{"Content-Type: application/warc-fields"},
		[]byte("software: bucketsearch\r\nformat: WARC File Format 1.1\r\n"))
}

// warcResponse returns a record with the HTTP response by which a page was fetched. Its
// body is the page as stored, without the compression of the transfer. So the original
// fields for encodings and length get the prefix X-Archive-Orig-.
func warcResponse(r *Record) ([]byte, error) {
	o := &r.object
	var block bytes.Buffer
	status := statusOf(o)
	fmt.Fprintf(&block, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	typed := false
	for _, f := range o.Header {
		name := http.CanonicalHeaderKey(oneLine(f.Name))
		switch name {
		case "Content-Encoding", "Transfer-Encoding", "Content-Length":
			name = "X-Archive-Orig-" + name
		case "Content-Type":
			typed = true
		}
		fmt.Fprintf(&block, "%s: %s\r\n", name, oneLine(f.Value))
	}
	if !typed && o.MIME != "" {
		fmt.Fprintf(&block, "Content-Type: %s\r\n", oneLine(o.MIME))
	}
	fmt.Fprintf(&block, "Content-Length: %d\r\n\r\n", len(o.Data))
	block.Write(o.Data)
	fields := []string{"WARC-Target-URI: " + o.URL, "WARC-Payload-Digest: " + digest(o.Data), "Content-Type: application/http;msgtype=response"}
	if o.Address.IsValid() {
		fields = append(fields, "WARC-IP-Address: "+o.Address.WithZone("").String())
	}
	return warcRecord("response", o.Downloaded, fields, block.Bytes())
}

// statusOf returns the HTTP status of a page. For a Web object of version 1, which does not record
// the status, it is 200.
func statusOf(o *webobject.Object) int {
	if o.Status == 0 { // of a Web object of version 1, which is always of an answer with a page
		return http.StatusOK
	}
	return int(o.Status)
}

// oneLine replaces line breaks by spaces.
func oneLine(s string) string { return strings.NewReplacer("\r", " ", "\n", " ").Replace(s) }
