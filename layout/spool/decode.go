package spool

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// ErrDamaged is wrapped by an error that is caused by the bytes of a spool object, and
// not by the store or the caller.
var ErrDamaged = errors.New("spool is damaged")

// decode decodes a whole spool object. The compressed pages share memory with content, which must
// not be changed afterwards. Errors wrap ErrDamaged.
func decode(content []byte) (Spool, error) {
	s, err := decodeSpool(content)
	if err != nil {
		return Spool{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return s, nil
}

func decodeSpool(content []byte) (Spool, error) {
	tail, err := cutTail(content)
	if err != nil {
		return Spool{}, err
	}
	end := len(content) - len(tail)
	if got := string(content[:min(end, len(magic))]); got != magic {
		return Spool{}, fmt.Errorf("begins with %q, want %q", got, magic)
	}
	ledger, entries, err := decodeTail(tail)
	if err != nil {
		return Spool{}, err
	}
	s := Spool{Ledger: ledger}
	at, bodies := len(magic), content[:end]
	for i, e := range entries {
		o := ledger.Outcomes[e.Outcome]
		if e.Length > int64(len(bodies)-at) {
			return Spool{}, fmt.Errorf("page %d, %s: %d bytes at byte %d, where bodies end at %d", i, o.URL, e.Length, at, end)
		}
		next := at + int(e.Length)
		run := webobject.Run{URL: o.URL, Compressed: bodies[at:next:next], Size: e.Size, CRC: e.CRC}
		if crc32.Checksum(run.Compressed, castagnoli) != e.Check {
			return Spool{}, fmt.Errorf("page %d, %s: checksum of %d bytes at byte %d does not match", i, o.URL, e.Length, at)
		}
		s.Pages, at = append(s.Pages, Page{Outcome: e.Outcome, Run: run}), next
	}
	if at != end {
		return Spool{}, fmt.Errorf("%d bytes at byte %d belong to no page", end-at, at)
	}
	return s, check(s)
}

// tailSize returns the size in bytes of the tail of a spool object: of everything after the
// compressed pages. content is the end of the object, with at least the footer.
func tailSize(content []byte) (int64, error) {
	if len(content) < footerSize {
		return 0, fmt.Errorf("%d bytes are too few for a spool", len(content))
	}
	footer := content[len(content)-footerSize:]
	if got := string(footer[16:]); got != magic {
		return 0, fmt.Errorf("footer: ends with %q, want %q", got, magic)
	}
	size := int64(binary.BigEndian.Uint32(footer)) + int64(binary.BigEndian.Uint32(footer[4:])) + int64(binary.BigEndian.Uint32(footer[8:]))
	if size > maxTail {
		return 0, fmt.Errorf("footer: ledger of %d bytes, at most %d allowed", size, maxTail)
	}
	return size + int64(footerSize), nil
}

// cutTail returns the tail of a spool object (see tailSize). The parameter end is the last part of
// the object, or all of it. cutTail fails if end is shorter than the tail.
func cutTail(end []byte) ([]byte, error) {
	size, err := tailSize(end)
	if err != nil {
		return nil, err
	}
	if size > int64(len(end)) {
		return nil, fmt.Errorf("footer: tail of %d bytes in %d", size, len(end))
	}
	return end[int64(len(end))-size:], nil
}

// decodeTail decodes the tail of a spool object (see tailSize). It returns the ledger, which holds
// all results except the pages, and an entry for each page. It checks the indexes and sizes in
// these entries.
func decodeTail(tail []byte) (Ledger, []pageEntry, error) {
	end := len(tail) - footerSize
	footer := tail[end:]
	if binary.BigEndian.Uint32(footer[12:]) != crc32.Checksum(tail[:end+12], castagnoli) {
		return Ledger{}, nil, errors.New("ledger: checksum does not match")
	}
	learnt := tail[:binary.BigEndian.Uint32(footer)]
	robots := tail[len(learnt):][:binary.BigEndian.Uint32(footer[4:])]
	var h heading
	if err := json.Unmarshal(tail[len(learnt)+len(robots):end], &h); err != nil {
		return Ledger{}, nil, fmt.Errorf("heading: %w", err)
	}
	if len(h.Pages) > MaxPages {
		return Ledger{}, nil, fmt.Errorf("heading: %d pages, at most %d allowed", len(h.Pages), MaxPages)
	}
	b, err := book.Decode(learnt)
	if err != nil {
		return Ledger{}, nil, fmt.Errorf("ledger, %d bytes before the end: %w", len(tail), err)
	}
	l := Ledger{
		Batch: h.Batch, Crawl: h.Crawl, Host: h.Host, Ended: time.UnixMilli(h.Ended).UTC(),
		Slow: h.Slow, Failures: h.Failures, Outcomes: b.Outcomes, Links: b.Links,
		Vitals: Vitals{Worker: h.Worker, Elapsed: h.Elapsed, Bytes: h.Bytes},
	}
	if h.Rest != 0 {
		l.Rest = time.UnixMilli(h.Rest).UTC()
	}
	for i, e := range h.Robots {
		if e.Length < 0 || e.Length > min(len(robots), MaxBody) {
			return Ledger{}, nil, fmt.Errorf("robots.txt %d: %d bytes where %d remain", i, e.Length, len(robots))
		}
		r := Robots{Origin: e.Origin, Status: e.Status, Fetched: time.UnixMilli(e.Fetched).UTC()}
		if e.Length > 0 {
			r.Body = bytes.Clone(robots[:e.Length])
		}
		l.Robots, robots = append(l.Robots, r), robots[e.Length:]
	}
	if len(robots) > 0 {
		return Ledger{}, nil, fmt.Errorf("%d bytes behind the last robots.txt", len(robots))
	}
	for i, e := range h.Pages {
		if e.Outcome < 0 || e.Outcome >= len(l.Outcomes) || e.Length < 0 || e.Size < 0 || e.Size > MaxSize {
			return Ledger{}, nil, fmt.Errorf("page %d: outcome %d of %d, length %d, size %d", i, e.Outcome, len(l.Outcomes), e.Length, e.Size)
		}
		l.Stored += e.Size
	}
	l.Pages = len(h.Pages)
	return l, h.Pages, nil
}
