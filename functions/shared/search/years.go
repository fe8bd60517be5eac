package search

import (
	"strconv"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// First and last year of the dates that ownDates can have.
const (
	firstYear = 1970
	lastYear  = 2149
)

// newYears has the first day of each year from firstYear to lastYear + 1. Days are numbered as in ownDates.
var newYears = func() (days [lastYear - firstYear + 2]int) {
	for i := range days {
		days[i] = int(time.Date(firstYear+i, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()/(24*60*60)) + 1
	}
	return days
}()

// years returns a column of strings for the facet Year. Its value for a document is the year of the document's
// date; a document without a date has no value.
func (d ownDates) years() *segment.StringColumn {
	column := &segment.StringColumn{Sets: [][]uint32{nil}, Of: make([]uint32, len(d))}
	for year := firstYear; year <= lastYear; year++ {
		column.Sets = append(column.Sets, []uint32{uint32(len(column.Values))})
		column.Values = append(column.Values, strconv.Itoa(year))
	}
	for doc, day := range d {
		if day == 0 {
			continue
		}
		year := int(day-1) / 366 // counted from firstYear; too low by one at most
		if int(day) >= newYears[year+1] {
			year++
		}
		column.Of[doc] = uint32(year + 1)
	}
	return column
}
