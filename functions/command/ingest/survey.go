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

// spot is the position of a record: file is the index of its WARC file in Task.sources, and Place
// the position in this file.
type spot struct {
	file int
	warc.Place
}

// capture is the newest capture of a URL in the files.
type capture struct {
	spot           // place of the capture's record
	at   time.Time // time of the capture
	// place of the record with the HTTP body: usually the same as the field spot; a revisit record has
	// no body but refers to an earlier record, so its body is at the place of that record
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
	// Places of the response and resource records. Each place is in the map under two keys: the
	// hash of the record's id, and the hash of its URL and time.
	answers map[uint64]spot
	assets  bool                     // the collection wants the assets of its pages
	parts   map[layout.Identity]bool // URLs to which pages and style sheets refer as assets, and to which redirects lead
	posted  map[uint64]bool          // hashes of the ids of records that belong to requests with another method than GET
	seed    maphash.Seed             // seed of the hashes in answers and posted
}

// maxInside limits to which captured answers a revisit record can refer. Such an answer may begin
// at most this many bytes into the decompressed content of its gzip member. The limit saves time:
// to read the answer, the member has to be decompressed from its beginning.
const maxInside = 4 << 20

// earliest is the earliest time of a capture that is accepted: there was no web before.
var earliest = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)

// file reads the file at the given index in Task.sources. It calls progress with the number of bytes
// read so far, adds damaged records to the report, and fails if the file cannot be read.
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

// judge returns the capture in a record, and the reason why this capture is not imported; the
// reason is "" if it is imported. For a record without an answer, such as a request or metadata, it
// returns nil and "".
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

// answer decides by the status and media type of an HTTP answer whether it may be imported. Pages and
// redirects may be imported; assets may be if the collection wants assets. The result is "" if the
// answer may be imported, otherwise the reason why not.
//
// If the collection wants assets, URLs that may be assets of pages are added to s.parts:
//
//	kind of the HTTP answer           URLs added to s.parts
//	redirect                          its destination
//	asset, such as a style sheet      the assets to which it refers
//	page, if admitted is true         the assets to which it refers
//	page, if admitted is false        none
//
// The parameter admitted is true if the collection admits the URL as a page. For every page, f.part is
// set to false, because only an asset can be imported as part of a page.
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

// dropUnreferred removes the captures that are outside the scope of the collection, and to which no
// page or style sheet in the files refers as an asset. Of what is outside the scope, only assets of
// pages are imported.
func (s *survey) dropUnreferred() {
	for id, c := range s.newest {
		if c.part && !s.parts[id] {
			s.report.Passed[collection.OutOfScope]++
			delete(s.newest, id)
		}
	}
}

// refuses returns the reason why a URL must not be imported; "" if it may be. The published takedowns,
// collection and strategies decide that. By the rules of a collection, it also matters what kind of
// link has led to a URL. No link has led to an imported URL, so the caller chooses the kind.
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
// later is kept already. It counts the older of the two captures as not imported.
func (s *survey) add(f candidate) {
	known, isKnown := s.newest[f.address.ID]
	if isKnown {
		s.report.Passed["another capture in the files is newer"]++
	}
	if !isKnown || f.at.After(known.at) {
		s.newest[f.address.ID] = f.capture
	}
}

// request reads the record of a request. If the method is not GET, it stores the record's
// WARC-Record-ID and WARC-Concurrent-To. By these ids isPosted recognizes the answer to the
// request, which must not be imported.
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

// hash returns a hash of the parts; s.seed is the seed of the hash function.
func (s *survey) hash(parts ...string) uint64 {
	return maphash.String(s.seed, strings.Join(parts, "\n"))
}

// remember stores the place of a captured answer. A revisit record may refer to this answer, and
// the method original then finds the place.
func (s *survey) remember(r *warc.Record, at spot) {
	if at.Inside > maxInside {
		return
	}
	if id := r.Field("WARC-Record-ID"); id != "" {
		s.answers[s.hash(id)] = at
	}
	s.answers[s.hash(r.Target(), r.Field("WARC-Date"))] = at
}

// original returns the place of the earlier answer to which a revisit record refers. The revisit
// record names the id of that answer's record, or the URL and time of that answer. original returns
// false if the files read so far do not have the answer.
func (s *survey) original(r *warc.Record) (spot, bool) {
	if id := r.Field("WARC-Refers-To"); id != "" {
		if at, known := s.answers[s.hash(id)]; known {
			return at, true
		}
	}
	at, known := s.answers[s.hash(r.Field("WARC-Refers-To-Target-URI"), r.Field("WARC-Refers-To-Date"))]
	return at, known
}
