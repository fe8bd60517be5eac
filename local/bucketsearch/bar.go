package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
)

// barPeriod is the time between two drawings of a progress bar.
const barPeriod = 100 * time.Millisecond

// progressBar shows the progress of verify, repair or an export on a terminal; elsewhere it
// shows nothing.
type progressBar struct {
	out io.Writer // terminal on which the bar is drawn; nil if there is none

	mu    sync.Mutex // protects shown
	shown time.Time  // time at which the bar was last drawn
}

func newBar(out io.Writer) *progressBar {
	if file := terminalOf(out); file != nil {
		return &progressBar{out: file}
	}
	return &progressBar{}
}

// show draws the bar, unless it was drawn less than barPeriod ago.
func (b *progressBar) show(p verify.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.out == nil || time.Since(b.shown) < barPeriod || p.Total == 0 {
		return
	}
	b.shown = time.Now()
	const width = 30
	done := int(width * min(p.Done, p.Total) / p.Total)
	fmt.Fprintf(b.out, "\r\x1b[K%-9s [%s%s] %3d %%", p.Stage, strings.Repeat("#", done), strings.Repeat(" ", width-done), 100*min(p.Done, p.Total)/p.Total)
}

// end erases the bar.
func (b *progressBar) end() {
	if b.out != nil {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
}
