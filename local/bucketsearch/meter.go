package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

// Times between two displays of the progress: on a terminal, and elsewhere.
const (
	terminalPeriod = 250 * time.Millisecond
	plainPeriod    = 5 * time.Second
)

// crawlMeter shows the progress of a crawl: on a terminal in a line that it rewrites,
// elsewhere in a new line every few seconds.
type crawlMeter struct {
	out   io.Writer
	now   func() time.Time
	tick  func(time.Duration) <-chan time.Time // time.Tick, of which only during makes use
	width func() int                           // function that returns the terminal's width in characters; the field is nil if out is no terminal
	json  bool                                 // whether lines are written as JSON (see crawlProgress)

	began   time.Time       // time at which the program began
	shown   time.Time       // time at which a line was last shown
	text    string          // line that was last shown, without the time
	failing []string        // Progress.Failing at the last call of show
	last    system.Progress // latest progress that show was given
	known   time.Time       // time at which show was first given the crawl's progress instead of an error
	crawled time.Time       // time at which show was first told that no URL is left to request
	first   int64           // number of stored pages in the first progress that show was given
}

func newMeter(out io.Writer) *crawlMeter {
	m := &crawlMeter{out: out, now: time.Now, tick: time.Tick, began: time.Now()}
	if file := terminalOf(out); file != nil {
		m.width = func() int {
			width, _, err := term.GetSize(int(file.Fd()))
			if err != nil {
				return 80
			}
			return width
		}
	} else {
		m.shown = m.began // nothing to tell yet
	}
	return m
}

// show displays a report of system.Wait: the progress, or an error. If the last line of
// progress was displayed a short time ago, show only keeps the report in m, and displays no
// new one. It is meant as the callback of Wait.
func (m *crawlMeter) show(p system.Progress, err error) {
	now := m.now()
	if err == nil {
		if m.known.IsZero() {
			m.known, m.first = now, p.Stored+p.Arrived
		}
		if m.crawled.IsZero() && p.Crawled() {
			m.crawled = now
		}
		m.last = p
	}
	if !m.json {
		m.tell(p.Failing)
	}
	if now.Sub(m.shown) < m.period() {
		return
	}
	if m.json {
		m.shown = now
		_ = printLine(m.out, progressOf(p, err, now.Sub(m.began))) // the summary fails, too, if nobody reads
		return
	}
	text := m.describe(p, err)
	if err != nil && m.width == nil && text == m.text {
		return // the line shown last has the same error
	}
	m.shown, m.text = now, text
	m.write(clock(now.Sub(m.began)) + "  " + text)
}

// tell prints the given sentences about failures that are new. A sentence is new if it was not
// among the sentences of the call before.
func (m *crawlMeter) tell(failing []string) {
	for _, sentence := range failing {
		if !slices.Contains(m.failing, sentence) {
			m.end()
			fmt.Fprintf(m.out, "%s  %s\n", clock(m.now().Sub(m.began)), sentence)
		}
	}
	m.failing = failing
}

// write prints a line. On a terminal, the line replaces the one before, and is cut to the
// width.
func (m *crawlMeter) write(line string) {
	if m.width == nil {
		fmt.Fprintln(m.out, line)
		return
	}
	if runes, most := []rune(line), max(m.width()-1, 0); len(runes) > most {
		line = string(runes[:most])
	}
	fmt.Fprintf(m.out, "\r\x1b[K%s", line)
}

// end erases the line that was last shown, if out is a terminal.
func (m *crawlMeter) end() {
	if m.width != nil {
		fmt.Fprint(m.out, "\r\x1b[K")
	}
}

// during shows what the system does while work runs, such as "merging the index", unless work ends before it is time
// for a line: on a terminal with a clock, elsewhere once, and as JSON never. It returns the error of work.
func (m *crawlMeter) during(what string, work func() error) error {
	if m.json {
		return work()
	}
	done := make(chan error, 1)
	go func() { done <- work() }()
	ticks := m.tick(m.period())
	for {
		select {
		case err := <-done:
			m.end()
			return err
		case <-ticks:
			m.write(clock(m.now().Sub(m.began)) + "  " + what)
			if m.width == nil {
				ticks = nil
			}
		}
	}
}

// period returns the time between two displays.
func (m *crawlMeter) period() time.Duration {
	if m.width != nil {
		return terminalPeriod
	}
	return plainPeriod
}

// describe returns the line that is shown for a report of system.Wait: the present work of the
// system, and the numbers of pages.
func (m *crawlMeter) describe(p system.Progress, err error) string {
	switch {
	case errors.Is(err, frontier.ErrNotBuilt) && m.known.IsZero():
		return "starting"
	case errors.Is(err, frontier.ErrNotBuilt):
		return "rebuilding the frontier from the bucket"
	case partition.IsFault(err):
		return "waiting for a repair of the bucket"
	case err != nil:
		return "waiting: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	case p.Paused != "" && p.Leased == 0 && !p.Crawled():
		return fmt.Sprintf("paused: %s · %s · %d waiting", p.Paused, count(p.Stored, "page"), p.Waiting)
	case p.Crawled() && p.Unpacked > 0:
		return fmt.Sprintf("packing: %d batches left · %s", p.Unpacked, count(p.Stored, "page"))
	case p.Crawled() && p.Unindexed == 0 && p.Gone > 0:
		return fmt.Sprintf("leaving the index: %s", count(p.Gone, "page"))
	case p.Crawled():
		return fmt.Sprintf("indexing: %d of %s · %s", p.Packages-p.Unindexed, count(p.Packages, "package"), count(p.Documents, "document"))
	}
	text := p.Text(m.now())
	if rate := m.rate(); rate >= 1 {
		text += fmt.Sprintf(" · %.0f pages/s", rate)
	}
	return text
}

// rate returns the mean number of pages that this crawl has stored per second. The time begins when
// show is first given the progress, and ends when no URL is left to request. Before it begins, the
// rate is 0.
func (m *crawlMeter) rate() float64 {
	now := m.now()
	if !m.crawled.IsZero() {
		now = m.crawled
	}
	seconds := now.Sub(m.known).Seconds()
	if m.known.IsZero() || seconds <= 0 {
		return 0
	}
	return float64(m.last.Stored+m.last.Arrived-m.first) / seconds
}

// clock formats a duration as minutes and seconds, such as 2:05.
func clock(d time.Duration) string {
	seconds := int(d.Seconds())
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}
