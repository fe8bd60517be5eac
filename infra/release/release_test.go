package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestCompile builds the same sources in two directories, and with two sets of flags in the environment, which must make
// the same bytes.
func TestCompile(t *testing.T) {
	var built []program
	for _, flags := range []string{"", "-gcflags=-N"} {
		t.Setenv("GOFLAGS", flags)
		dir := t.TempDir()
		for name, content := range map[string]string{
			"go.mod":  "module example.org/tiny\n\ngo 1.26.0\n",
			"main.go": "package main\n\nfunc main() { panic(1) }\n", // which prints the path of the source
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p, err := compile(dir, ".", platform{"arm64", "linux"}, filepath.Join(dir, "tiny"))
		if err != nil {
			t.Fatal(err)
		}
		built = append(built, p)
	}
	if !bytes.Equal(built[0].binary, built[1].binary) {
		t.Error("the same sources make another program in another directory")
	}
	if built[0].info.Main.Path != "example.org/tiny" || built[0].platform != (platform{"arm64", "linux"}) {
		t.Errorf("built %+v", built[0].info)
	}
	if _, err := compile(".", "./nothing", platform{"arm64", "linux"}, filepath.Join(t.TempDir(), "nothing")); err == nil {
		t.Error("a package that is missing was built")
	}
}

// example is an edition without the texts that the program itself prints.
var example = edition{
	version: "1.2.3", date: undated, licence: []byte("licence"), notice: []byte("others:\nexample.org/part v1.0.0+incompatible\n"),
	manual: []byte("manual"), completions: map[string][]byte{"bash": []byte("b"), "zsh": []byte("z"), "fish": []byte("f")},
	units:        []file{{path: "bucketsearch.service", mode: 0o644, content: []byte("ExecStart=/usr/local/bin/bucketsearch up\n")}},
	certificates: []byte("certificates"),
}

// buildExample returns a program that is text, and says for which platform it is.
func buildExample(on platform) (program, error) {
	return program{on, []byte("for " + on.OS + "/" + on.Architecture), &debug.BuildInfo{
		GoVersion: "go1.26.8", Main: debug.Module{Path: "example.org/Main"},
		Deps: []*debug.Module{{Path: "example.org/part", Version: "v1.0.0+incompatible", Sum: "h1:AAEC"}},
	}}, nil
}

// TestWrite writes a release twice: all files must be there, with their checksums, and the same both times.
func TestWrite(t *testing.T) {
	t.Parallel()
	e := example
	var err error
	if e.chart, err = readChart("../servers/chart"); err != nil {
		t.Fatal(err)
	}
	write := func() map[string]string {
		dir := filepath.Join(t.TempDir(), "release")
		if err := e.write(dir, []platform{{"amd64", "linux"}, {"arm64", "darwin"}}, buildExample); err != nil {
			t.Fatal(err)
		}
		written := make(map[string]string)
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
			if err != nil {
				t.Fatal(err)
			}
			written[entry.Name()] = string(content)
		}
		return written
	}
	written := write()
	want := []string{
		"SHA256SUMS", "bucketsearch-1.2.3-darwin-arm64.cdx.json", "bucketsearch-1.2.3-darwin-arm64.tar.gz", "bucketsearch-1.2.3-image.tar",
		"bucketsearch-1.2.3-linux-amd64.cdx.json", "bucketsearch-1.2.3-linux-amd64.tar.gz", "bucketsearch-1.2.3.tgz", "bucketsearch_1.2.3_amd64.deb",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(written))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(written, write()); diff != "" {
		t.Errorf("a second release differs (-first +second):\n%s", diff)
	}
	var sums []string
	for _, name := range want[1:] {
		sums = append(sums, sha256Of([]byte(written[name]))+"  "+name)
	}
	if diff := cmp.Diff(sums, sortedByName(strings.Split(strings.TrimSpace(written["SHA256SUMS"]), "\n"))); diff != "" {
		t.Errorf("checksums (-want +got):\n%s", diff)
	}
	const top = "bucketsearch-1.2.3-darwin-arm64/"
	files := []file{
		{path: top + "LICENSE", mode: 0o644, content: example.licence},
		{path: top + "NOTICE", mode: 0o644, content: example.notice},
		{path: top + "bucketsearch", mode: 0o755, content: []byte("for darwin/arm64")},
		{path: top + "bucketsearch.1", mode: 0o644, content: example.manual},
		{path: top + "completions/bucketsearch.bash", mode: 0o644, content: []byte("b")},
		{path: top + "completions/bucketsearch.zsh", mode: 0o644, content: []byte("z")},
		{path: top + "completions/bucketsearch.fish", mode: 0o644, content: []byte("f")},
	}
	archive := untar(t, unzip(t, []byte(written["bucketsearch-1.2.3-darwin-arm64.tar.gz"])))
	if diff := cmp.Diff(files, archive, cmp.AllowUnexported(file{})); diff != "" {
		t.Errorf("files in the archive (-want +got):\n%s", diff)
	}
	packed := untar(t, unzip(t, []byte(written["bucketsearch-1.2.3.tgz"])))
	if diff := cmp.Diff(e.chart, packed, cmp.AllowUnexported(file{})); diff != "" || packed[0].path != "bucketsearch/Chart.yaml" {
		t.Errorf("files in the chart, of which the first is %s (-want +got):\n%s", packed[0].path, diff)
	}
	if err := example.write(t.TempDir(), nil, buildExample); !errors.Is(err, os.ErrExist) {
		t.Errorf("a release was written to a directory that exists: %v", err)
	}
}

