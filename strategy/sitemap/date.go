package sitemap

import (
	"strings"
	"time"
)

// datetimes are the layouts (see package time) of a W3C datetime, and of other dates that
// sitemaps often contain instead.
var datetimes = []string{
	time.DateOnly,
	time.RFC3339,
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04:05",
	"2006-01-02T15:04",
	time.DateTime,
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05 Z0700",
	"2006-01",
	"2006",
}

// mailDates are the layouts (see package time) of dates of RFC 822, RFC 1123 and RFC 850,
// without the day of the week.
var mailDates = []string{
	"2 Jan 2006 15:04:05 -0700",
	"2 Jan 2006 15:04 -0700",
	"2 Jan 06 15:04:05 -0700",
	"2 Jan 06 15:04 -0700",
	"2-Jan-06 15:04:05 -0700",
}

// zones maps the names of time zones in RFC 822 to their offsets.
var zones = map[string]string{
	"Z": "+0000", "UT": "+0000", "UTC": "+0000", "GMT": "+0000",
	"EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
}

// parseDate returns the time of a date in a layout of datetimes or mailDates, in UTC; the
// zero time for any other text.
func parseDate(s string) time.Time {
	if s == "" {
		return time.Time{} // without an error of each layout, for most sitemaps have no dates
	}
	layouts := datetimes
	if len(s) < 4 || s[3] < '0' || s[3] > '9' { // the text does not begin with a year
		layouts = mailDates
		if _, rest, found := strings.Cut(s, ","); found {
			s = strings.TrimSpace(rest)
		}
		if i := strings.LastIndexByte(s, ' '); i >= 0 {
			if offset, named := zones[s[i+1:]]; named {
				s = s[:i+1] + offset
			}
		}
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
