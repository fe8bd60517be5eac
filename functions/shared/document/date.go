package document

import (
	"net/http"
	"strings"
	"time"
)

// dateLayouts are the forms in which pages write dates for programs, in the notation of time.Parse.
var dateLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02T15:04:05-0700",
	"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly, "2006/01/02", "20060102",
	time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC,
	"January 2, 2006", "Jan 2, 2006", "2 January 2006", "2 Jan 2006", "January 2006",
}

// Date returns the page's own date: the time of its publication or of its last change, the later of
// the two if the page's metadata has both. If it has neither, the date is that of modified, the value
// of the answer's header Last-Modified, unless this is within a day of fetched: then the server
// makes the page anew for every request. The result is the zero time if no date is known. A date
// before 1970, or more than a day after fetched, the time of the download, is wrong and counts as not
// known.
func (d *Document) Date(modified string, fetched time.Time) (date time.Time) {
	isPossible := func(at time.Time) bool { return at.Unix() >= 0 && at.Before(fetched.Add(24*time.Hour)) }
	f := d.facts()
	for _, text := range []string{f.published, f.modified} {
		if at, ok := parseDate(text); ok && isPossible(at) && at.After(date) {
			date = at
		}
	}
	if !date.IsZero() {
		return date
	}
	if at, err := http.ParseTime(modified); err == nil && isPossible(at) && fetched.Sub(at) > 24*time.Hour {
		return at.UTC()
	}
	return date
}

// parseDate reads a date in one of the forms of dateLayouts. A date without a time zone is taken as
// one in UTC.
func parseDate(text string) (date time.Time, ok bool) {
	text = strings.TrimSpace(text)
	for _, layout := range dateLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}
