package collection

import (
	"strings"
	"testing"
	"time"
)

func TestNext(t *testing.T) {
	for _, test := range []struct{ schedule, after, want string }{
		{"every 6h", "2026-11-22T05:59:59Z", "2026-11-22T06:00:00Z"},
		{"every 6h", "2026-11-22T06:00:00Z", "2026-11-22T12:00:00Z"},
		{"every 1h30m", "2026-11-22T01:00:00+05:00", "2026-11-21T21:00:00Z"},
		{"every 1d", "2026-11-22T06:00:00Z", "2026-11-23T00:00:00Z"},
		{"daily at 09:30", "2026-11-22T09:29:00Z", "2026-11-22T09:30:00Z"},
		{"daily at 09:30", "2026-11-22T09:30:00Z", "2026-11-23T09:30:00Z"},
		{"daily at 9:30", "2026-12-31T23:59:59Z", "2027-01-01T09:30:00Z"},
		{"daily at 09:30 Europe/Berlin", "2026-11-22T08:00:00Z", "2026-11-22T08:30:00Z"},
		{"daily at 09:30 Europe/Berlin", "2026-07-01T08:00:00Z", "2026-07-02T07:30:00Z"},
		{"  daily   at 00:30 Asia/Tokyo", "2026-11-22T15:00:00Z", "2026-11-22T15:30:00Z"},
		{"weekly on monday at 07:00", "2026-11-22T12:00:00Z", "2026-11-23T07:00:00Z"},
		{"weekly on Monday at 07:00", "2026-11-23T07:00:00Z", "2026-11-30T07:00:00Z"},
		{"weekly on sunday at 00:30 Pacific/Auckland", "2026-11-21T11:00:00Z", "2026-11-21T11:30:00Z"},
		// Clocks are put forward in Berlin on 2026-03-29 at 02:00, in Beirut at 00:00.
		{"daily at 02:30 Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z"},
		{"daily at 02:30 Europe/Berlin", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"},
		{"weekly on sunday at 00:30 Asia/Beirut", "2026-03-28T12:00:00Z", "2026-03-28T22:30:00Z"},
		// Clocks are put back in Berlin on 2026-10-25 at 03:00.
		{"daily at 02:30 Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T01:30:00Z"},
		{"daily at 02:30 Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"},
	} {
		after, err := time.Parse(time.RFC3339, test.after)
		if err != nil {
			t.Fatal(err)
		}
		schedule := Schedule(test.schedule)
		times, err := schedule.Parse()
		if err != nil {
			t.Error(err)
		}
		if got := times.Next(after).Format(time.RFC3339); got != test.want {
			t.Errorf("%s after %s: %s, want %s", test.schedule, test.after, got, test.want)
		}
	}
	for _, schedule := range []Schedule{"", "once"} {
		times, err := schedule.Parse()
		if err != nil {
			t.Error(err)
		}
		if got := times.Next(time.Now()); !got.IsZero() {
			t.Errorf("%q has a next time: %v", schedule, got)
		}
	}
}

func TestNoSchedule(t *testing.T) {
	for schedule, want := range map[Schedule]string{
		"sometimes":                    `want "once", "every 6h"`,
		"daily":                        `want "once"`,
		"daily at":                     `want "once"`,
		"daily at 09:30 in Berlin":     `want "once"`,
		"once a day":                   `want "once"`,
		"daily at noon":                `time "noon": want one from 00:00 to 23:59`,
		"daily at 24:00":               `time "24:00"`,
		"daily at 09:30 Berlin":        `time zone "Berlin": want one such as Europe/Berlin`,
		"daily at 09:30 Local":         `time zone "Local"`,
		"daily at 09:30 ../etc/passwd": `time zone "../etc/passwd"`,
		"weekly on mon at 07:00":       `weekday "mon": want one such as monday`,
		"weekly at 07:00":              `want "once"`,
		"weekly on monday at 7":        `time "7"`,
		"every day":                    `interval "day": want one such as 30m, 6h or 2d`,
		"every 0h":                     `interval "0h"`,
		"every 30s":                    `interval "30s"`,
		"every -6h":                    `interval "-6h"`,
		"every 367d":                   `interval "367d"`,
		"every 9999999999999999999d":   `interval`,
	} {
		err := schedule.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), "schedule \""+string(schedule)+"\": "+want) {
			t.Errorf("%s: %v, want %s", schedule, err, want)
		}
	}
}

// FuzzSchedule proves two properties of Next for a valid schedule. Next returns a later time than its
// argument. And if it is called again with the moment just before the returned time, it returns that
// time again.
func FuzzSchedule(f *testing.F) {
	f.Add("every 90m", int64(1e9))
	f.Add("daily at 02:30 Europe/Berlin", int64(1774659600))
	f.Add("weekly on sunday at 00:30 Asia/Beirut", int64(1774659600))
	f.Fuzz(func(t *testing.T, text string, seconds int64) {
		after := time.Unix(seconds%(1<<33), 0)
		times, err := Schedule(text).Parse()
		first := times.Next(after)
		if err != nil || first.IsZero() {
			return
		}
		if !first.After(after) {
			t.Fatalf("%q after %v: %v", text, after, first)
		}
		if again := times.Next(first.Add(-1)); !again.Equal(first) {
			t.Fatalf("%q after %v: %v, just before it %v", text, after, first, again)
		}
	})
}