// sortedByName sorts the lines of SHA256SUMS by the names of the files.
func sortedByName(lines []string) []string {
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return lines
}

// TestDebian reads a Debian package: the files that it installs, and its description. If dpkg is there, it must
// find the same.
func TestDebian(t *testing.T) {
	t.Parallel()
	p, _ := buildExample(platform{"amd64", "linux"})
	deb, err := example.debian(p)
	if err != nil {
		t.Fatal(err)
	}
	members := unar(t, deb)
	if len(members) != 3 || string(members["debian-binary"]) != "2.0\n" {
		t.Fatalf("members %q", slices.Collect(maps.Keys(members)))
	}
	installed := make(map[string]string)
	parents := map[string]bool{"./": true}
	for _, f := range untar(t, unzip(t, members["data.tar.gz"])) {
		if !parents[filepath.Dir(strings.TrimSuffix(f.path, "/"))+"/"] {
			t.Errorf("%s stands before its directory", f.path)
		}
		if strings.HasSuffix(f.path, "/") {
			parents[f.path] = true
			continue
		}
		installed[fmt.Sprintf("%s %o", f.path, f.mode)] = string(f.content)
	}
	manual, err := gzipOf(example.manual)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"usr/bin/bucketsearch 755":                                  "for linux/amd64",
		"usr/lib/systemd/system/bucketsearch.service 644":           "ExecStart=/usr/bin/bucketsearch up\n",
		"usr/share/bash-completion/completions/bucketsearch 644":    "b",
		"usr/share/doc/bucketsearch/copyright 644":                  "licence\n" + string(example.notice),
		"usr/share/fish/vendor_completions.d/bucketsearch.fish 644": "f",
		"usr/share/man/man1/bucketsearch.1.gz 644":                  string(manual),
		"usr/share/zsh/vendor-completions/_bucketsearch 644":        "z",
	}
	if diff := cmp.Diff(want, installed); diff != "" {
		t.Errorf("installed (-want +got):\n%s", diff)
	}
	scripts := make(map[string]string)
	for _, f := range untar(t, unzip(t, members["control.tar.gz"])) {
		scripts[f.path] = string(f.content)
	}
	for name, line := range map[string]string{
		"control": "Version: 1.2.3\nArchitecture: amd64\n", "postinst": "systemctl daemon-reload\n\tsystemctl try-restart 'bucketsearch*.service' || true\n", "prerm": "disable --now bucketsearch.service\n",
	} {
		if !strings.Contains(scripts[name], line) {
			t.Errorf("%s has no %q:\n%s", name, line, scripts[name])
		}
	}
	dpkg, err := exec.LookPath("dpkg-deb")
	if err != nil {
		return
	}
	path := filepath.Join(t.TempDir(), "bucketsearch.deb")
	if err := os.WriteFile(path, deb, 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), dpkg, "--show", "--showformat=${Package} ${Version} ${Architecture} ${Installed-Size}", path).CombinedOutput(); err != nil || string(said) != "bucketsearch 1.2.3 amd64 1" {
		t.Errorf("dpkg-deb: %v: %s", err, said)
	}
	root := t.TempDir()
	if said, err := exec.CommandContext(t.Context(), dpkg, "--extract", path, root).CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("dpkg-deb: %v: %s", err, said)
	}
	if content, err := os.ReadFile(filepath.Join(root, "usr/bin/bucketsearch")); err != nil || string(content) != "for linux/amd64" {
		t.Errorf("dpkg-deb extracts %q, %v", content, err)
	}
}

