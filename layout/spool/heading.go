package spool

import (
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// heading is what of a spool is neither a body nor in its book.
type heading struct {
	Batch    layout.Version `json:"batch"`
	Crawl    int            `json:"crawl"`
	Host     string         `json:"host"`
	Ended    int64          `json:"ended_ms"`          // since 1970
	Rest     int64          `json:"rest_ms,omitempty"` // since 1970; 0: none
	Slow     time.Duration  `json:"slow_ns,omitempty"`
	Failures uint16         `json:"failures,omitempty"`
	Worker   string         `json:"worker,omitempty"`
	Elapsed  time.Duration  `json:"elapsed_ns"`
	Bytes    int64          `json:"bytes"`
	Pages    []pageEntry    `json:"pages"`
	Robots   []robotsEntry  `json:"robots,omitempty"`
}

// pageEntry describes a page's run, which begins where the one before ends and
// whose URL is the outcome's.
type pageEntry struct {
	Outcome int    `json:"outcome"` // place in the book
	Length  int64  `json:"length"`  // compressed
	Check   uint32 `json:"check"`   // CRC-32C of the compressed bytes
	Size    int64  `json:"size"`    // before compression
	CRC     uint32 `json:"crc"`     // CRC-32 (IEEE) before compression
}

type robotsEntry struct {
	Origin  string `json:"origin"`
	Status  int    `json:"status"`
	Length  int    `json:"length"`
	Fetched int64  `json:"fetched_ms"`
}
