package export

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestWebop reads an export without the code of this project. It uses only the tables in the thesis
// of 2006 that defines the format. Web objects have fields at fixed places, and the description has a
// line for each Web object.
func TestWebop(t *testing.T) {
	bucket, s := bucketOf(t, 4)
	path := filepath.Join(t.TempDir(), "x.webop")
	content := run(t, Task{Format: Webo, Path: path, At: later}, bucket, s)
	desc, err := os.ReadFile(path + ".desc")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(content, "\xFF\xFFWOP\x01\r\n") || !bytes.HasPrefix(desc, []byte("\xFFWOPD\x01\x00\x02")) || len(desc) < 28 {
		t.Fatalf("begins %q, %q", content[:8], desc)
	}
	lines := strings.Split(strings.TrimSuffix(string(desc[28:]), "\r\n"), "\r\n")
	rest := content[8:]
	for n := range 4 {
		want := object(n)
		fields := []byte(rest[:34])
		mime, url, size := binary.BigEndian.Uint16(fields[6:]), binary.BigEndian.Uint16(fields[8:]), binary.BigEndian.Uint32(fields[10:])
		offset, body := len(content)-len(rest), rest[34:]
		if string(fields[:6]) != "\xFFWEBO\x01" || int64(binary.BigEndian.Uint64(fields[18:])) != want.Downloaded.UnixMilli() ||
			int64(binary.BigEndian.Uint64(fields[26:])) != want.Expires.UnixMilli() || body[:mime] != want.MIME ||
			body[mime:][:url] != want.URL || body[int(mime)+int(url):][:size] != string(want.Data) {
			t.Errorf("Web object %d: %q", n, rest[:80])
		}
		whole := 34 + int(mime) + int(url) + int(size)
		if line := strings.Join([]string{strconv.Itoa(offset), strconv.Itoa(whole), want.URL}, ":"); lines[n] != line {
			t.Errorf("line %q, want %q", lines[n], line)
		}
		rest = rest[whole:]
	}
	if rest != "" || len(lines) != 4 {
		t.Errorf("%q is left, %d lines", rest, len(lines))
	}
}

// TestDescriptionIsKept checks that an export fails, and does not overwrite the file, if
// NAME.webop.desc exists already.
func TestDescriptionIsKept(t *testing.T) {
	bucket, s := bucketOf(t, 1)
	path := filepath.Join(t.TempDir(), "x.webop")
	if err := os.WriteFile(path+".desc", []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := (Task{Format: Webo, Path: path, At: later}).Run(t.Context(), bucket, s); err == nil || !strings.Contains(err.Error(), "x.webop.desc exists") {
		t.Error(err)
	}
}
