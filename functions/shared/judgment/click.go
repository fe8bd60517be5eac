package judgment

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

const (
	// Slots is the greatest number of clicks that are kept for the same day, query and page. Each
	// click is stored in one of as many numbered places (slots), which is drawn at random.
	Slots = 64
	// MaxClick is the greatest size of a click as JSON, in bytes. A larger click is not stored: hardly
	// anybody else asks such a long query, and clicks on rare queries are not used (see LeastClicks).
	MaxClick = 2048
)

// Click says that a reader has followed the link to a result of a query. It tells nothing about the
// reader.
type Click struct {
	Version  int    `json:"version"` // version of the format; Encode sets it
	Day      string `json:"day"`     // day (UTC) on which the result was shown, such as 2026-11-25
	Query    Query  `json:"query"`
	URL      string `json:"url"`      // canonical URL of the result
	Position int    `json:"position"` // number of the result, from 1
}

// DayOf returns the day (UTC) of a time in the form of Click.Day.
func DayOf(moment time.Time) string { return moment.UTC().Format(time.DateOnly) }

// check returns an error that says why the click is invalid, or nil if it is valid.
func (c Click) check() error {
	if err := c.Query.check(); err != nil {
		return err
	}
	if day, err := time.Parse(time.DateOnly, c.Day); err != nil || DayOf(day) != c.Day {
		return fmt.Errorf("%.40q is no day", c.Day)
	}
	if a, err := address.Parse(c.URL); err != nil || a.URL != c.URL {
		return fmt.Errorf("%.200q is no canonical address", c.URL)
	}
	if c.Position < 1 {
		return fmt.Errorf("the position is %d; want 1 or more", c.Position)
	}
	return nil
}

// Encode returns the click as JSON. It fails for a click that is invalid, or larger than MaxClick.
func (c Click) Encode() (content []byte, err error) {
	c.Version, c.Query = version, c.Query.canonical()
	if err = c.check(); err == nil {
		content, err = encode(c)
	}
	if err == nil && len(content) > MaxClick {
		err = fmt.Errorf("query and address have %d bytes as JSON; want at most %d", len(content), MaxClick)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot keep a click: %w", err)
	}
	return content, nil
}

// DecodeClick decodes a click that Encode has encoded. It fails with ErrNewer if only a newer
// version of the program can read the click.
func DecodeClick(content []byte) (c Click, err error) {
	if len(content) > MaxClick {
		return c, fmt.Errorf("%d bytes are more than %d", len(content), MaxClick)
	}
	var written struct{ Version int }
	if err := json.Unmarshal(content, &written); err != nil {
		return c, err
	}
	if written.Version > version {
		return c, ErrNewer
	}
	if err := json.Unmarshal(content, &c); err != nil {
		return c, err
	}
	if c.Version != version {
		return c, errors.New("it has no version")
	}
	c.Query = c.Query.canonical()
	return c, c.check()
}

// prefix returns the common prefix of the keys of all clicks with the same day, query and page as
// c.
func (c Click) prefix() string { return layout.ClickPrefix(c.day(), c.pair()) }

// day returns the beginning of the click's day.
func (c Click) day() time.Time {
	day, _ := time.Parse(time.DateOnly, c.Day) // check has parsed it
	return day
}

// pair returns the hash of the query and the page of the click. This hash is a part of the click's
// key.
func (c Click) pair() string { return layout.ContentHash([]byte(c.Query.Hash() + " " + c.URL)) }

// decodeStored decodes a stored click from the key and the content of its object. It fails if the
// checksum is wrong, or if the click does not belong under this key.
func decodeStored(key string, content []byte) (Click, error) {
	object, sealed, err := layout.Unseal(content)
	if err == nil && !sealed {
		err = errors.New("it has no sum")
	}
	var c Click
	if err == nil {
		c, err = DecodeClick(object)
	}
	if err == nil && !strings.HasPrefix(key, c.prefix()) {
		err = errors.New("it is of another day, query or page than the name says")
	}
	if err != nil {
		return Click{}, fmt.Errorf("cannot read a click: %w", err)
	}
	return c, nil
}

// CheckClick returns an error if the object with the key is a damaged click. One that only a newer
// version of the program can read is not damaged.
func CheckClick(key string, content []byte) error {
	if _, err := decodeStored(key, content); err != nil && !errors.Is(err, ErrNewer) {
		return err
	}
	return nil
}

// Forgotten reports whether the click must be forgotten because of a takedown, which is an
// operator's request to forget URLs and sites. It must be if a takedown covers the URL of the
// click, or a URL or site that the query of the click names.
func (c Click) Forgotten(forgotten *takedown.Set) bool {
	return forgotten.ForgetsURL(c.URL) || c.Query.names(forgotten)
}
