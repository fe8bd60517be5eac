package ingest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/warc"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// spot is the place of a record in one of the files.
type spot struct {
	file int
	warc.Place
}

// capture is the newest capture of a URL in the files.
type capture struct {
	spot           // place of the capture's record
	at   time.Time // time of the capture
	// place of the record with the body: for a revisit record, of the record to which it refers;
	// else spot
	body spot
}

// survey is the state of the first reading of the files: it collects the newest capture of each
// URL, and counts all other captures by reason.
type survey struct {
	task     *Task
	settings *settings.Settings
	now      time.Time
	report   *Report
	newest   map[layout.Identity]capture
	// places of response and resource records, by two hashes: of the record's id, and of its URL
	// and time
	answers map[uint64]spot
	posted  map[uint64]bool // hashes of the ids of records that belong to requests with another method than GET
	seed    maphash.Seed    // seed of the hashes in answers and posted
}

// maxInside is the greatest distance in bytes between the beginning of a gzip member and an
// answer in it to which revisit records can refer. To read the answer for each revisit, the
// member has to be decompressed from its beginning.
const maxInside = 4 << 20

// earliest is the earliest time of a capture that is accepted: there was no web before.
var earliest = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)

// file reads the file with the index number in Task.Files, and calls progress with the number of
// bytes read so far. It counts damaged records, and fails if the file cannot be read.
func (s *survey) file(ctx context.Context, number int, progress func(int64)) error {
	file, size, err := open(s.task.Files[number])
	if err != nil {
		return err
	}
	defer file.Close()
	reader := warc.NewReader(file, size)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		record, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = s.record(reader, record, number)
		}
		var fault *warc.Fault
		switch {
		case errors.As(err, &fault):
			s.report.fault(s.task.Files[number], fault)
		case err != nil:
			return fmt.Errorf("cannot read %s: %w", s.task.Files[number], err)
		}
		progress(reader.Offset())
	}
}

// open opens a WARC file and returns it with its size in bytes. For a file of another kind of
// archive, the error says how to unpack it.
func open(path string) (*os.File, int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	begin := make([]byte, 4)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	if err == nil {
		if _, errRead := file.ReadAt(begin, 0); errRead != nil && errRead != io.EOF {
			err = errRead
		}
	}
	switch string(begin) {
	case "PK\x03\x04":
		err = errors.New("it is a zip file; if it is a WACZ, unzip it and import the files in its folder archive")
	case "\x28\xB5\x2F\xFD":
		err = errors.New("it is compressed by zstd; unpack it first: zstd -d")
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("cannot import %s: %w", path, err), file.Close())
	}
	return file, info.Size(), nil
}

// kinds are the types of records (WARC 1.1, 6).
var kinds = []string{"warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion", "continuation"}

// record reads one record to its end. A capture in it that may be imported is passed to add; any
// other is counted by the reason for which it is not imported.
func (s *survey) record(reader *warc.Reader, r *warc.Record, file int) error {
	kind := r.Type
	if !slices.Contains(kinds, kind) {
		kind = "other"
	}
	s.report.Records[kind]++
	at := spot{file, r.Place}
	found, reason, err := s.judge(r, at)
	if err == nil {
		err = reader.Finish()
	}
	switch {
	case err != nil:
		return err
	case reason != "":
		s.report.Passed[reason]++
	case found != nil:
		s.add(*found)
	}
	return nil
}

// candidate is a capture that may be imported, and its URL.
type candidate struct {
	capture
	address address.Address
}

// judge returns the capture in a record; or the reason why the record is not imported; or
// neither for a record without an answer, such as a request or metadata.
func (s *survey) judge(r *warc.Record, at spot) (*candidate, string, error) {
	switch r.Type {
	case "request":
		return nil, "", s.request(r)
	case "response", "resource", "revisit":
	default:
		return nil, "", nil
	}
	target := r.Target()
	if scheme, _, _ := strings.Cut(strings.ToLower(target), ":"); scheme != "http" && scheme != "https" {
		return nil, "not of the web", nil
	}
	when, err := r.Time()
	if err == nil && (when.Before(earliest) || when.After(s.now.Add(24*time.Hour))) {
		err = fmt.Errorf("WARC-Date %s is not of the past", when.Format(time.RFC3339))
	}
	if err != nil {
		return nil, "", &warc.Fault{Place: r.Place, Err: err}
	}
	f := &candidate{capture: capture{spot: at, at: when.Truncate(time.Millisecond), body: at}}
	if r.Type == "revisit" {
		body, known := s.original(r)
		if !known {
			return nil, "revisit of a record that is not in the files", nil
		}
		f.body = body
	} else {
		s.remember(r, at)
		reason, err := s.answer(r)
		if err != nil {
			return nil, "", &warc.Fault{Place: r.Place, Err: err}
		}
		if reason != "" {
			return nil, reason, nil
		}
	}
	if f.address, err = address.Parse(target); err != nil {
		return nil, "bad address", nil
	}
	return f, s.refuses(f.address), nil
}

