package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/local/system"
)

// printHealth prints the health of the system, alerts first.
func printHealth(out io.Writer, h system.Health) {
	for _, alert := range h.Alerts {
		if alert.Name == "paused" || strings.HasPrefix(alert.Name, "lost/") { // printed below, or by printStatus
			continue
		}
		fmt.Fprintf(out, "ALERT %s\n", alert.Text)
	}
	if h.Pause != nil {
		until := "until resume"
		if !h.Pause.Until.IsZero() {
			until = "until " + h.Pause.Until.Format(timeForm) + " UTC"
		}
		since := ""
		if !h.Pause.Since.IsZero() { // a pause because of damage has no beginning
			since = " since " + h.Pause.Since.Format(timeForm)
		}
		fmt.Fprintf(out, "paused%s, %s: %s\n", since, until, h.Pause.Reason)
	}
	for _, reason := range h.Unsound {
		fmt.Fprintf(out, "rebuilding the frontier from the bucket: %s\n", reason)
	}
	for _, name := range slices.Sorted(maps.Keys(h.Waiting)) {
		waited := time.Duration(h.Waiting[name] * float64(time.Second))
		fmt.Fprintf(out, "work has waited for %s for %v\n", name, waited.Round(time.Second))
	}
	printSigns(out, h.Signs)
	fmt.Fprintf(out, "today: %d requests to the object store, which cost $%.4f on AWS\n", h.Today.Requests.Requests(), h.Today.USD)
	for _, letter := range h.DeadLetters {
		fmt.Fprintf(out, "dead letter %s, %s after %s: %s\n", letter.Key, letter.At.Format(timeForm), count(letter.Receives, "receipt"), letter.Reason)
	}
}

// printSigns prints the vital signs. A table has the runs and failures of each function. Then there
// is a line for each kind of event that a function counts (its notes), and a line for each kind of
// process.
func printSigns(out io.Writer, s vitals.Signs) {
	if len(s.Functions) == 0 {
		return
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "last %v\truns\tfailed\tpostponed\tbusy\tPUT\tGET\tin flight\tlast error\n", s.Over.Duration().Round(time.Second))
	for _, f := range s.Functions {
		last := ""
		if f.LastError != nil {
			last = fmt.Sprintf("%.60s", f.LastError.Text)
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%v\t%d\t%d\t%d\t%s\n", f.Function, f.Invocations, f.Failures, f.Postponed, f.Busy.Duration(),
			f.Requests.Put, f.Requests.Get, f.InFlight, last)
	}
	_ = table.Flush()
	for _, f := range s.Functions {
		for _, what := range slices.Sorted(maps.Keys(f.Notes)) {
			fmt.Fprintf(out, "%s: %s: %d\n", f.Function, what, f.Notes[what])
		}
	}
	for _, p := range s.Processes {
		now := fmt.Sprintf("%s of memory, %d goroutines, %d files open", bytesText(p.Resident), p.Goroutines, p.Descriptors)
		if p.Goroutines == 0 {
			now = "idle or ended by now"
		}
		fmt.Fprintf(out, "%s in %s: %.2f processors, %s; network %s in, %s out; disk %s read, %s written\n",
			p.Name, count(p.Workers, "process"), p.CPU, now,
			bytesText(p.Received), bytesText(p.Sent), bytesText(p.DiskRead), bytesText(p.DiskWritten))
	}
}
