package main

import (
	"io"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/reply"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/account"
)

// Kinds of the objects that `bucketsearch crawl --json` prints, one a line.
const (
	kindProgress = "progress" // crawlProgress: every few seconds
	kindSummary  = "summary"  // crawlSummary: last
)

// crawlProgress is the state of a running crawl.
type crawlProgress struct {
	Kind       string  `json:"kind"`
	Seconds    float64 `json:"seconds"`    // time since the crawl began
	Fetched    int64   `json:"fetched"`    // number of pages that are stored or have arrived
	Searchable int     `json:"searchable"` // number of documents that searches can find
	Waiting    int64   `json:"waiting"`    // number of URLs that wait to be fetched
	Skipped    int64   `json:"skipped"`
	Failed     int64   `json:"failed"`
	Unpacked   int     `json:"unpacked_batches"`
	Unindexed  int     `json:"unindexed_packages"`
	// host for which the crawl waits, and the time of the next request; without a time, a request is
	// under way
	Host    string    `json:"host,omitempty"`
	Next    time.Time `json:"next_request,omitzero"`
	Silent  []string  `json:"silent,omitempty"` // hosts that do not answer
	Paused  string    `json:"paused,omitempty"` // reason of a pause
	Failing []string  `json:"failing,omitempty"`
	Error   string    `json:"error,omitempty"` // why the progress cannot be read; the other fields are then 0
}

// crawlSummary is the result of a crawl.
type crawlSummary struct {
	Kind      string        `json:"kind"`
	Seconds   float64       `json:"seconds"`
	New       int           `json:"new_pages"` // see system.Summary for this and the next fields
	NewAssets int           `json:"new_assets"`
	Unchanged int           `json:"unchanged"`
	Kept      int           `json:"kept"`
	Why       string        `json:"kept_because,omitempty"`
	Seeds     []seedFate    `json:"seeds,omitempty"`
	Warnings  []string      `json:"warnings,omitempty"`
	Next      string        `json:"next"`
	Given     int           `json:"given_up_messages"` // number of messages that failed in all their tries
	Status    system.Status `json:"status"`
}

// seedFate is what became of a seed.
type seedFate struct {
	Seed   string        `json:"seed"`
	URL    string        `json:"url"` // where the seed leads to
	State  account.State `json:"state"`
	Reason string        `json:"reason,omitempty"`
}

// inSeconds returns a duration in seconds, to the millisecond.
func inSeconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

func printLine(out io.Writer, value any) error {
	line, err := reply.Marshal(value, false)
	if err == nil {
		_, err = out.Write(line)
	}
	return err
}

// progressOf returns the progress of a crawl that has run for the given time. The arguments p and err
// are the report of system.Wait.
func progressOf(p system.Progress, err error, took time.Duration) crawlProgress {
	c := crawlProgress{
		Kind: kindProgress, Seconds: inSeconds(took), Fetched: p.Stored + p.Arrived, Searchable: p.Searchable, Waiting: p.Waiting + max(0, p.Leased-p.Arrived),
		Skipped: p.Skipped, Failed: p.Failed, Unpacked: p.Unpacked, Unindexed: p.Unindexed,
		Host: p.Turn.Host, Next: p.Turn.At.UTC(), Silent: p.Silent, Paused: p.Paused, Failing: p.Failing,
	}
	if err != nil {
		c.Error = err.Error()
	}
	return c
}

// summaryOf returns the summary of a crawl that took the given time. The parameter given is the number
// of messages that failed in all their tries.
func summaryOf(s system.Summary, took time.Duration, given int) crawlSummary {
	c := crawlSummary{
		Kind: kindSummary, Seconds: inSeconds(took), New: s.New, NewAssets: s.NewAssets, Unchanged: s.Unchanged, Kept: s.Kept, Why: s.Why,
		Warnings: warnings(s.Status), Next: next(s.Status, ""), Given: given, Status: s.Status,
	}
	for _, f := range s.Seeds {
		c.Seeds = append(c.Seeds, seedFate{f.Seed, f.Final.Address.URL, f.Final.State, f.Final.Reason})
	}
	return c
}
