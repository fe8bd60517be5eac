package vitals

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
)

const (
	maxFeedback = 1 << 20 // bytes of an object
	maxError    = 500     // bytes of a last error's text; the rest is cut off
)

// Feedback is what one process did in a time, and its sums of the day.
type Feedback struct {
	Worker    string              `json:"worker"`
	Since     time.Time           `json:"since"`
	At        time.Time           `json:"at"` // to the millisecond
	Functions map[string]Activity `json:"functions"`
	Process   Process             `json:"process"`
	Day       Day                 `json:"day"`
}

// Activity is what one function did.
type Activity struct {
	Invocations int64            `json:"invocations"`         // that have ended
	Failures    int64            `json:"failures"`            // among them
	Postponed   int64            `json:"postponed,omitempty"` // among them: nothing failed, and a message came too early
	BusySeconds float64          `json:"busy_seconds"`
	InFlight    int64            `json:"in_flight"` // messages, at the moment
	Requests    countblob.Counts `json:"requests"`
	LastError   *LastError       `json:"last_error,omitempty"`
	Notes       map[string]int64 `json:"notes,omitempty"` // what message.Note says, and how often
}

// LastError is why an invocation failed last.
type LastError struct {
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// Day is what one process did on a day (UTC), as far as it costs money.
type Day struct {
	Requests    countblob.Counts `json:"requests"`    // those of its feedback included
	Invocations int64            `json:"invocations"` // of Lambda
	GBSeconds   float64          `json:"gb_seconds"`  // of Lambda
}

// plus returns the sum of both.
func (d Day) plus(other Day) Day {
	return Day{d.Requests.Plus(other.Requests), d.Invocations + other.Invocations, d.GBSeconds + other.GBSeconds}
}

// since returns what the function did after an earlier reading.
func (a Activity) since(earlier Activity) Activity {
	a.Invocations -= earlier.Invocations
	a.Failures -= earlier.Failures
	a.Postponed -= earlier.Postponed
	a.BusySeconds -= earlier.BusySeconds
	a.Requests = a.Requests.Minus(earlier.Requests)
	a.Notes = maps.Clone(a.Notes)
	for what, n := range earlier.Notes {
		if a.Notes[what] -= n; a.Notes[what] == 0 {
			delete(a.Notes, what)
		}
	}
	if a.Failures == 0 {
		a.LastError = nil
	}
	return a
}

// idle reports whether nothing happened.
func (a Activity) idle() bool {
	return a.Invocations == 0 && a.InFlight == 0 && a.Requests.Requests() == 0
}

// Check fails if a feedback object is not what was written.
func Check(content []byte) error {
	_, err := decode(content)
	return err
}

func decode(content []byte) (Feedback, error) {
	var f Feedback
	if len(content) > maxFeedback {
		return f, fmt.Errorf("it has more than %d bytes", maxFeedback)
	}
	object, _, err := layout.Unseal(content)
	if err != nil {
		return Feedback{}, err
	}
	if err := json.Unmarshal(object, &f); err != nil {
		return Feedback{}, err
	}
	if f.Worker == "" || f.At.Before(f.Since) {
		return Feedback{}, fmt.Errorf("worker %q from %v to %v is no feedback", f.Worker, f.Since, f.At)
	}
	return f, nil
}

// shorten returns as much of an error's text as is kept.
func shorten(text string) string {
	if len(text) > maxError {
		text = text[:maxError]
	}
	return strings.ToValidUTF8(text, "")
}
