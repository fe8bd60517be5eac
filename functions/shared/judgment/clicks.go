package judgment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// LeastClicks is the number of stored clicks that a page needs, as a result of one query, to be
// returned by AllClicks. The reason is that a query may reveal the person who asked it, if nobody
// else did. Official statistics use the same limit: they publish no number that comes from fewer
// than three people. (If there were two, each could infer the other's number.) The limit is no
// proof that there are several people, because one person may have clicked three times.
const LeastClicks = 3

// PutClick stores a click in a slot, a number from 0 to Slots-1, which the caller must draw at
// random. The slot is part of the object's key. If it is taken, PutClick stores nothing and returns
// nil: so a flood of clicks makes at most Slots objects for a query and page on one day.
func PutClick(ctx context.Context, bucket blob.Bucket, c Click, slot int) error {
	content, err := c.Encode()
	if err != nil {
		return err
	}
	key := layout.ClickKey(c.day(), c.pair(), slot)
	if err := bucket.Create(ctx, key, layout.Seal(content)); err != nil && !errors.Is(err, blob.ErrExists) {
		return fmt.Errorf("cannot store a click %s: %w", key, err)
	}
	return nil
}

// Clicked is a query, with the pages that readers clicked among its results.
type Clicked struct {
	Query Query
	Pages []ClickedPage // sorted by mean position
}

// ClickedPage is a page that has at least LeastClicks clicks as a result of a query.
type ClickedPage struct {
	URL      string
	Clicks   float64 // number of clicks, estimated from the number of stored ones (see estimate)
	Position float64 // mean position of the page when it was clicked, from 1
}

// Grades returns the grade of each page, by its URL:
//
//	2   the page was clicked more often than every page above it
//	1   any other clicked page: pages are often clicked because of their position
//
// A page is above another if its mean position is less. The rule is "click > skip above" (T.
// Joachims, Optimizing Search Engines using Clickthrough Data, KDD 2002, section 2.2), applied to
// the clicks of many readers: they have seen the pages above this page, and preferred this page.
// Pages with fewer clicks than LeastClicks are not in c.Pages, and count as never clicked. A page
// whose mean position rounds to 1 never gets 2, because there is nothing above it.
func (c Clicked) Grades() map[string]int {
	grades := make(map[string]int)
	for _, page := range c.Pages {
		surpassed := slices.ContainsFunc(c.Pages, func(other ClickedPage) bool {
			return other.Position < page.Position && other.Clicks >= page.Clicks
		})
		grades[page.URL] = 2
		if surpassed || math.Round(page.Position) == 1 {
			grades[page.URL] = 1
		}
	}
	return grades
}

// estimate returns the number of clicks that most likely filled the given number of slots, if each
// click takes one of Slots slots at random. The number is −Slots · ln(fraction of slots that are
// empty). This is linear counting (K.-Y. Whang and others, ACM Transactions on Database Systems 15,
// 1990). If all slots are full, the number cannot be known, and estimate counts as if one slot were
// empty.
func estimate(slots int) float64 {
	return -Slots * math.Log(1-float64(min(slots, Slots-1))/Slots)
}

// AllClicks returns the queries whose results were clicked, each with the clicked pages, sorted by
// the queries' texts. It leaves out URLs that a takedown covers. The result unread has an error for
// each click that is damaged, or that only a newer version of the program can read.
//
// For each query, AllClicks also leaves out the pages with fewer than LeastClicks clicks. Such
// clicks are not read. The result few counts these pages; a page that is left out for two queries
// counts twice.
func AllClicks(ctx context.Context, bucket blob.Reader, forgotten *takedown.Set) (all []Clicked, few int, unread []error, err error) {
	keys, err := keysBelow(ctx, bucket, layout.Clicks)
	if err != nil {
		return nil, 0, nil, err
	}
	slots := make(map[string]int) // by pair
	pairOf := func(key string) string {
		pair, _ := layout.ParseClickKey(key) // keysBelow returns no other keys
		return pair
	}
	for _, key := range keys {
		slots[pairOf(key)]++
	}
	for _, n := range slots {
		if n < LeastClicks {
			few++
		}
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return slots[pairOf(key)] < LeastClicks })

	days := make(map[string][]Click) // of one pair on one day, by the prefix of their keys
	unread, err = each(ctx, bucket, keys, decodeStored, func(_ string, c Click) {
		if !c.Forgotten(forgotten) {
			days[c.prefix()] = append(days[c.prefix()], c)
		}
	})
	if err != nil {
		return nil, 0, nil, err
	}
	return gather(days), few, unread, nil
}

// gather adds up the clicks of all days, for each query and each page. The clicks are given in
// lists: each value of the map days is a list of the clicks on one page, as a result of one query,
// on one day.
func gather(days map[string][]Click) (all []Clicked) {
	type sum struct {
		first     Click
		clicks    float64
		positions int // sum of the positions of all clicks
		slots     int
	}
	sums := make(map[string]*sum)                        // by pair
	for _, day := range slices.Sorted(maps.Keys(days)) { // in order, because sums of floats depend on it
		clicks := days[day]
		pair := clicks[0].pair()
		if sums[pair] == nil {
			sums[pair] = &sum{first: clicks[0]}
		}
		of := sums[pair]
		of.clicks += estimate(len(clicks))
		of.slots += len(clicks)
		for _, c := range clicks {
			of.positions += c.Position
		}
	}
	queries := make(map[string]*Clicked)
	for _, of := range sums {
		hash := of.first.Query.Hash()
		if queries[hash] == nil {
			queries[hash] = &Clicked{Query: of.first.Query}
		}
		queries[hash].Pages = append(queries[hash].Pages, ClickedPage{of.first.URL, of.clicks, float64(of.positions) / float64(of.slots)})
	}
	for _, c := range queries {
		slices.SortFunc(c.Pages, func(a, b ClickedPage) int {
			return cmp.Or(cmp.Compare(a.Position, b.Position), strings.Compare(a.URL, b.URL))
		})
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b Clicked) int { return a.Query.compare(b.Query) })
	return all
}
