package fetch

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

// notAsked is the outcome of a target before anything came of it.
func (r *run) notAsked(t batch.Target, a address.Address) book.Outcome {
	return book.Outcome{
		Version: r.batch.Version, URL: a.URL, Place: a.Place, State: book.NotAsked,
		Depth: t.Depth, Hops: t.Hops, Attempts: t.Attempts, Exponent: t.Exponent, Weight: t.Weight,
		Time: millisecond(r.now()), Collections: together(t.Collections),
	}
}

// settle writes a verdict into an outcome. A retry beyond MaxAttempts is a
// failure.
func settle(o *book.Outcome, v verdict) {
	o.State, o.Reason, o.Detail = v.state, v.reason, sentence(v.detail)
	if o.State == book.Retry && o.Attempts >= MaxAttempts {
		o.State = book.Failed
	}
}

// judgeStatus returns the verdict on a response that is no page, and false for
// one that is. Only who was sent validators may say "not modified".
func judgeStatus(a answer, unless *batch.Look) (verdict, bool) {
	reason := fmt.Sprintf("http %d", a.status)
	switch {
	case a.status/100 == 2:
		return verdict{}, false
	case a.status == http.StatusNotModified && unless != nil && unless.ETag+unless.Modified != "":
		return verdict{state: book.Unchanged}, true
	case a.status == http.StatusTooManyRequests, a.status/100 == 5:
		return verdict{book.Retry, reason, http.StatusText(a.status)}, true
	}
	return verdict{book.Failed, reason, http.StatusText(a.status)}, true
}

// isRedirect reports whether a response says that the page is elsewhere.
func isRedirect(a answer) bool {
	switch a.status {
	case 300, 301, 302, 303, 307, 308:
		return a.location() != ""
	}
	return false
}

func (a answer) location() string { return a.header.Get("Location") }

// sentence makes one line of at most maxDetail bytes.
func sentence(s string) string {
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "\uFFFD")
	if len(s) > maxDetail {
		s = strings.ToValidUTF8(s[:maxDetail], "")
	}
	return s
}

func millisecond(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
