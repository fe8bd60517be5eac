package web

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
)

// pager has the addresses of the other pages of results of a query. An address is "" if there is no
// such page.
type pager struct {
	Previous, Next string
	Numbers        []numbered
}

type numbered struct {
	Number  int
	Current bool
	Address string
}

// pagesShown is the greatest number of page numbers that a pager shows.
const pagesShown = 7

func newPager(q engine.Query, total int, exact bool) (p pager) {
	last := min((total-1)/q.Size, q.Most()/q.Size-1) // counted from 0
	current := q.From / q.Size
	if total == 0 || last == 0 && q.From == 0 {
		return pager{}
	}
	if q.From > 0 {
		p.Previous = pageAddress(q, min(q.From-q.Size, last*q.Size))
	}
	if (q.From+q.Size < total || !exact) && q.From+2*q.Size <= q.Most() {
		p.Next = pageAddress(q, q.From+q.Size)
	}
	first := max(0, min(current-pagesShown/2, last-pagesShown+1))
	for n := first; n <= min(last, first+pagesShown-1); n++ {
		p.Numbers = append(p.Numbers, numbered{n + 1, n*q.Size == q.From, pageAddress(q, n*q.Size)})
	}
	return p
}

// pageAddress returns the address of a page of results. The parameter from is the number of its
// first hit, counted from 0.
func pageAddress(q engine.Query, from int) string {
	values := kept(q)
	values.Set("q", q.Text)
	if from > 0 {
		values.Set("from", strconv.Itoa(from))
	}
	return "/search?" + values.Encode()
}

// literalOf formats a time for a parameter of an address: as a date such as 2026-01-31 if it is the beginning of a
// day in UTC, otherwise as an RFC 3339 time.
func literalOf(t time.Time) string {
	if t = t.UTC(); t.Equal(t.Truncate(24 * time.Hour)) {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339Nano)
}

// kept returns the parameters of a query that also hold for other pages of its results, and for a query with
// other words: its filters, asof, across, sort and n.
func kept(q engine.Query) url.Values {
	values := url.Values{}
	for _, name := range filterNames {
		if filter := *filterOf(&q, name); len(filter) > 0 {
			values[name] = filter
		}
	}
	for name, t := range map[string]time.Time{"after": q.After, "before": q.Before, "asof": q.AsOf} {
		if !t.IsZero() {
			values.Set(name, literalOf(t))
		}
	}
	if len(q.Across.Into) > 0 {
		values.Set("across", strings.Join(q.Across.Into, ","))
	}
	if q.ByDate {
		values.Set("sort", "date")
	}
	if q.Size != request.DefaultHits {
		values.Set("n", strconv.Itoa(q.Size))
	}
	return values
}
