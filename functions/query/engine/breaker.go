package engine

import (
	"errors"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

const (
	// mostFailed is the number of failures in a row after which a leaf rests.
	mostFailed = 3
	// leastRest and mostRest are the lengths of the first and of the longest rest.
	leastRest, mostRest = time.Second, 30 * time.Second
	// trialTime is the longest time for one step of the query that tries a leaf after its rest.
	trialTime = time.Second
	// leastPatience is the least time of a step that counts as a failure if a leaf does not answer. That it does not
	// answer in less says nothing of the leaf: other steps of the query may have taken the time.
	leastPatience = trialTime / 2
)

// errRests is the error of a leaf that is not asked.
var errRests = errors.New("the leaf rests, as it did not answer earlier queries")

// breakers decide which leaves are asked, so that a leaf that hangs does not cost each query the time for which it may
// take (circuit breakers: Nygard, Release It!, 2007). After mostFailed failures in a row a leaf rests: queries are
// answered without it. When the rest is over, one query at a time tries it again, for which it waits no longer than
// trialTime. If the leaf answers all steps of that query, all queries ask it again. If not, it rests for twice as long as
// before, at most for mostRest.
//
// The zero breakers are ready for use. They are safe for concurrent use.
type breakers struct {
	mu sync.Mutex // protects the map and the values in it
	of map[string]*breaker
}

// breaker is the state of a leaf that has failed since it last answered all steps of a query.
type breaker struct {
	failures int           // number of failures in a row; from mostFailed on the leaf rests or is tried
	rest     time.Duration // length of the last rest
	until    time.Time     // end of the rest, or of the time in which no second query tries the leaf
	tries    bool          // whether a query tries it
}

// begin reports whether a step of a query asks the leaf with this name, and the longest time that the leaf has for it.
func (b *breakers) begin(leaf string, a *search.Asked, now time.Time) (patience time.Duration, asks bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.of[leaf]
	if of == nil || of.failures < mostFailed {
		return a.Patience, true
	}
	if a.IsFirst() {
		if now.Before(of.until) {
			return 0, false
		}
		of.tries, of.until = true, now.Add(search.Steps*trialTime)
	}
	return min(a.Patience, trialTime), true
}

// beginsAgain records that the query that asks a leaf begins again, so that it may try the leaf once more.
func (b *breakers) beginsAgain(leaf string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if of := b.of[leaf]; of != nil && of.tries {
		of.tries, of.until = false, time.Time{}
	}
}

// answered records that a leaf has answered all steps of a query. It reports whether it had rested before.
func (b *breakers) answered(leaf string) (rested bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.of[leaf]
	delete(b.of, leaf)
	return of != nil && of.failures >= mostFailed
}

// failed records that a leaf has failed. If a rest begins, it returns its length, else 0.
func (b *breakers) failed(leaf string, now time.Time) (rest time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = make(map[string]*breaker)
	}
	of := b.of[leaf]
	if of == nil {
		of = new(breaker)
		b.of[leaf] = of
	}
	of.failures++
	if of.failures < mostFailed || of.failures > mostFailed && !of.tries { // the latter were asked before the rest
		return 0
	}
	of.rest = min(max(2*of.rest, leastRest), mostRest)
	of.tries, of.until = false, now.Add(of.rest)
	return of.rest
}

// rests reports whether the leaf with this name rests, or is tried.
func (b *breakers) rests(leaf string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.of[leaf]
	return of != nil && of.failures >= mostFailed
}
