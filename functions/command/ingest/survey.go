package ingest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/warc"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// spot is the position of a record: the index of its file in Task.sources, and its position in the
// file.
type spot struct {
	file int
	warc.Place
}

// capture is the newest capture of a URL in the files.
type capture struct {
	spot           // place of the capture's record
	at   time.Time // time of the capture
	// place of the record with the body: spot or, for a revisit record, the place of the record to
	// which it refers
	body spot
	part bool // the URL is imported only if a page or style sheet in the files refers to it as an asset
}

// survey is the state of the first reading of the files: it collects the newest capture of each
// URL, and counts all other captures by reason.
type survey struct {
	task     *Task
	settings *settings.Settings
	now      time.Time
	report   *Report
	newest   map[layout.Identity]capture
	// place of each response and resource record, twice: by the hash of its id, and by the hash of its
	// URL and time
	answers map[uint64]spot
	assets  bool                     // the collection wants the assets of its pages
	parts   map[layout.Identity]bool // URLs to which pages and style sheets refer as assets, and to which redirects lead
	posted  map[uint64]bool          // hashes of the ids of records that belong to requests with another method than GET
	seed    maphash.Seed             // seed of the hashes in answers and posted
}

// maxInside is the greatest offset in the decompressed content of a gzip member at which an answer
// may begin, so that revisit records can refer to it. There is a limit because for each such
// revisit record the member is decompressed from its beginning up to the answer.
const maxInside = 4 << 20

// earliest is the earliest time of a capture that is accepted: there was no web before.
var earliest = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)

// file reads the file with the index number in Task.sources, and calls progress with the number of
// bytes of it read so far. It adds damaged records to the report, and fails if the file cannot be
// read.
func (s *survey) file(ctx context.Context, number int, progress func(int64)) error {
	from := s.task.sources[number]
	input, err := from.open()
	if err != nil {
		return err
	}
	defer input.Close()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		record, err := input.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = s.record(input.Reader, record, number)
		}
		var fault *warc.Fault
		switch {
		case errors.As(err, &fault):
			s.report.fault(from.name, fault)
		case err != nil:
			return fmt.Errorf("cannot read %s: %w", from.name, err)
		}
		progress(input.Offset())
	}
}

// kinds are the known types of WARC records (WARC 1.1, 6).
var kinds = []string{"warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion", "continuation"}

// record reads one record to its end. If the record has a capture that may be imported, record
// passes it to add. Otherwise it counts the capture by the reason for which it is not imported.
func (s *survey) record(input *warc.Reader, r *warc.Record, file int) error {
	kind := r.Type
	if !slices.Contains(kinds, kind) {
		kind = "other"
	}
	s.report.Records[kind]++
	at := spot{file, r.Place}
	found, reason, err := s.judge(r, at)
	if err == nil {
		err = input.Finish()
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

// judge returns the capture in a record, and the reason for which this capture is not imported (""
// if it is imported). A record without an answer, such as a request or metadata, has neither a
// capture nor a reason.
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
	}
	if f.address, err = address.Parse(target); err != nil {
		return nil, "bad address", nil
	}
	refusal := s.refuses(f.address, book.Redirect) // a redirect need not be on topic: the page's topic is unknown yet
	if s.assets && refusal != "" {
		f.part = s.refuses(f.address, book.Asset) == ""
	}
	if r.Type != "revisit" {
		reason, err := s.answer(r, f, refusal == "")
		if err != nil {
			return nil, "", &warc.Fault{Place: r.Place, Err: err}
		}
		if reason != "" {
			return nil, reason, nil
		}
	}
	if f.part {
		refusal = ""
	}
	return f, refusal, nil
}

// answer decides by the status and media type of an HTTP answer whether it may be imported: it may
// if it is a page, a redirect or, if the collection wants assets, an asset. The result is "" if it
// may, otherwise the reason why not. The parameter admitted is true if the collection admits the
// URL as a page.
//
// If the collection wants assets, answer also adds to s.parts the destination of a redirect, and
// the assets to which a style sheet or an admitted page refers. It sets f.part to false if the
// answer is no asset, because only assets are imported as parts of other pages.
func (s *survey) answer(r *warc.Record, f *candidate, admitted bool) (reason string, err error) {
	var c warc.Capture
	if s.assets {
		if c, err = r.Capture(maxPage); errors.Is(err, warc.ErrShort) {
			err = nil // the second reading passes over it
		}
	} else {
		c.Status, c.Header, err = r.Status()
	}
	if err != nil {
		return "", err
	}
	kind := c.Header.Get("Content-Type")
	if r.Type == "resource" {
		kind = r.Field("Content-Type")
	}
	isAsset := s.assets && document.IsAsset(kind)
	switch {
	case c.Status/100 == 3 && c.Status != http.StatusNotModified && c.Header.Get("Location") != "":
		if to, err := f.address.Resolve(c.Header.Get("Location")); s.assets && err == nil {
			s.parts[to.ID] = true
		}
		return "", nil
	case c.Status/100 != 2, c.Status == http.StatusNoContent, c.Status == http.StatusResetContent, c.Status == http.StatusPartialContent:
		return fmt.Sprintf("http %d", c.Status), nil
	case !isAsset && !document.MayBeReadable(kind):
		return "type", nil
	}
	f.part = f.part && isAsset
	if s.assets && (admitted || isAsset) {
		for _, part := range s.task.Fetch.Assets(c, f.address) {
			s.parts[part.ID] = true
		}
	}
	return "", nil
}

// dropUnreferred removes the captures that are imported only as parts of pages, and to which
// no page or style sheet refers.
func (s *survey) dropUnreferred() {
	for id, c := range s.newest {
		if c.part && !s.parts[id] {
			s.report.Passed[collection.OutOfScope]++
			delete(s.newest, id)
		}
	}
}

// refuses returns the reason for which a URL must not be imported according to the published
// takedowns, collection and strategies; "" if it may be. The collection decides as if a link of the
// given kind led to the URL.
func (s *survey) refuses(at address.Address, kind book.Kind) string {
	switch path, _, _ := strings.Cut(at.Path, "?"); {
	case path == "/robots.txt":
		return "robots.txt"
	case s.settings.Takedowns.Forgets(at):
		return membership.Forgotten
	}
	if s.settings.Collection(s.task.Collection).Version > 0 {
		way := membership.Path{Collection: s.task.Collection, Kind: kind, Depth: s.task.depth(s.settings, at)}
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

// add keeps a candidate as the newest capture of its URL, unless a capture of the same time or
// later is kept already. If there are two, it counts the other one as not imported.
func (s *survey) add(f candidate) {
	known, isKnown := s.newest[f.address.ID]
	if isKnown {
		s.report.Passed["another capture in the files is newer"]++
	}
	if !isKnown || f.at.After(known.at) {
		s.newest[f.address.ID] = f.capture
	}
}

// request remembers the record of a request that was not a GET, by its WARC-Record-ID and
// WARC-Concurrent-To, because the answer to such a request is not imported (see isPosted).
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
