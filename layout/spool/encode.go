package spool

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

// Caps on the content of a spool object. For outcomes and links, the caps of package book
// apply.
const (
	MaxPages  = 1_000     // greatest number of pages in a spool object
	MaxSize   = 8 << 30   // greatest size of a page before compression, in bytes
	MaxRobots = 100       // greatest number of answers to requests for a robots.txt
	MaxBody   = 500 << 10 // greatest size of one robots.txt, in bytes
	MaxName   = 8 << 10   // greatest size of Host, Worker and Origin each, in bytes
)

const (
	magic      = "\xffSPOOL\x01\n"
	footerSize = 4*4 + len(magic)
	maxTail    = 512 << 20 // greatest size of everything after the bodies, in bytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode returns the bytes of a spool object. It sorts the outcomes and links as in a book, and
// changes the indexes Page.Outcome accordingly. So a Read of the bytes may return the outcomes and
// links in another order than s has them. Pages and robots.txt answers keep their order. Encode
// fails if the content exceeds the caps. It also fails if the outcome of a page is not Stored or
// has another URL, or if a Stored outcome does not have exactly one page. It does not change s.
func Encode(s Spool) ([]byte, error) {
	file, err := encode(s)
	if err != nil {
		return nil, fmt.Errorf("cannot encode spool of batch %s: %w", s.Ledger.Batch, err)
	}
	return file, nil
}

func encode(s Spool) ([]byte, error) {
	if err := check(s); err != nil {
		return nil, err
	}
	l := s.Ledger
	learnt, err := book.EncodeFast(book.Book{Outcomes: l.Outcomes, Links: l.Links})
	if err != nil {
		return nil, err
	}
	h := heading{
		Batch: l.Batch, Crawl: l.Crawl, Host: l.Host, Ended: l.Ended.UnixMilli(),
		Slow: l.Slow, Failures: l.Failures,
		Worker: l.Vitals.Worker, Elapsed: l.Vitals.Elapsed, Bytes: l.Vitals.Bytes,
	}
	if !l.Rest.IsZero() {
		h.Rest = l.Rest.UnixMilli()
	}
	size := len(magic)
	numbers := sortedNumbers(l.Outcomes)
	for _, p := range s.Pages {
		run := p.Run
		size += len(run.Compressed)
		h.Pages = append(h.Pages, pageEntry{
			Outcome: numbers[p.Outcome], Length: int64(len(run.Compressed)), Check: crc32.Checksum(run.Compressed, castagnoli),
			Size: run.Size, CRC: run.CRC,
		})
	}
	bodies := 0
	for _, r := range l.Robots {
		bodies += len(r.Body)
		h.Robots = append(h.Robots, robotsEntry{Origin: r.Origin, Status: r.Status, Length: len(r.Body), Fetched: r.Fetched.UnixMilli()})
	}
	head, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	sizes := [3]int{len(learnt), bodies, len(head)}
	tail := len(learnt) + bodies + len(head)
	if tail > maxTail {
		return nil, fmt.Errorf("ledger of %d bytes, at most %d allowed", tail, maxTail)
	}
	file := append(make([]byte, 0, size+tail+footerSize), magic...)
	for _, p := range s.Pages {
		file = append(file, p.Run.Compressed...)
	}
	start := len(file)
	file = append(file, learnt...)
	for _, r := range l.Robots {
		file = append(file, r.Body...)
	}
	file = append(file, head...)
	for _, size := range sizes {
		file = binary.BigEndian.AppendUint32(file, uint32(size))
	}
	file = binary.BigEndian.AppendUint32(file, crc32.Checksum(file[start:], castagnoli))
	return append(file, magic...), nil
}

// sortedNumbers returns, for each outcome, the index that it has after sorting.
func sortedNumbers(outcomes []book.Outcome) []int {
	order := make([]int, len(outcomes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(outcomes[a].Compare(outcomes[b]), cmp.Compare(a, b))
	})
	numbers := make([]int, len(outcomes))
	for sorted, given := range order {
		numbers[given] = sorted
	}
	return numbers
}

// check returns an error if Encode must refuse s; the comment of Encode gives the reasons.
func check(s Spool) error {
	l := s.Ledger
	if len(s.Pages) > MaxPages || len(l.Robots) > MaxRobots {
		return fmt.Errorf("%d pages and %d robots.txt answers, at most %d and %d allowed", len(s.Pages), len(l.Robots), MaxPages, MaxRobots)
	}
	if n := max(len(l.Host), len(l.Vitals.Worker)); n > MaxName {
		return fmt.Errorf("host or worker of %d bytes, at most %d allowed", n, MaxName)
	}
	for _, r := range l.Robots {
		if len(r.Body) > MaxBody || len(r.Origin) > MaxName {
			return fmt.Errorf("robots.txt of %.100q: %d bytes, at most %d allowed", r.Origin, len(r.Body), MaxBody)
		}
	}
	hasPage := make([]bool, len(l.Outcomes))
	for i, p := range s.Pages {
		if p.Outcome < 0 || p.Outcome >= len(l.Outcomes) {
			return fmt.Errorf("page %d: outcome %d of %d", i, p.Outcome, len(l.Outcomes))
		}
		o := l.Outcomes[p.Outcome]
		switch {
		case o.State != book.Stored:
			return fmt.Errorf("page %d: its outcome is that %s is %v", i, o.URL, o.State)
		case p.Run.URL != o.URL:
			return fmt.Errorf("page %d: its run is of %s, its outcome of %s", i, p.Run.URL, o.URL)
		case hasPage[p.Outcome]:
			return fmt.Errorf("page %d: outcome of %s has a page already", i, o.URL)
		case p.Run.Size < 0 || p.Run.Size > MaxSize:
			return fmt.Errorf("page %d: size %d, want 0 to %d", i, p.Run.Size, MaxSize)
		case len(p.Run.Compressed) == 0:
			return fmt.Errorf("page %d: run of %s is empty", i, o.URL)
		}
		hasPage[p.Outcome] = true
	}
	for i, o := range l.Outcomes {
		if o.State == book.Stored && !hasPage[i] {
			return errors.New("outcome of " + o.URL + " is stored, but has no page")
		}
	}
	return nil
}
