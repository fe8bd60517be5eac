package simulation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// reading is the name of the queue whose messages are search queries. The queries are answered
// while other functions change the index.
const reading = "query"

// question is a search query, as a message of the queue for such queries. If Moment is 0, the query
// searches the present index. If Moment is n, it searches the index as of the n-th moment in
// world.moments, whose results are known.
type question struct {
	Text   string
	Moment int
}

// moment holds a query, and its results at a time when no process was working. When the same query
// runs later as of that time, it must have the same results.
type moment struct {
	at   time.Time
	text string
	hits []hit
}

const (
	askOften  = 100 // number of steps of the simulation between two queries
	rememberN = 4   // maximum number of queries of a run whose results are saved, to compare them with later results
)

// read sends a search query to the queue of a random runner (a set of functions) after every
// askOften steps, if the run has queries.
func (w *world) read() {
	if !w.reads || w.steps%askOften != askOften-1 {
		return
	}
	text := w.site.queries[w.random.IntN(len(w.site.queries))]
	if len(w.working) == 0 && len(w.moments) < rememberN && w.harmed == 0 {
		w.remember(text)
	}
	body, err := json.Marshal(question{text, w.random.IntN(len(w.moments) + 1)})
	if err != nil {
		w.t.Fatal(err)
	}
	w.runners[w.random.IntN(len(w.runners))].queue.send(reading, string(body), 0)
}

// remember runs a query and records its results. A later query as of the same time must find the
// same results, so it must use the same generations. Generations have times in whole milliseconds.
// If one had the same time as the recorded query, it would be unclear whether it was committed
// before or after that query. So remember advances the clock to the next millisecond before the
// query, and by one more millisecond after it.
func (w *world) remember(text string) {
	w.t.Helper()
	now := w.clock.Now()
	w.clock.Advance(now.Truncate(time.Millisecond).Add(time.Millisecond).Sub(now))
	found, err := w.engine(w.store, w.clock.Now).Search(w.t.Context(), question{Text: text}.query(w))
	if err != nil {
		w.t.Fatal(err)
	}
	w.moments = append(w.moments, moment{w.clock.Now(), text, hitsOf(found)})
	w.clock.Advance(time.Millisecond)
}

// engine returns a query engine on the bucket.
func (w *world) engine(bucket blob.Reader, now func() time.Time) *engine.Engine {
	w.t.Helper()
	e, err := engine.New(bucket, engine.Options{
		Settings: &settings.Cache{Bucket: bucket, Now: now, Age: settingsAge}, Now: now, Age: settingsAge, Log: functionstest.Log(),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func (q question) query(w *world) engine.Query {
	asked := engine.Query{Query: search.Query{Text: q.Text, Size: 100}}
	if q.Moment > 0 {
		asked.AsOf, asked.Text = w.moments[q.Moment-1].at, w.moments[q.Moment-1].text
	}
	return asked
}

func hitsOf(found engine.Result) (hits []hit) {
	for _, h := range found.Hits {
		hits = append(hits, hit{h.URL, h.Score, h.Snippet})
	}
	return hits
}

// answers returns the handler by which a process runs search queries. It fails the test if a
// result is wrong.
func (p *process) answers(bucket blob.Bucket) message.Handler {
	reader := p.world.engine(bucket, p.now)
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		for _, m := range event.Records {
			var q question
			if err := json.Unmarshal([]byte(m.Body), &q); err != nil {
				return events.SQSEventResponse{}, err
			}
			found, err := reader.Search(ctx, q.query(p.world))
			if wrong := p.wrong(q, found, err); wrong != "" {
				p.world.t.Errorf("query %+v: %s", q, wrong)
			}
		}
		return events.SQSEventResponse{}, nil
	}
}

// wrong checks the answer to a query, and returns what is wrong with it; "" if nothing is. It
// cannot recognise every error, because the index may change while the query runs.
func (p *process) wrong(q question, found engine.Result, err error) string {
	w := p.world
	switch {
	case p.troubled.Load() || w.harmed > 0: // any page may be missing then
		return ""
	case q.Moment > 0 && errors.Is(err, manifest.ErrNotKept) && w.clock.Now().Sub(w.moments[q.Moment-1].at) > keptPast:
		return ""
	case err != nil:
		return err.Error()
	case found.Incomplete && w.inForce.Takedowns.Empty() && !w.everHidden:
		return "a segment is missing"
	}
	hits := hitsOf(found)
	urls := make(map[string]bool)
	for _, h := range hits {
		if _, stands := w.site.pages[strings.TrimPrefix(h.URL, "http://")]; !stands || urls[h.URL] {
			return fmt.Sprintf("%s is found, and is no page, or found twice", h.URL)
		}
		urls[h.URL] = true
	}
	if q.Moment > 0 && !w.wrongClocks && w.inForce.Takedowns.Empty() && !w.everHidden {
		then := w.moments[q.Moment-1]
		if diff := cmp.Diff(then.hits, hits, cmpopts.EquateApprox(0, scoreError)); diff != "" {
			return fmt.Sprintf("as of %v, another answer (-then +now):\n%s", then.at, diff)
		}
	}
	return ""
}
