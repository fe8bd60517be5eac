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

// Date returns the page's own date. It comes from the page's metadata: the time of publication or of
// the last change, the later one if there are both. Without metadata it comes from the response
// header Last-Modified (the first parameter), if this is more than a day before the download (the
// second parameter). A later Last-Modified is ignored: servers that make the page anew for every
// request send it. A date before 1970, or more than a day after the download, is ignored as wrong.
// If no date is left, the result is the zero time.
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
