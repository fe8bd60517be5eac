package redis

import (
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// tick is the time between two steps of the embedded Redis's clock, which does not run by
// itself.
const tick = time.Second

// startEmbedded starts a Redis in this process (miniredis).
func startEmbedded() (*Server, error) {
	m := miniredis.NewMiniRedis()
	if err := m.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("cannot start embedded Redis: %w", err)
	}
	quit, ended := make(chan struct{}), make(chan struct{})
	ticker := time.NewTicker(tick)
	go func() {
		defer close(ended)
		age(ticker.C, quit, m.FastForward)
	}()
	stop := func() {
		ticker.Stop()
		close(quit)
		<-ended
		m.Close()
	}
	return &Server{URL: url(m.Addr()), Embedded: true, stop: stop}, nil
}

// age makes time pass in the embedded Redis, so that keys expire; the clock of this Redis does not
// run by itself. At every tick, age calls the callback with the time since the previous tick. It
// returns when quit is closed.
func age(ticks <-chan time.Time, quit <-chan struct{}, pass func(time.Duration)) {
	last := time.Now()
	for {
		select {
		case now := <-ticks:
			if elapsed := now.Sub(last); elapsed > 0 {
				pass(elapsed)
				last = now
			}
		case <-quit:
			return
		}
	}
}
