package export

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
)

// TestWACZ parses an export by itself, as the WACZ specification says. It checks the members of the
// zip file and their digests, the list of pages, and every page by its line in the index.
func TestWACZ(t *testing.T) {
	const pages = 7
	bucket, s := bucketOf(t, pages)
	content := run(t, Task{Format: WACZ, Path: filepath.Join(t.TempDir(), "x.wacz"), At: later}, bucket, s)
	members := unzip(t, content)
	var described struct {
		Profile   string
		Version   string `json:"wacz_version"`
		Created   time.Time
		Resources []struct {
			Name, Path, Hash string
			Bytes            int
		}
	}
	var digested struct{ Path, Hash string }
	if err := json.Unmarshal(members["datapackage.json"], &described); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(members["datapackage-digest.json"], &digested); err != nil {
		t.Fatal(err)
	}
	if described.Profile != "data-package" || described.Version != "1.1.1" || !described.Created.Equal(later) ||
		digested.Path != "datapackage.json" || digested.Hash != sha(members["datapackage.json"]) {
		t.Errorf("%+v, %+v", described, digested)
	}
	for _, r := range described.Resources {
		if b := members[r.Path]; r.Hash != sha(b) || r.Bytes != len(b) || r.Name != filepath.Base(r.Path) {
			t.Errorf("resource %+v", r)
		}
	}
	if len(described.Resources) != len(members)-2 {
		t.Errorf("%d resources of %d members", len(described.Resources), len(members))
	}

	listed := strings.Split(strings.TrimSpace(string(members["pages/pages.jsonl"])), "\n")
	if len(listed) != pages+1 || listed[0] != `{"format":"json-pages-1.0","id":"pages","title":"All pages"}` ||
		listed[1] != `{"id":"`+hashOf(object(0).URL)+`","url":"`+object(0).URL+`","ts":"`+functionstest.Start.Format(time.RFC3339)+`","title":"Page 0"}` {
		t.Errorf("pages %q", listed)
	}

	z, err := gzip.NewReader(bytes.NewReader(members["indexes/index.cdx.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	index, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(index)), "\n")
	if !slices.IsSorted(lines) || len(lines) != pages {
		t.Errorf("index %q", lines)
	}
	for _, line := range lines {
		key, captured, _ := strings.Cut(line, " {")
		var c map[string]string
		if err := json.Unmarshal([]byte("{"+captured), &c); err != nil {
			t.Fatal(err)
		}
		offset, length := atoi(t, c["offset"]), atoi(t, c["length"])
		z, err := gzip.NewReader(bytes.NewReader(members["archive/data.warc.gz"][offset:][:length]))
		if err != nil {
			t.Fatal(err)
		}
		record, err := io.ReadAll(z)
		if err != nil || !bytes.Contains(record, []byte("WARC-Target-URI: "+c["url"]+"\r\n")) || !bytes.Contains(record, []byte("WARC-Payload-Digest: "+c["digest"])) ||
			c["filename"] != "data.warc.gz" || c["status"] != "200" || c["mime"] != "text/html" || !strings.HasPrefix(key, surt(c["url"])+" 202611212") {
			t.Errorf("%v: %q %v leads to %q", err, key, c, record)
		}
	}
	if idx := string(members["indexes/index.idx"]); !strings.HasPrefix(idx, idxBegin+strings.SplitN(lines[0], " {", 2)[0]+` {"offset":0,`) {
		t.Errorf("second index %q", idx)
	}
}

// unzip returns the contents of a zip file's members, by name. Members whose name ends in .gz must
// be stored without further compression, so that readers can read parts of them. All others must be
// compressed. Otherwise unzip fails the test.
func unzip(t *testing.T, content string) map[string][]byte {
	t.Helper()
	z, err := zip.NewReader(strings.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	members := make(map[string][]byte)
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if members[f.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(f.Name, err)
		}
		if strings.HasSuffix(f.Name, ".gz") != (f.Method == zip.Store) {
			t.Errorf("%s has method %d", f.Name, f.Method)
		}
	}
	return members
}

func sha(b []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSURT(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.org":                   "org,example)/",
		"https://www.example.org/":              "org,example)/",
		"https://www2.Example.org/A/B.html":     "org,example)/a/b.html",
		"http://a.b.example.org:8080/c/":        "org,example,b,a:8080)/c",
		"https://example.org:443/?b=2&a=1":      "org,example)/?a=1&b=2",
		"http://127.0.0.1:8934/qtxml/":          "1,0,0,127:8934)/qtxml",
		"http://[::1]/x":                        "::1)/x",
		"https://example.org/a b?c d":           "org,example)/a%20b?c%20d",
		"https://xn--bcher-kva.example/%C3%A9/": "example,xn--bcher-kva)/%c3%a9",
	} {
		if got := surt(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// TestSortLines sorts the same lines with a limit that lets all of them stay in memory, and with lower
// limits, at which they are sorted in parts and the parts are merged from a file. The result must
// always be the same.
func TestSortLines(t *testing.T) {
	var lines, want []string
	for i := range 1000 {
		lines = append(lines, fmt.Sprintln(i*7919%1000))
	}
	want = slices.Sorted(slices.Values(lines))
	for _, most := range []int{1, 100, 1 << 20} {
		path := filepath.Join(t.TempDir(), "sort")
		var got []string
		for line, err := range sortLines(withoutErrors(lines), path, most) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, line)
		}
		if !slices.Equal(got, want) || exists(path) {
			t.Errorf("at most %d bytes: %q", most, got)
		}
	}
	for _, err := range sortLines(withoutErrors(lines), filepath.Join(t.TempDir(), "none", "sort"), 100) {
		if err == nil {
			t.Error("no error without a folder")
		}
	}
}

func withoutErrors(lines []string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, line := range lines {
			if !yield(line, nil) {
				return
			}
		}
	}
}

// TestIndexOfBlocks writes an index.cdx.gz of several gzip members, and checks that each line of
// index.idx leads to the member that it describes.
func TestIndexOfBlocks(t *testing.T) {
	var lines []string
	for i := range 2*cdxBlock + 1 {
		lines = append(lines, fmt.Sprintf("org,example)/%05d 20261121220000 {}\n", i))
	}
	var out bytes.Buffer
	idx, err := writeCDX(&out, withoutErrors(lines), nil)
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for line := range strings.Lines(string(idx)) {
		key, rest, _ := strings.Cut(line, " {")
		var at struct {
			Offset, Length   int
			Digest, Filename string
		}
		if err := json.Unmarshal([]byte("{"+rest), &at); err != nil {
			t.Fatal(err)
		}
		block := out.Bytes()[at.Offset:][:at.Length]
		z, err := gzip.NewReader(bytes.NewReader(block))
		if err != nil {
			t.Fatal(err)
		}
		first, err := bufio.NewReader(z).ReadString('\n')
		if err != nil || first != lines[blocks*cdxBlock] || !strings.HasPrefix(first, key+" ") || at.Digest != sha(block) || at.Filename != cdxName {
			t.Errorf("%v: %s leads to %s", err, line, first)
		}
		blocks++
	}
	if blocks != 3 {
		t.Errorf("%d blocks", blocks)
	}
}
