package child

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// plan makes a Child whose n-th start does what the n-th word says: "run", "end" (it starts and
// ends by itself), "fail" (it cannot start) or "hang" (the start never returns). Further starts
// fail.
type plan struct {
	t         *testing.T
	address   string
	words     []string
	started   chan *Process
	restarted chan error
}

func newPlan(t *testing.T, words ...string) *plan {
	return &plan{t, listen(t).Addr().String(), words, make(chan *Process, len(words)), make(chan error, len(words))}
}

func (p *plan) child() Child {
	return Child{Start: p.start, Restarted: func(why error) { p.restarted <- why }}
}

func (p *plan) start(ctx context.Context) (*Process, error) {
	word := "fail"
	if len(p.words) > 0 {
		word, p.words = p.words[0], p.words[1:]
	}
	var started *Process
	switch word {
	case "run":
		started = start(p.t, helper("hold", p.address))
	case "end":
		started = start(p.t, helper("say", "it is over"))
	case "hang":
		p.started <- nil
		<-ctx.Done()
		return nil, ctx.Err()
	default:
		return nil, errors.New("no room")
	}
	p.started <- started
	return started, nil
}

func (p *plan) keep(policy restartPolicy) *Keeper {
	p.t.Helper()
	k, err := keep(p.t.Context(), p.child(), policy)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(k.Close)
	return k
}

// quick is the usual policy, but without the pauses before restarts.
var quick = restartPolicy{pauses: make([]time.Duration, 5), steady: time.Hour}

func TestKeepRestarts(t *testing.T) {
	p := newPlan(t, "run", "fail", "fail", "run")
	k := p.keep(quick)
	(<-p.started).Kill()
	if why := <-p.restarted; why.Error() != "signal: killed" {
		t.Errorf("it was restarted because of %v", why)
	}
	second := <-p.started
	if err := k.Err(); err != nil {
		t.Errorf("while it runs: %v", err)
	}
	k.Close()
	if end := second.End(); end != "signal: killed" {
		t.Errorf("it ended by %s", end)
	}
	if err := k.Err(); err != nil {
		t.Errorf("after Close: %v", err)
	}
	k.Close()
}

func TestKeepGivesUp(t *testing.T) {
	for _, c := range []struct {
		name  string
		words []string
		want  string
	}{
		{"one that ends", []string{"end", "end", "end", "end", "end", "end", "run"}, "started again 5 times in vain: exit status 3; it said: it is over"},
		{"one that cannot start", []string{"run"}, "started again 5 times in vain: no room"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlan(t, c.words...)
			k := p.keep(quick)
			(<-p.started).Kill()
			<-k.Done()
			if err := k.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// After a restart, a child runs for restartPolicy.steady before it ends again. Then its earlier
// restarts must no longer count, so that it is not given up.
func TestKeepForgives(t *testing.T) {
	p := newPlan(t, "end", "end", "end", "end", "end", "end", "end", "run")
	k := p.keep(restartPolicy{pauses: make([]time.Duration, 1)})
	for range 7 {
		<-p.restarted
	}
	if err := k.Err(); err != nil {
		t.Error(err)
	}
}

func TestKeepNeedsAFirst(t *testing.T) {
	if _, err := Keep(t.Context(), newPlan(t, "fail").child()); err == nil || err.Error() != "no room" {
		t.Errorf("got %v", err)
	}
}

// Close does not wait for a start that hangs, nor for the end of a pause before a restart.
func TestKeepCloses(t *testing.T) {
	for _, c := range []struct {
		name   string
		word   string
		policy restartPolicy
	}{
		{"starting", "hang", quick},
		{"pausing", "fail", restartPolicy{pauses: []time.Duration{time.Hour}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlan(t, "run", c.word)
			k := p.keep(c.policy)
			(<-p.started).Kill()
			if c.word == "hang" {
				<-p.started
			}
			k.Close()
			if err := k.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}
