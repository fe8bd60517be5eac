package limit

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/shared/effort"
)

// stage is a Handler for tests. The function that does the work on a request is passed to the method ask.
type stage struct {
	*testing.T
	*Handler
	events []string // in the order in which they happened
}

func newStage(t *testing.T, atOnce int) *stage {
	s := &stage{T: t}
	s.Handler = New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		r.Context().Value(s).(func(context.Context))(r.Context())
	}), Options{Now: time.Now, After: time.After, AtOnce: atOnce})
	return s
}

// ask sends a request of the client with the address from, which does the given work. ask returns as soon as the
// request waits or has ended.
func (s *stage) ask(from string, do func(ctx context.Context)) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = from
	go s.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithValue(r.Context(), s, do)))
	synctest.Wait()
}

// counts compares the wanted numbers of requests that are worked on, and that wait, with those of the two queues.
// The parameter when names the moment in errors.
func (s *stage) counts(when string, quick, costly Counts) {
	s.Helper()
	type both struct{ Quick, Costly Counts }
	var got both
	got.Quick, got.Costly = s.Counts()
	for _, c := range []*Counts{&got.Quick, &got.Costly} {
		c.Admitted, c.Waited = 0, 0
	}
	if diff := cmp.Diff(both{quick, costly}, got); diff != "" {
		s.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

// spend announces effort, and records the event when it may be made.
func (s *stage) spend(ctx context.Context, units int, event string) {
	if err := effort.Spend(ctx, units); err != nil {
		event = err.Error()
	}
	s.events = append(s.events, event)
}

func TestCostlyGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4)
		step, end := make(chan bool), make(chan bool)
		s.ask(flood, func(ctx context.Context) {
			if err := effort.Expect(ctx, quickEffort); err != nil {
				t.Error(err)
			}
			s.spend(ctx, 1, "costly begins")
			<-step
			s.spend(ctx, slice, "costly goes on")
		})
		s.counts("a costly request", Counts{}, Counts{Working: 1})
		s.ask(honest, func(ctx context.Context) {
			s.spend(ctx, slice, "quick begins")
			<-end
			s.spend(ctx, slice, "quick goes on")
		})
		close(step)
		synctest.Wait()
		close(end)
		rest()
		if diff := cmp.Diff([]string{"costly begins", "quick begins", "quick goes on", "costly goes on"}, s.events); diff != "" {
			t.Errorf("order of events (-want +got):\n%s", diff)
		}
		s.counts("in the end", Counts{}, Counts{})
	})
}

func TestPausesAreShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4)
		end := make(chan bool)
		s.ask(honest, func(context.Context) { <-end })
		began := time.Now()
		s.ask(flood, func(ctx context.Context) {
			for range 10 {
				s.spend(ctx, quickEffort, "costly")
			}
		})
		time.Sleep(time.Second)
		synctest.Wait()
		if len(s.events) != 10 || time.Since(began) != time.Second {
			t.Errorf("beside a long request, a costly one made %d of 10 steps", len(s.events))
		}
		close(end)
		rest()
	})
}

// TestExpectedEffort checks that a request gives up its place as soon as it is known to be costly, and that costly
// requests are worked on one after another.
func TestExpectedEffort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 2)
		ends := make(map[string]chan bool)
		for _, from := range []string{"192.0.2.11", "192.0.2.12", "192.0.2.13"} {
			end := make(chan bool)
			ends[from] = end
			s.ask(from, func(ctx context.Context) {
				if err := effort.Expect(ctx, quickEffort/2); err != nil {
					t.Error(err)
				}
				if err := effort.Expect(ctx, quickEffort); err != nil {
					t.Error(err)
				}
				s.events = append(s.events, from)
				<-end
			})
		}
		s.counts("three costly requests", Counts{}, Counts{Working: 1, Waiting: 2})
		close(ends["192.0.2.11"])
		synctest.Wait()
		s.counts("two costly requests", Counts{}, Counts{Working: 1, Waiting: 1})
		close(ends["192.0.2.12"])
		close(ends["192.0.2.13"])
		rest()
		if diff := cmp.Diff([]string{"192.0.2.11", "192.0.2.12", "192.0.2.13"}, s.events); diff != "" {
			t.Errorf("order of events (-want +got):\n%s", diff)
		}
	})
}

