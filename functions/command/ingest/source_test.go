package ingest_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// wacz returns a WACZ (a zip file) whose members are WARC files of one page each. The keys of the
// parameter are the names of the members, the values the zip compression methods.
func wacz(t testing.TB, members map[string]uint16) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: members[name]})
		if err == nil {
			content := page("http://a.example/"+filepath.Base(name), at(5), "something of "+name)
			if strings.HasSuffix(name, ".gz") {
				content = squeeze(content)
			}
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func writeFile(t testing.TB, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.wacz")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWACZ(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	bucket := newBucket(t, 1)
	file := writeFile(t, wacz(t, map[string]uint16{
		"archive/1.warc.gz": zip.Store, "archive/2.warc.gz": zip.Deflate, "archive/3.warc": zip.Deflate, "pages/pages.jsonl": zip.Deflate, "archive/../../4.warc.gz": zip.Store,
	}))
	report := run(t, bucket, file)
	if report.Stored != 4 || report.Faulty != 0 {
		t.Errorf("report %+v", report)
	}
	if report := run(t, bucket, file); report.Stored != 0 || report.Passed["already imported"] != 4 {
		t.Errorf("report of a second import %+v", report)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// directory returns the offset of a member's entry in the directory of a zip file.
func directory(content []byte, name string) int {
	return bytes.LastIndex(content, []byte(name)) - 46
}

// TestHostileWACZ imports damaged and malicious WACZ files: all pages that can be read must be
// imported, and all damage must be reported.
func TestHostileWACZ(t *testing.T) {
	whole := wacz(t, map[string]uint16{"archive/1.warc.gz": zip.Store, "archive/2.warc.gz": zip.Deflate})
	const packed, unpacked, flags, offset, method = 20, 24, 8, 42, 10 // offsets in an entry (APPNOTE 4.3.12)
	change := func(member string, field int, value uint32) []byte {
		content := bytes.Clone(whole)
		from := directory(content, member) + field
		if field == flags || field == method {
			binary.LittleEndian.PutUint16(content[from:], uint16(value))
		} else {
			binary.LittleEndian.PutUint32(content[from:], value)
		}
		return content
	}
	for name, c := range map[string]struct {
		content []byte
		stored  int
		faults  string // in the report
		err     string
	}{
		"whole":                      {whole, 2, "", ""},
		"without an end":             {whole[:len(whole)-30], 0, "", "cut short"},
		"without a WARC file":        {wacz(t, map[string]uint16{"archive/readme": zip.Store}), 0, "", "no WACZ"},
		"a length beyond the file":   {change("archive/1.warc.gz", packed, 1<<30), 1, "does not lie within", ""},
		"a place beyond the file":    {change("archive/1.warc.gz", offset, 1<<30), 1, "", ""},
		"two lengths":                {change("archive/1.warc.gz", unpacked, 5), 2, "does not have the length", ""},
		"shorter than it is":         {change("archive/2.warc.gz", unpacked, 5), 1, "", ""},
		"longer than it is":          {change("archive/2.warc.gz", unpacked, 5000), 2, "does not have the length", ""},
		"far longer than it can be":  {change("archive/2.warc.gz", unpacked, 1<<31), 1, "expands too far", ""},
		"encrypted":                  {change("archive/2.warc.gz", flags, 1), 1, "encrypted", ""},
		"of an unknown method":       {change("archive/2.warc.gz", method, 99), 1, "unsupported", ""},
		"two members of one content": {change("archive/2.warc.gz", packed, uint32(len(whole)-20)), 1, "does not lie within", ""},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := task(newBucket(t, 1), writeFile(t, c.content)).Run(t.Context())
			switch {
			case c.err != "":
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
			case err != nil:
				t.Error(err)
			case report.Stored != c.stored || (report.Faulty > 0) != (c.stored < 2 || c.faults != ""):
				t.Errorf("%d pages stored, want %d; faults %v", report.Stored, c.stored, report.Faults)
			case c.faults != "" && !strings.Contains(report.Faults[0].Error(), c.faults):
				t.Errorf("fault %v, want %q", report.Faults[0], c.faults)
			}
		})
	}
}

// TestMembers checks that a zip file with too many members is refused.
func TestMembers(t *testing.T) {
	content := append(wacz(t, map[string]uint16{"archive/1.warc.gz": zip.Store}), bytes.Repeat([]byte("PK\x01\x02"), 200_000)...)
	if _, err := task(newBucket(t, 1), writeFile(t, content)).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "members") {
		t.Errorf("error %v", err)
	}
}

