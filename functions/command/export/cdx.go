package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// The index of a WARC file has one line of CDXJ (pywb) for each page, sorted by bytes:
//
//	org,example)/a?b=c 20261121220000 {"url":"https://example.org/a?b=c", …}
//
// It is written as ZipNum, two files: index.cdx.gz is a gzip file whose members have
// cdxBlock lines each, and index.idx has a line for each member, with its first key,
// offset, length and digest.

const (
	cdxName  = "index.cdx.gz"
	cdxBlock = 3000 // number of CDXJ lines in one gzip member of index.cdx.gz
	idxBegin = `!meta 0 {"format":"cdxj-gzip-1.0","filename":"` + cdxName + `"}` + "\n"
)

// cdxLine returns the line of CDXJ for a page: sort key, time, and JSON with the position of the
// page's record in a WARC file. The parameter warc is the name of this file. The line ends with a
// line feed.
func (c *capture) cdxLine(warc string) (string, error) {
	b := bytes.NewBufferString(surt(c.URL) + " " + c.Time.UTC().Format("20060102150405") + " ")
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(struct {
		URL      string `json:"url"`
		MIME     string `json:"mime"`
		Status   string `json:"status"`
		Digest   string `json:"digest"`
		Length   string `json:"length"`
		Offset   string `json:"offset"`
		Filename string `json:"filename"`
	}{c.URL, c.MIME, strconv.Itoa(c.Status), c.Digest, strconv.FormatInt(c.Length, 10), strconv.FormatInt(c.Offset, 10), warc})
	return b.String(), err
}

var www = regexp.MustCompile(`^www\d*\.`)

// surt returns the sort key of a URL in a CDX index, as the Python library surt computes it by
// default: host reversed, without www; path and query in lower case; parameters sorted; no slash
// at the end of a path. Unlike that library it keeps session parameters.
func surt(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return strings.ReplaceAll(address, " ", "%20")
	}
	parts := strings.Split(www.ReplaceAllString(strings.ToLower(u.Hostname()), ""), ".")
	slices.Reverse(parts)
	key := strings.Join(parts, ",")
	if port := u.Port(); port != "" && !(u.Scheme == "http" && port == "80") && !(u.Scheme == "https" && port == "443") {
		key += ":" + port
	}
	path := u.EscapedPath()
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	if path == "" {
		path = "/"
	}
	key += ")" + path
	if u.RawQuery != "" {
		parameters := strings.Split(u.RawQuery, "&")
		slices.Sort(parameters)
		key += "?" + strings.Join(parameters, "&")
	}
	return strings.ReplaceAll(strings.ToLower(key), " ", "%20")
}

// writeCDX writes the content of index.cdx.gz to out: gzip members of cdxBlock lines each. The
// parameter sorted has the lines of CDXJ, sorted by their bytes. For each member, writeCDX appends
// to idx a line of index.idx, with the member's first key, offset, length and digest. It returns
// the extended idx.
func writeCDX(out io.Writer, sorted iter.Seq2[string, error], idx []byte) ([]byte, error) {
	var block, compressed bytes.Buffer
	count, offset := 0, 0
	flush := func() error {
		if count == 0 {
			return nil
		}
		compressed.Reset()
		z := compressors.Get().(*gzip.Writer)
		defer compressors.Put(z)
		z.Reset(&compressed)
		if _, err := z.Write(block.Bytes()); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		key, _, _ := strings.Cut(block.String(), " {")
		idx = fmt.Appendf(idx, "%s {\"offset\":%d,\"length\":%d,\"digest\":\"sha256:%x\",\"filename\":%q}\n",
			key, offset, compressed.Len(), sha256.Sum256(compressed.Bytes()), cdxName)
		offset += compressed.Len()
		block.Reset()
		count = 0
		_, err := out.Write(compressed.Bytes())
		return err
	}
	for line, err := range sorted {
		if err != nil {
			return nil, err
		}
		block.WriteString(line)
		if count++; count == cdxBlock {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	return idx, flush()
}
