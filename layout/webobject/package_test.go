package webobject

import (
	"archive/zip"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

var update = flag.Bool("update", false, "write the golden files")

// storedRun returns a Run of one deflate block that is stored uncompressed, so that its bytes do
// not depend on a compressor.
func storedRun(url, raw string) Run {
	n := len(raw)
	block := []byte{0, byte(n), byte(n >> 8), ^byte(n), ^byte(n >> 8)}
	return Run{
		URL: url, Size: int64(n), CRC: crc32.ChecksumIEEE([]byte(raw)),
		Compressed: append(append(block, raw...), "\x00"+syncFlush...),
	}
}

func TestPackageBytes(t *testing.T) {
	p := Package{
		Base: 2, Exponent: -3,
		Created: time.UnixMilli(1_700_000_000_123), Expires: time.UnixMilli(1_700_010_800_123),
		Runs: []Run{storedRun(example.URL, exampleBytes), storedRun(fullExample.URL, fullBytes)},
	}
	spf, places := build(t, p)
	golden(t, "example.spf", spf)
	p.Runs = append(p.Runs, storedRun(convertedExample.URL, convertedBytes))
	version4, _ := build(t, p)
	golden(t, "version4.spf", version4)
	golden(t, "erased.spf", erasePlaces(t, spf, places[0]))
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bytes of %s (-want +got):\n%s", name, diff)
	}
}

// Web objects of version 2 are no longer written, but can still be read.
func TestVersion2(t *testing.T) {
	spf, err := os.ReadFile(filepath.Join("testdata", "version2.spf"))
	if err != nil {
		t.Fatal(err)
	}
	if err := verify(spf); err != nil {
		t.Fatal(err)
	}
	var got []Object
	for _, entry := range contents(t, spf) {
		got = append(got, entry.Object)
	}
	if diff := cmp.Diff([]Object{example, fullExample}, got, sameObject); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

// The zip reader of the standard library finds the members as the package comment describes
// them.
func TestMembers(t *testing.T) {
	p := smallPackage(t)
	spf, places := build(t, p)
	packed, err := zip.NewReader(bytes.NewReader(spf), int64(len(spf)))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"package.webop": "\xFF\xFFWOP\x01\r\n",
		"package.webop.desc": "\xFFWOPD\x01" + "\x00\x02" + "\xFF\xFD" +
			"\x00\x00\x01\x8b\xcf\xe5\x68\x7b" + "\x00\x00\x01\x8b\xd0\x8a\x33\xfb" + "\r\n",
		"package.webop.map": "\xFFWOPM\x01\r\n",
	}
	for i, run := range p.Runs {
		o, err := run.Object()
		if err != nil {
			t.Fatal(err)
		}
		raw := encode(t, o)
		if i == 1 {
			raw = encodeV1(t, o)
		}
		want["package.webop.desc"] += fmt.Sprintf("%d:%d:%s\r\n", len(want["package.webop"]), len(raw), o.URL)
		want["package.webop.map"] += fmt.Sprintf("%d:%d\r\n", places[i].Offset, places[i].Length)
		want["package.webop"] += string(raw)
	}
	got := map[string]string{}
	for _, file := range packed.File {
		r, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got[file.Name] = string(content)
		if want := p.Created.Truncate(2 * time.Second); !file.Modified.Equal(want) {
			t.Errorf("%s is of %s, want %s", file.Name, file.Modified, want)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}

func TestUnzip(t *testing.T) {
	unzip, err := exec.LookPath("unzip")
	if err != nil {
		t.Log("unzip is not installed: TestMembers alone reads the zip")
		return
	}
	spf, places := build(t, smallPackage(t))
	for n := range len(places) + 1 {
		holes := erasePlaces(t, spf, places[:n]...)
		name := filepath.Join(t.TempDir(), "2_-3_20231114221320123.spf")
		if err := os.WriteFile(name, holes, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(unzip, "-t", name).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "No errors detected") {
			t.Errorf("unzip -t of a package with %d pages erased: %v\n%s", n, err, out)
		}
	}
}

func TestSameInputsSameBytes(t *testing.T) {
	first, _ := build(t, smallPackage(t))
	second, _ := build(t, smallPackage(t))
	if !bytes.Equal(first, second) {
		t.Error("the same package gave other bytes")
	}
}

func TestObjects(t *testing.T) {
	for _, p := range []Package{smallPackage(t), {}} {
		spf, places := build(t, p)
		r, err := Open(spf)
		if err != nil {
			t.Fatal(err)
		}
		got := r.tail.header
		got.Runs = p.Runs
		if diff := cmp.Diff(p, got); diff != "" {
			t.Errorf("package (-want +got):\n%s", diff)
		}
		var i int
		for entry, err := range r.Objects() {
			if err != nil {
				t.Fatal(err)
			}
			want, err := p.Runs[i].Object()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Entry{want, places[i]}, entry, sameObject); diff != "" {
				t.Errorf("entry %d (-want +got):\n%s", i, diff)
			}
			i++
		}
		if i != len(p.Runs) {
			t.Errorf("%d entries, want %d", i, len(p.Runs))
		}
		for range r.Objects() {
			break // a caller may stop early
		}
	}
}

// TestSelect selects one page of a package in which another page is damaged: that page must neither be
// yielded nor reported.
func TestSelect(t *testing.T) {
	p := Package{Base: 2, Runs: compress(t, page(1, 300), page(2, 300), page(3, 300))}
	spf, places := build(t, p)
	spf[places[2].Offset+places[2].Length/2] ^= 1
	r, err := Open(spf)
	if err != nil {
		t.Fatal(err)
	}
	want, err := p.Runs[0].Object()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		url  string
		want []Entry
		err  error
	}{{want.URL, []Entry{{want, places[0]}}, nil}, {"http://nowhere.example/", nil, nil}, {page(3, 300).URL, nil, ErrDamaged}} {
		var got []Entry
		var failed error
		for entry, err := range r.Select(func(url string) bool { return url == c.url }) {
			if err != nil {
				failed = err
				continue
			}
			got = append(got, entry)
		}
		if diff := cmp.Diff(c.want, got, sameObject); diff != "" || !errors.Is(failed, c.err) {
			t.Errorf("%s: %v (-want +got):\n%s", c.url, failed, diff)
		}
	}
}

