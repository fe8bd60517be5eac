package warc

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// text returns a WARC record of the given type, with a target URL and a block. The parameter more has
// further lines of the record's header.
func text(kind, target, block string, more ...string) string {
	head := append([]string{"WARC/1.1", "WARC-Type: " + kind, "WARC-Target-URI: " + target, "WARC-Date: 2026-11-21T22:00:00.5Z"}, more...)
	return strings.Join(head, "\r\n") + fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)
}

// page returns a response record that differs for each n.
func page(n int) string {
	return text("response", fmt.Sprintf("http://example.org/%d", n), fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>This is page %d.", n))
}

func zip(parts ...string) string {
	var b bytes.Buffer
	for _, part := range parts {
		z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		_, _ = z.Write([]byte(part))
		_ = z.Close()
	}
	return b.String()
}

// read reads all records of a file. It returns the targets (without "http://example.org/") of the
// records that are undamaged, and the texts of the faults.
func read(t testing.TB, content string) (targets []string, faults []string) {
	t.Helper()
	r := NewReader(strings.NewReader(content), int64(len(content)))
	for {
		record, err := r.Next()
		if err == io.EOF {
			return targets, faults
		}
		if err == nil {
			err = r.Finish()
		}
		var fault *Fault
		switch {
		case errors.As(err, &fault):
			faults = append(faults, fault.Error())
		case err != nil:
			t.Fatal(err)
		default:
			targets = append(targets, strings.TrimPrefix(record.Target(), "http://example.org/"))
		}
	}
}

func TestForms(t *testing.T) {
	for name, content := range map[string]string{
		"plain":           page(1) + page(2) + page(3),
		"version 1.0":     strings.ReplaceAll(page(1)+page(2)+page(3), "WARC/1.1", "WARC/1.0"),
		"member a record": zip(page(1), page(2), page(3)),
		"one member":      zip(page(1) + page(2) + page(3)),
		"two members":     zip(page(1)+page(2), page(3)),
		"angle brackets":  page(1) + strings.Replace(page(2), "http://example.org/2", "<http://example.org/2>", 1) + page(3),
		"folded lines":    page(1) + strings.Replace(page(2), "WARC-Target-URI: ", "warc-target-uri:\r\n ", 1) + page(3),
		"bare newlines":   strings.ReplaceAll(page(1), "\r\n\r\nHTTP", "\n\nHTTP") + page(2) + page(3),
	} {
		targets, faults := read(t, content)
		if diff := cmp.Diff([]string{"1", "2", "3"}, targets); diff != "" || len(faults) > 0 {
			t.Errorf("%s: faults %q (-want +got):\n%s", name, faults, diff)
		}
	}
}

func TestDamage(t *testing.T) {
	second := len(page(1))
	whole, lies := page(2), func(length string) string {
		_, rest, _ := strings.Cut(page(2), "Content-Length: ")
		_, rest, _ = strings.Cut(rest, "\r\n")
		head, _, _ := strings.Cut(page(2), "Content-Length: ")
		return head + "Content-Length: " + length + "\r\n" + rest
	}
	spoilt := func(at int) string {
		z := []byte(zip(page(1), page(2), page(3)))
		z[len(zip(page(1)))+at] ^= 0x55
		return string(z)
	}
	oneMember := zip(page(1) + page(2))
	bomb := text("response", "http://example.org/2", strings.Repeat("0", maxFree+100))
	for name, c := range map[string]struct {
		content string
		want    string // targets
		fault   string
	}{
		"cut in a block":          {page(1) + whole[:len(whole)-10], "1", fmt.Sprintf("byte %d: the file ends in the middle of a record", second)},
		"cut in a header":         {page(1) + whole[:30], "1", "the file ends in the middle of a record"},
		"cut member":              {zip(page(1)) + zip(page(2))[:50], "1", fmt.Sprintf("byte %d: the file ends in the middle of a record", len(zip(page(1))))},
		"cut one member":          {oneMember[:len(oneMember)-12], "1", "the file ends in the middle of a record"},
		"too long, plain":         {page(1) + lies("170") + page(3), "1 3", "does not end where"},
		"far too long, plain":     {page(1) + lies("999999999999") + page(3), "1 3", "ends in the middle"},
		"too short, plain":        {page(1) + lies("20") + page(3), "1 3", "does not end where"},
		"too long, member":        {zip(page(1), lies("1000"), page(3)), "1 3", "ends in the middle"},
		"too short, member":       {zip(page(1), lies("20"), page(3)), "1 3", "does not end where"},
		"too short, one member":   {zip(page(1) + lies("20") + page(3)), "1 3", fmt.Sprintf("byte %d of the gzip member at byte 0: the record does not end", second)},
		"no number":               {page(1) + lies("many") + page(3), "1 3", "no Content-Length"},
		"negative":                {page(1) + lies("-1") + page(3), "1 3", "no Content-Length"},
		"no colon":                {page(1) + strings.Replace(whole, "WARC-Type:", "WARC-Type", 1) + page(3), "1 3", "no colon"},
		"another version":         {page(1) + strings.Replace(whole, "WARC/1.1", "WARC/2.0", 1) + page(3), "1 3", "no record of WARC 1.0 or 1.1"},
		"header bomb":             {page(1) + strings.Replace(whole, "WARC-Date", strings.Repeat("X: y\r\n", maxHeader)+"WARC-Date", 1) + page(3), "1 3", "the header has more than"},
		"line bomb":               {zip(page(1), strings.Replace(whole, "WARC-Date", "X: "+strings.Repeat("y", maxHeader)+"\r\nWARC-Date", 1), page(3)), "1 3", "the header has more than"},
		"spoilt header of member": {spoilt(2), "1 3", ""},
		"spoilt data":             {spoilt(40), "1 3", ""},
		"spoilt checksum":         {spoilt(len(zip(page(2))) - 6), "1 3", "checksum"},
		"bomb":                    {zip(page(1), bomb, page(3)), "1 3", "expands too far"},
		"not WARC":                {"<html>this is none</html>", "", "byte 0: no record of WARC"},
		"gzip of something":       {zip("<html>this is none</html>"), "", "no record of WARC"},
		"rubbish between":         {page(1) + "rubbish\r\n" + page(3), "1 3", "no record of WARC"},
		"rubbish between members": {zip(page(1)) + "rubbish\r\n" + zip(page(3)), "1 3", "no record of WARC"},
		"empty":                   {"", "", ""},
	} {
		targets, faults := read(t, c.content)
		if got := strings.Join(targets, " "); got != c.want {
			t.Errorf("%s: got records %q, want %q; faults %q", name, got, c.want, faults)
		}
		if all := strings.Join(faults, "; "); !strings.Contains(all, c.fault) || (len(faults) == 0) != (name == "empty") {
			t.Errorf("%s: faults %q", name, faults)
		}
	}
}

// countedFile is a file in memory that counts how many bytes are read from it.
type countedFile struct {
	*strings.Reader
	read int64
}

func (c *countedFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.Reader.ReadAt(p, at)
	c.read += int64(n)
	return n, err
}

// TestNeverQuadratic checks that, whatever the file has, the number of bytes read is proportional
// to its size: at most four times the size plus 2·minAgain.
func TestNeverQuadratic(t *testing.T) {
	liar := "WARC/1.1\r\nContent-Length: 900000\r\n\r\n"
	fake := "\x1F\x8B\x08\x00" + strings.Repeat("\x00", 8)
	for name, content := range map[string]string{
		"liars":            strings.Repeat(liar, 30_000),
		"bare lines":       strings.Repeat("\nWARC/1.1\n", 100_000),
		"fake members":     zip(page(1)) + strings.Repeat(fake, 100_000),
		"begun members":    zip(page(1)) + strings.Repeat(zip(page(2))[:40], 30_000),
		"liars in members": zip(page(1)) + strings.Repeat(zip(liar), 20_000),
	} {
		file := &countedFile{Reader: strings.NewReader(content)}
		r := NewReader(file, int64(len(content)))
		steps := 0
		for {
			record, err := r.Next()
			if err == io.EOF {
				break
			}
			if steps++; err == nil {
				_, _ = io.Copy(io.Discard, record)
			}
		}
		if most := 4*int64(len(content)) + 2*minAgain; file.read > most {
			t.Errorf("%s: %d bytes read of %d, in %d steps", name, file.read, len(content), steps)
		}
	}
}

func TestAt(t *testing.T) {
	for name, content := range map[string]string{
		"plain": page(1) + page(2) + page(3), "members": zip(page(1), page(2), page(3)), "one member": zip(page(1) + page(2) + page(3)),
	} {
		r := NewReader(strings.NewReader(content), int64(len(content)))
		var places []Place
		for {
			record, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			places = append(places, record.Place)
		}
		for _, n := range []int{3, 1, 2, 2, 3} {
			record, err := r.At(places[n-1])
			if err != nil {
				t.Fatal(name, err)
			}
			c, err := record.Capture(100)
			if want := fmt.Sprintf("<p>This is page %d.", n); err != nil || string(c.Body) != want {
				t.Errorf("%s: %q, %v", name, c.Body, err)
			}
		}
	}
}

func capture(t *testing.T, record string, limit int64) (Capture, error) {
	t.Helper()
	r, err := NewReader(strings.NewReader(record), int64(len(record))).Next()
	if err != nil {
		t.Fatal(err)
	}
	return r.Capture(limit)
}

func TestCapture(t *testing.T) {
	const html = "<html><title>This is a page of some words</title>"
	packed := zip(html)
	at := time.Date(2026, 11, 21, 22, 0, 0, 5e8, time.UTC)
	for name, c := range map[string]struct {
		header, body string
		want         string
		coding       string
		fails        bool
	}{
		"plain":                    {"Content-Length: 49", html, html, "", false},
		"without a length":         {"X: y", html, html, "", false},
		"in chunks":                {"Transfer-Encoding: chunked", "5\r\n<html\r\n2c;x=y\r\n" + html[5:] + "\r\n0\r\n\r\n", html, "", false},
		"chunks removed":           {"Transfer-Encoding: chunked", html, html, "", false},
		"chunks end early":         {"Transfer-Encoding: chunked", "5\r\n<html\r\n2c\r\n>", "", "", true},
		"gzip":                     {"Content-Encoding: gzip", packed, packed, "gzip", false},
		"gzip in chunks":           {"Content-Encoding: gzip\r\nTransfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(packed), packed), packed, "gzip", false},
		"gzip removed":             {"Content-Encoding: gzip\r\nContent-Length: 9999", html, html, "", false},
		"brotli removed":           {"Content-Encoding: br", html, html, "", false},
		"shorter than it should":   {"Content-Length: 50", html, "", "", true},
		"a line that is no header": {"nonsense\r\n: empty", html, html, "", false},
	} {
		got, err := capture(t, text("response", "http://example.org/", "HTTP/1.1 200 OK\r\n"+c.header+"\r\n\r\n"+c.body, "WARC-IP-Address: 192.0.2.1"), 1000)
		if c.fails {
			if !errors.Is(err, ErrShort) {
				t.Errorf("%s: error %v", name, err)
			}
			continue
		}
		if err != nil || got.Status != 200 || string(got.Body) != c.want || got.Header.Get("Content-Encoding") != c.coding || !got.Time.Equal(at) || got.Address.String() != "192.0.2.1" {
			t.Errorf("%s: %+v, error %v", name, got, err)
		}
	}
	cut, err := capture(t, text("response", "http://example.org/", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"+html, "WARC-Truncated: length"), 1000)
	if err != nil || cut.Cut != "length" || string(cut.Body) != html {
		t.Errorf("cut: %+v, %v", cut, err)
	}
	long, err := capture(t, text("response", "http://example.org/", "HTTP/1.1 200 OK\r\nContent-Length: 49\r\n\r\n"+html), 10)
	if err != nil || len(long.Body) != 11 {
		t.Errorf("too long: %d bytes, %v", len(long.Body), err)
	}
	resource, err := capture(t, text("resource", "http://example.org/", html, "Content-Type: text/html"), 1000)
	if err != nil || resource.Status != http.StatusOK || string(resource.Body) != html || resource.Header.Get("Content-Type") != "text/html" {
		t.Errorf("resource: %+v, %v", resource, err)
	}
	if _, err := capture(t, text("response", "http://example.org/", "gopher"), 1000); !errors.Is(err, errAnswer) {
		t.Errorf("no answer: %v", err)
	}
	if _, err := capture(t, strings.Replace(page(1), "2026-11-21T", "yesterday ", 1), 1000); err == nil || !strings.Contains(err.Error(), "WARC-Date") {
		t.Errorf("bad date: %v", err)
	}
}

// FuzzReader checks for arbitrary files that reading comes to an end, and that a Capture has no more
// of a body than its limit allows.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{page(1), zip(page(1), page(2)), zip(page(1) + page(2)), "WARC/1.0\r\nContent-Length: 5\r\n\r\nab", "\x1F\x8B\x08\x00\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		r := NewReader(bytes.NewReader(content), int64(len(content)))
		for steps := 0; ; steps++ {
			if steps > 2*len(content)+2 {
				t.Fatal("reading does not end")
			}
			record, err := r.Next()
			if err == io.EOF {
				return
			}
			if err == nil {
				c, _ := record.Capture(1000)
				if len(c.Body) > 1001 {
					t.Fatalf("%d bytes of a body", len(c.Body))
				}
			}
		}
	})
}
