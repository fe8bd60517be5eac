package fetch

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

// TestMoments fetches three URLs with a delay of one second: a new page, a missing one, and one that was
// stored before. Watch must be told of one page, the new one, at its arrival. Before each of the other
// two requests, it must be told the time of the request.
func TestMoments(t *testing.T) {
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/missing" {
			http.NotFound(w, r)
			return
		}
		respond(http.StatusOK, "text/html", "<p>Page")(w, r)
	}))
	var got []Moment
	w.Watch = func(m Moment) { got = append(got, m) }
	b := w.batch("/new", "/missing", "/stored")
	b.DelayMillis = 1000
	b.Targets[2].Last = &batch.Look{Time: start.Add(-time.Hour), Digest: 7}
	w.run(t, b)
	moment := func(second time.Duration, pages int) Moment {
		m := Moment{Batch: b.Version, Host: b.Host, Pages: pages}
		if second > 0 {
			m.Next = start.Add(second * time.Second)
		}
		return m
	}
	want := []Moment{moment(0, 0), moment(0, 1), moment(1, 1), moment(0, 1), moment(2, 1), moment(0, 1)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("moments (-want +got):\n%s", diff)
	}
}