// FuzzWACZ imports files that begin like a zip file. That must neither panic nor leave a temporary
// file behind.
func FuzzWACZ(f *testing.F) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		f.Add(wacz(f, map[string]uint16{"archive/1.warc.gz": method})[4:])
	}
	f.Fuzz(func(t *testing.T, rest []byte) {
		t.Setenv("TMPDIR", t.TempDir())
		_, _ = task(newBucket(t, 1), writeFile(t, append([]byte("PK\x03\x04"), rest...))).Run(t.Context())
		if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
			t.Errorf("temporary files are left: %v, %v", left, err)
		}
	})
}

// TestAssets imports pages and images into a collection that wants assets. All assets of its pages
// must be imported, even if they are on other hosts, or if only a style sheet or redirect leads to
// them. No other images must be imported.
func TestAssets(t *testing.T) {
	const a, b = "http://crawled.example/", "http://cdn.example/"
	html := `<link rel=stylesheet href="` + b + `s.css"><p>A page with pictures<img src=i.png><img src="` + b + `moved.png">`
	file := write(t,
		record("response", b+"far.png", at(4), answer(200, "\x89PNG\r\n\x1a\nfar", "Content-Type: image/png")),
		record("response", a, at(5), answer(200, squeeze(html), "Content-Type: text/html", "Content-Encoding: gzip")),
		record("response", a+"i.png", at(4), answer(200, "\x89PNG\r\n\x1a\ni", "Content-Type: image/png")),
		record("response", b+"s.css", at(4), answer(200, "body { background: url(back.png) }", "Content-Type: text/css")),
		record("response", b+"back.png", at(4), answer(200, "\x89PNG\r\n\x1a\nback", "Content-Type: image/png")),
		record("response", b+"moved.png", at(4), answer(302, "", "Location: far.png")),
		record("response", b+"stray.png", at(4), answer(200, "\x89PNG\r\n\x1a\nstray", "Content-Type: image/png")),
		page(b+"page", at(4), "what is in no scope"),
	)
	bucket := newBucket(t, 1)
	for _, assets := range []bool{false, true} {
		s := task(bucket, file)
		inForce, err := s.Settings.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		functionstest.Republish(t, bucket, inForce.Collection(functionstest.Collection), func(c *collection.Collection) { c.Assets = assets })
		s.Collection = functionstest.Collection
		report, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !assets && (report.Stored != 1 || report.Assets != 0) || assets && (report.Stored != 0 || report.Assets != 4) {
			t.Errorf("assets %v: report %+v", assets, report)
		}
	}
	kinds := make(map[string]book.Kind)
	for _, key := range functionstest.Keys(t, bucket, layout.Spool) {
		ledger, err := spool.ReadLedger(t.Context(), bucket, key)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range ledger.Outcomes {
			for _, l := range ledger.Links {
				if l.Source == layout.IdentityOf(l.Target) && l.Target == o.URL {
					kinds[o.URL] = l.Kind
				}
			}
			if o.Asset != (o.URL != a) {
				t.Errorf("%s: asset %v", o.URL, o.Asset)
			}
		}
	}
	want := map[string]book.Kind{
		a: book.Listed, a + "i.png": book.Asset, b + "s.css": book.Asset, b + "back.png": book.Asset, b + "moved.png": book.Asset, b + "far.png": book.Asset,
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
}