// unar returns the members of an ar archive, by their names.
func unar(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	rest, found := bytes.CutPrefix(archive, []byte("!<arch>\n"))
	if !found {
		t.Fatal("no ar archive")
	}
	members := make(map[string][]byte)
	for len(rest) > 60 {
		header := string(rest[:60])
		size, err := strconv.Atoi(strings.TrimSpace(header[48:58]))
		if err != nil || header[58:] != "`\n" || 60+size > len(rest) {
			t.Fatalf("header %q: %v", header, err)
		}
		members[strings.TrimSpace(header[:16])] = rest[60 : 60+size]
		rest = rest[60+size+size%2:]
	}
	return members
}

// TestBill checks the bill of materials of a program, and that a module without a licence in NOTICE is refused.
func TestBill(t *testing.T) {
	t.Parallel()
	p, _ := buildExample(platform{"arm64", "linux"})
	bill, err := example.bill(p)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1.0,
		"metadata": map[string]any{
			"timestamp": "1980-01-01T00:00:00Z",
			"component": map[string]any{
				"type": "application", "bom-ref": "bucketsearch", "name": "bucketsearch", "version": "1.2.3",
				"purl":     "pkg:golang/example.org/main@v1.2.3?goarch=arm64&goos=linux",
				"licenses": []any{map[string]any{"license": map[string]any{"id": "Apache-2.0"}}},
				"hashes":   []any{map[string]any{"alg": "SHA-256", "content": sha256Of(p.binary)}},
			},
		},
		"components": []any{
			map[string]any{"type": "library", "bom-ref": "pkg:golang/stdlib@1.26.8", "name": "stdlib", "version": "1.26.8", "purl": "pkg:golang/stdlib@1.26.8"},
			map[string]any{
				"type": "library", "bom-ref": "pkg:npm/%40hyzyla/pdfium@" + pdfium, "name": "@hyzyla/pdfium", "version": pdfium,
				"purl": "pkg:npm/%40hyzyla/pdfium@" + pdfium,
			},
			map[string]any{
				"type": "library", "bom-ref": "pkg:golang/example.org/part@v1.0.0%2Bincompatible", "name": "example.org/part", "version": "v1.0.0+incompatible",
				"purl": "pkg:golang/example.org/part@v1.0.0%2Bincompatible", "hashes": []any{map[string]any{"alg": "SHA-256", "content": "000102"}},
			},
		},
	}
	if diff := cmp.Diff(want, decode[map[string]any](t, bill)); diff != "" {
		t.Errorf("bill of materials (-want +got):\n%s", diff)
	}
	source, err := os.ReadFile("../../functions/shared/document/pdf/pdf.go")
	if err != nil || !bytes.Contains(source, []byte("@hyzyla/pdfium "+pdfium+"\n")) {
		t.Errorf("the package pdf has PDFium of another version than %s: %v", pdfium, err)
	}
	unknown := example
	unknown.notice = []byte("others:\nexample.org/part v1.0.1\n")
	if _, err := unknown.bill(p); err == nil || !strings.Contains(err.Error(), "NOTICE has no licence of example.org/part v1.0.0+incompatible") {
		t.Errorf("a module without a licence: %v", err)
	}
}

// TestVersion checks what is taken from the words of the command version.
func TestVersion(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"bucketsearch 0.1.0 (commit 5f2de2fa8f69 of 2026-11-25), built with go1.26.8 for linux/amd64": "0.1.0",
		"bucketsearch 1.2.3-rc1, built with go1.26.8 for linux/amd64":                                 "1.2.3-rc1",
		"bucketsearch (devel)": "",
		"":                     "",
	} {
		if got, err := versionOf(said); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", said, got, err, want)
		}
	}
}

// TestCommit checks what is taken from what Go says of a program's sources.
func TestCommit(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 25, 6, 21, 14, 0, time.UTC)
	for _, test := range []struct {
		at, modified  string
		wantDate      time.Time
		wantCommitted bool
	}{
		{"2026-11-25T06:21:14Z", "false", at, true},
		{"2026-11-25T06:21:14Z", "true", at, false},
		{"", "", undated, false},
	} {
		date, committed := commitOf(&debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.time", Value: test.at}, {Key: "vcs.modified", Value: test.modified}}})
		if !date.Equal(test.wantDate) || committed != test.wantCommitted {
			t.Errorf("%+v: %v, %v", test, date, committed)
		}
	}
}

// unzip returns the content of a gzip file.
func unzip(t *testing.T, zipped []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// untar returns the files in a tar archive. All must have the date undated.
func untar(t *testing.T, packed []byte) (files []file) {
	t.Helper()
	for archive := tar.NewReader(bytes.NewReader(packed)); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if !header.ModTime.Equal(undated) {
			t.Errorf("%s is of %v", header.Name, header.ModTime)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		f := file{path: header.Name, mode: header.Mode, owner: header.Uid}
		if len(content) > 0 {
			f.content = content
		}
		files = append(files, f)
	}
}