// answer returns why an answer is not imported, by its status and media type; "" for a page or
// redirect.
func (s *survey) answer(r *warc.Record) (reason string, err error) {
	status, header, err := r.Status()
	kind := header.Get("Content-Type")
	if r.Type == "resource" {
		kind = r.Field("Content-Type")
	}
	switch {
	case err != nil:
		return "", err
	case status/100 == 3 && status != http.StatusNotModified && header.Get("Location") != "":
		return "", nil
	case status/100 != 2, status == http.StatusNoContent, status == http.StatusResetContent, status == http.StatusPartialContent:
		return fmt.Sprintf("http %d", status), nil
	case !document.MayBeReadable(kind):
		return "type", nil
	}
	return "", nil
}

// refuses returns why a URL is not imported, by the published takedowns, collection and
// strategies; "" if it is imported.
func (s *survey) refuses(at address.Address) string {
	switch path, _, _ := strings.Cut(at.Path, "?"); {
	case path == "/robots.txt":
		return "robots.txt"
	case s.settings.Takedowns.Forgets(at):
		return membership.Forgotten
	}
	if s.settings.Collection(s.task.Collection).Version > 0 {
		// The way of a redirect is not bound to a topic, which cannot be known yet.
		way := membership.Path{Collection: s.task.Collection, Kind: book.Redirect, Depth: s.task.depth(s.settings, at)}
		return s.settings.Decide(way, at)
	}
	if _, err := s.settings.Crawl.Decide(at); err != nil {
		return membership.Refused
	}
	if _, err := s.settings.Storage.Decide(at); err != nil {
		return membership.NoPartition
	}
	return ""
}

// add keeps a candidate as the newest capture of its URL, unless the capture kept so far is newer.
// It counts the older of the two as not imported.
func (s *survey) add(f candidate) {
	known, isKnown := s.newest[f.address.ID]
	if isKnown {
		s.report.Passed["another capture in the files is newer"]++
	}
	if !isKnown || f.at.After(known.at) {
		s.newest[f.address.ID] = f.capture
	}
}

// request remembers the ids in a request record, WARC-Record-ID and WARC-Concurrent-To, if the
// request was not a GET: the answer to it is not imported.
func (s *survey) request(r *warc.Record) error {
	line, err := bufio.NewReaderSize(r, 64).Peek(4)
	if err != nil || string(line) == "GET " || r.Field("Content-Type") == "" {
		return nil
	}
	for _, id := range []string{r.Field("WARC-Record-ID"), r.Field("WARC-Concurrent-To")} {
		if id != "" {
			s.posted[s.hash(id)] = true
		}
	}
	return nil
}

// isPosted reports whether a record is the answer to a request with another method than GET.
func (s *survey) isPosted(r *warc.Record) bool {
	return s.posted[s.hash(r.Field("WARC-Record-ID"))] || s.posted[s.hash(r.Field("WARC-Concurrent-To"))]
}

// hash returns a hash of the parts, with the seed of this survey.
func (s *survey) hash(parts ...string) uint64 {
	return maphash.String(s.seed, strings.Join(parts, "\n"))
}

// remember stores the place of an answer, so that original finds it for revisit records.
func (s *survey) remember(r *warc.Record, at spot) {
	if at.Inside > maxInside {
		return
	}
	if id := r.Field("WARC-Record-ID"); id != "" {
		s.answers[s.hash(id)] = at
	}
	s.answers[s.hash(r.Target(), r.Field("WARC-Date"))] = at
}

// original returns the place of the answer to which a revisit record refers, by the id of its
// record, or by its URL and time. It returns false if the answer is not in the files read so far.
func (s *survey) original(r *warc.Record) (spot, bool) {
	if id := r.Field("WARC-Refers-To"); id != "" {
		if at, known := s.answers[s.hash(id)]; known {
			return at, true
		}
	}
	at, known := s.answers[s.hash(r.Field("WARC-Refers-To-Target-URI"), r.Field("WARC-Refers-To-Date"))]
	return at, known
}
