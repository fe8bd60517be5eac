package web

import (
	"net/http"
	"net/url"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Clicks has the settings for counting clicks on results. Without a key, no clicks are counted.
// With a key, links to results have the attribute ping (HTML, hyperlink auditing). Browsers then
// report a click to the path below, without a delay for the reader. Clicks in browsers that send no
// pings are not counted. Who clicks is not stored (see package judgment).
//
//	POST /click?shown=&signature=   counts a click
//
// The parameter shown is a judgment.Click as JSON. The parameter signature was made of it with the
// key when the result was shown. So only results that this server has shown count. They count only
// on the day (UTC) on which they were shown. Nothing else of the request is read.
type Clicks struct {
	Key    judgment.ClickKey
	Bucket blob.Bucket     // bucket in which clicks are stored
	Random func(n int) int // returns a random number from 0 to n-1
}

// dailyClicks is the greatest number of clicks that a process stores in a day. The operator pays for
// one request to the object store for each click, some five cents for dailyClicks of them. Each
// process counts for itself, so a flood of clicks costs at most that much a day for each process.
const dailyClicks = 10_000

// clickCount counts the clicks of a day.
type clickCount struct {
	mu  sync.Mutex // protects the fields below
	day string
	n   int
}

// add counts a click on the given day, and returns the number of clicks on this day so far. The
// count begins anew when the day changes.
func (c *clickCount) add(day string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.day != day {
		c.day, c.n = day, 0
	}
	c.n++
	return c.n
}

// click stores a click that a browser reports (see Clicks).
func (s *siteHandler) click(w http.ResponseWriter, r *http.Request) error {
	values, err := request.Parameters(r)
	r.URL.RawQuery = "" // else the log of a failure would tell who clicked what, and when
	if err != nil {
		return err
	}
	shown := []byte(values.Get("shown"))
	if len(shown) > judgment.MaxClick {
		return request.Wrong("Query and address have %d bytes together; clicks are counted up to %d.", len(shown), judgment.MaxClick)
	}
	clicks, today := &s.Clicks, judgment.DayOf(s.Engine.Now())
	if !clicks.Key.Signed(shown, values.Get("signature")) {
		return request.Failure{Status: http.StatusForbidden, Sentence: "This was not shown here as a result."}
	}
	c, err := judgment.DecodeClick(shown)
	if err != nil {
		return err
	}
	if c.Day != today {
		return request.Failure{Status: http.StatusForbidden, Sentence: "This result was shown on another day; search again."}
	}
	inForce, err := s.Engine.Settings.Get(r.Context())
	if err != nil {
		return err
	}
	if !c.Forgotten(&inForce.Takedowns) {
		n := s.clicked.add(today)
		if n == dailyClicks+1 {
			s.Engine.Log.WarnContext(r.Context(), "no more clicks of this day are stored by this process", "day", today, "stored", dailyClicks)
		}
		if n > dailyClicks {
			return request.Failure{Status: http.StatusTooManyRequests, Sentence: "No more clicks are counted today."}
		}
		if err := judgment.PutClick(r.Context(), clicks.Bucket, c, clicks.Random(judgment.Slots)); err != nil {
			return err
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// offerPings makes browsers report clicks on the results of a page: it adds to each result the
// address to which a click is reported. It does nothing if clicks are not counted, or if the reader
// is a judge. It also does nothing for results that a judgment.Click cannot record: images, mail
// addresses, results of a search in a past state of the index, and results found by translating the
// query.
func (s *siteHandler) offerPings(q engine.Query, page *resultsPage) {
	key := s.Clicks.Key
	if key.Empty() || page.Judge != nil || page.Images || !q.AsOf.IsZero() || len(q.Across.Into) > 0 {
		return
	}
	c := judgment.Click{Day: judgment.DayOf(s.Engine.Now()), Query: judgedQuery(q)}
	for i := range page.Hits {
		c.URL, c.Position = page.Hits[i].URL, page.First+i
		shown, err := c.Encode()
		if err != nil {
			continue // it is too long, or the result is a mail address
		}
		page.Hits[i].Ping = "/click?" + url.Values{"shown": {string(shown)}, "signature": {key.Sign(shown)}}.Encode()
		page.Pinged = true
	}
}
