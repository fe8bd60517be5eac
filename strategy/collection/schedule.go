package collection

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a machine in a cloud may have no time zones
)

// Schedule says when the pages of a collection are fetched again:
//
//	schedule                                   pages are fetched again
//	"" (the zero Schedule)                     each page as often as it changes
//	once                                       never
//	every 6h                                   at 00:00, 06:00, 12:00 and 18:00 UTC
//	every 30m, every 2d                        likewise
//	daily at 09:30                             every day at 09:30 UTC
//	weekly on monday at 07:00                  every Monday at 07:00 UTC
//	daily at 09:30 Europe/Berlin               every day at 09:30 in this time zone; a weekly
//	                                           schedule may have a time zone, too
type Schedule string

// Validate returns an error that says what is wrong with the schedule, or nil.
func (s Schedule) Validate() error {
	_, err := s.Parse()
	return err
}

// Timetable is a parsed schedule. The zero Timetable has no times.
type Timetable struct {
	every        time.Duration // time between scheduled fetches; 0 for a schedule with a time of day
	daily        bool          // true: every day; false: only on weekday
	weekday      time.Weekday
	hour, minute int
	zone         *time.Location
}

// Next returns the first scheduled time after the given one, in UTC; the zero time if
// there is none. A page that was last requested at time t is due at Next(t). On the day
// on which summer time begins, the scheduled time may not exist; the result is then up to
// an hour earlier or later. When summer time ends, the scheduled time may occur twice;
// the result is one of the two.
func (t Timetable) Next(after time.Time) time.Time {
	switch {
	case t == (Timetable{}):
		return time.Time{}
	case t.every > 0:
		return after.UTC().Truncate(t.every).Add(t.every)
	}
	year, month, today := after.In(t.zone).Date()
	for day := today; ; day++ {
		noon := time.Date(year, month, day, 12, 0, 0, 0, t.zone) // no change to summer time skips noon
		next := time.Date(year, month, day, t.hour, t.minute, 0, 0, t.zone)
		if (t.daily || noon.Weekday() == t.weekday) && next.After(after) {
			return next.UTC()
		}
	}
}

var errSchedule = errors.New(`want "once", "every 6h", "daily at 09:30" or "weekly on monday at 07:00", with a time zone such as Europe/Berlin behind the time if it is not UTC`)

// Parse parses the schedule.
func (s Schedule) Parse() (Timetable, error) {
	t, err := parseSchedule(strings.Fields(string(s)))
	if err != nil {
		return Timetable{}, fmt.Errorf("schedule %.100q: %w", string(s), err)
	}
	return t, nil
}

func parseSchedule(words []string) (t Timetable, err error) {
	switch n := len(words); {
	case n == 0, n == 1 && words[0] == "once":
		return t, nil
	case n == 2 && words[0] == "every":
		t.every, err = parseInterval(words[1])
		return t, err
	case n >= 3 && words[0] == "daily" && words[1] == "at":
		t.daily = true
		return t, t.at(words[2:])
	case n >= 5 && words[0] == "weekly" && words[1] == "on" && words[3] == "at":
		if t.weekday, err = parseWeekday(words[2]); err != nil {
			return t, err
		}
		return t, t.at(words[4:])
	}
	return t, errSchedule
}

// at sets the time of day and the time zone of t. words are the words of the schedule after
// "at", such as "09:30" and "Europe/Berlin". Without a zone, UTC is used.
func (t *Timetable) at(words []string) error {
	clock, err := time.Parse("15:04", words[0])
	if err != nil {
		return fmt.Errorf("time %q: want one from 00:00 to 23:59", words[0])
	}
	t.hour, t.minute, t.zone = clock.Hour(), clock.Minute(), time.UTC
	switch {
	case len(words) == 1:
		return nil
	case len(words) > 2:
		return errSchedule
	}
	t.zone, err = time.LoadLocation(words[1])
	if err != nil || words[1] == "Local" {
		return fmt.Errorf("time zone %q: want one such as Europe/Berlin", words[1])
	}
	return nil
}

func parseWeekday(name string) (time.Weekday, error) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.EqualFold(name, day.String()) {
			return day, nil
		}
	}
	return 0, fmt.Errorf("weekday %q: want one such as monday", name)
}

func parseInterval(text string) (time.Duration, error) {
	const day, least, most = 24 * time.Hour, time.Minute, 366 * 24 * time.Hour
	every, err := time.ParseDuration(text)
	if days, found := strings.CutSuffix(text, "d"); found {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 10)
		every = time.Duration(n) * day
	}
	if err != nil || every < least || every > most {
		return 0, fmt.Errorf("interval %q: want one such as 30m, 6h or 2d, from a minute to a year", text)
	}
	return every, nil
}