func TestReadIsOneRangedGet(t *testing.T) {
	p := smallPackage(t)
	spf, places := build(t, p)
	for i, run := range p.Runs {
		store := &oneObject{content: spf}
		got, err := Read(t.Context(), store, "key", places[i])
		if err != nil {
			t.Fatal(err)
		}
		want, err := run.Object()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, sameObject); diff != "" {
			t.Errorf("object %d (-want +got):\n%s", i, diff)
		}
		if diff := cmp.Diff([]blob.Range{{Offset: places[i].Offset, Length: places[i].Length}}, store.ranges); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	good := smallPackage(t)
	for _, test := range []struct {
		name   string
		change func(*Run)
		want   string
	}{
		{"damaged run", func(r *Run) { r.Compressed = r.Compressed[1:] }, "run 1: cannot read run of \"http://a/\""},
		{"wrong CRC", func(r *Run) { r.CRC++ }, "run 1: cannot read run of \"http://a/\": stored bytes are damaged: CRC-32"},
		{"line break", func(r *Run) { r.URL += "\r\n" }, "run 1"},
		{"huge", func(r *Run) { r.Size = math.MaxUint32 }, "less than 4 GiB"},
	} {
		p := good
		p.Runs = append([]Run(nil), good.Runs...)
		test.change(&p.Runs[1])
		spf, places, err := p.Build()
		if err == nil || !strings.Contains(err.Error(), test.want) || spf != nil || places != nil {
			t.Errorf("%s: error %v, want one with %q and no package", test.name, err, test.want)
		}
	}
}

func TestDOSTime(t *testing.T) {
	for _, test := range []struct {
		time time.Time
		want uint32
	}{
		{time.Time{}, 1<<21 | 1<<16},
		{time.Date(2026, 11, 21, 13, 14, 15, 0, time.UTC), (46<<9|11<<5|21)<<16 | 13<<11 | 14<<5 | 7},
		{time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC), (127<<9|12<<5|31)<<16 | 23<<11 | 59<<5 | 29},
	} {
		if got := dosTime(test.time); got != test.want {
			t.Errorf("%s: %08x, want %08x", test.time, got, test.want)
		}
	}
}

func TestLifetime(t *testing.T) {
	const day = 24 * time.Hour
	for exponent, want := range map[int16]time.Duration{0: day, 3: 8 * day, -1: 12 * time.Hour, 14: day << 14, 32767: day << 14, -32768: day >> 16} {
		if got := Lifetime(exponent); got != want {
			t.Errorf("class %d lives %v, want %v", exponent, got, want)
		}
	}
}