func TestTooManyCostly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 2)
		s.costly.mean = time.Millisecond
		end := make(chan bool)
		for range MaxCostly + 1 {
			s.ask(flood, func(ctx context.Context) {
				s.spend(ctx, quickEffort, "")
				<-end
			})
		}
		var err error
		s.ask(flood, func(ctx context.Context) { err = effort.Spend(ctx, quickEffort) })
		refused, is := errors.AsType[*effort.Refused](err)
		if !is {
			t.Fatalf("a costly request too many: %v", err)
		}
		if f := request.FailureOf(err); f.Status != http.StatusTooManyRequests || f.Retry != refused.Seconds || f.Retry == 0 {
			t.Errorf("it is answered by %+v", f)
		}
		s.counts("too many costly requests", Counts{}, Counts{Refused: 1, Working: 1, Waiting: MaxCostly})
		s.ask(honest, func(ctx context.Context) { s.spend(ctx, 1, "quick") })
		if len(s.events) != 2 || s.events[1] != "quick" {
			t.Errorf("a quick request beside them was not worked on: %q", s.events)
		}
		close(end)
		rest()
	})
}

// TestCostlyClientsComeLater checks that a client that sends costly requests waits longer for a place for quick
// ones than a client that sends none.
func TestCostlyClientsComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		s.ask(flood, func(ctx context.Context) { _ = effort.Spend(ctx, quickEffort) })
		s.ask(honest, func(ctx context.Context) { _ = effort.Spend(ctx, quickEffort/2) })
		end := make(chan bool)
		s.ask("192.0.2.3", func(context.Context) { <-end })
		for _, from := range []string{flood, honest} {
			s.ask(from, func(ctx context.Context) { s.spend(ctx, 1, from) })
		}
		close(end)
		rest()
		if diff := cmp.Diff([]string{honest, flood}, s.events); diff != "" {
			t.Errorf("order of events (-want +got):\n%s", diff)
		}
	})
}

// TestCostlyRefusedOnce lets several parts of a request announce effort while too many costly requests wait: the request
// is refused once, and whatever it announces afterwards at once. After its answer was sent it gets no place.
func TestCostlyRefusedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4)
		end := make(chan bool)
		for range MaxCostly + 2 { // two are worked on, the others wait
			s.ask(flood, func(ctx context.Context) {
				s.spend(ctx, quickEffort, "")
				<-end
			})
		}
		_, before := s.Counts()
		s.ask(flood, func(ctx context.Context) {
			for range 3 {
				if err := effort.Spend(ctx, quickEffort); err == nil {
					t.Error("a request that was refused goes on")
				}
			}
		})
		if _, costly := s.Counts(); costly.Refused != before.Refused+1 || costly.Waiting != before.Waiting {
			t.Errorf("refused %d times, %d wait, want once more than %+v", costly.Refused, costly.Waiting, before)
		}
		close(end)
		synctest.Wait()
		time.Sleep(2 * MaxWait)
		_, before = s.Counts()
		w := newWork(&turn{queue: s.quick, client: &client{}, hasLeft: true}, netip.MustParseAddr("192.0.2.1"), s.costly)
		w.finished()
		w.sent()
		if err := w.Spend(context.Background(), 2*quickEffort); err == nil {
			t.Error("a request whose answer was sent goes on")
		}
		if _, costly := s.Counts(); costly.Working != 0 || costly.Admitted != before.Admitted {
			t.Errorf("after the answer, %+v became %+v", before, costly)
		}
	})
}
