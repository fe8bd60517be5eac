// Package literal reads values that persons write: durations, numbers, sizes,
// times, documents. Flags, collection files, environment variables, parameters of
// the HTTP API and JSON files all refuse wrong values here, in the same words:
//
//	delay is "5 sec"; write a duration such as 500ms, 5s or 2m
//
// The sentence names the setting as the person wrote it (delay, --delay), and shows the
// wrong value and an example of a right one. Functions that read a value take this name
// and the value's text.
package literal

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxShown is the number of characters of a wrong value that an error repeats.
const maxShown = 100

// Wrong returns the error for a wrong value of the setting with this name. The last parameter says
// what the user must write instead, for example "a duration such as 5s".
func Wrong(name string, value any, write string) error {
	return fmt.Errorf("%s is %s; write %s", name, show(value), write)
}

// show returns the words by which an error shows a wrong value. A text is in quotes, and cut off
// after maxShown characters; an empty one is "empty". Lists and tables are only called "a list" and
// "a table".
func show(value any) string {
	switch value := value.(type) {
	case string:
		if value == "" {
			return "empty"
		}
		return fmt.Sprintf("%.*q", maxShown, value)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return fmt.Sprint(value)
}

// Duration parses the value of a setting as a duration, such as 1m30s. It refuses negative durations
// and those above the given maximum. The name of the setting is for the error.
func Duration(name, text string, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > most {
		return 0, Wrong(name, text, "a duration such as 500ms, 5s or 2m, "+Span(most)+" at most")
	}
	return d, nil
}

// Span returns the text of a duration in its short form: 1h, not 1h0m0s.
func Span(d time.Duration) string {
	text := d.String()
	for _, nothing := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, nothing) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// Whole parses the value of a setting as a whole number within the given bounds, which are both
// allowed. If most is math.MaxInt64, there is no upper bound. The name of the setting is for the
// error.
func Whole(name, text string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, Wrong(name, text, Range(least, most))
	}
	return n, nil
}

// Range returns a description of the whole numbers from least to most, such as "a whole number from
// 1 to 5".
func Range(least, most int64) string {
	if most == math.MaxInt64 {
		return fmt.Sprintf("a whole number, %d or more", least)
	}
	return fmt.Sprintf("a whole number from %d to %d", least, most)
}

// Amount parses the value of a setting as a number of at least 0, such as 2.50. The name of the
// setting is for the error.
func Amount(name, text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0) || math.IsInf(n, 1) {
		return 0, Wrong(name, text, "a number such as 2.50, 0 or more")
	}
	return n, nil
}

// Switch parses the value of a setting that is on (true or 1) or off (false, 0 or empty). The name of
// the setting is for the error.
func Switch(name, text string) (bool, error) {
	switch strings.ToLower(text) {
	case "1", "true":
		return true, nil
	case "", "0", "false":
		return false, nil
	}
	return false, Wrong(name, text, "true or false")
}

// Time parses the value of a setting as a time (RFC 3339) or as a date, which means the first moment
// of that day in UTC. For an empty text it returns the zero time. The name of the setting is for the
// error.
func Time(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, Wrong(name, text, "a date such as 2026-11-21 or a time such as 2026-11-21T09:30:00Z")
}

var size = regexp.MustCompile(`(?i)^([0-9]+(?:\.[0-9]+)?) *(?:([KMGT])(i?))?B?$`)

// Size parses the value of a setting as a number of bytes, such as 50GB, 1.5TiB or 1000000. The name
// of the setting is for the error.
func Size(name, text string) (int64, error) {
	parts := size.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return 0, Wrong(name, text, "a size such as 500MB, 50GB or 1.5TiB")
	}
	bytes, err := strconv.ParseFloat(parts[1], 64)
	base := 1000.0
	if parts[3] != "" {
		base = 1024
	}
	if parts[2] != "" {
		bytes *= math.Pow(base, float64(strings.Index("KMGT", strings.ToUpper(parts[2]))+1))
	}
	if err != nil || bytes > math.MaxInt64/2 {
		return 0, Wrong(name, text, "a smaller size, such as 50GB")
	}
	return int64(bytes), nil
}
