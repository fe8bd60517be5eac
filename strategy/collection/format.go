package collection

import (
	"encoding/json"
	"math"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// Duration is a time.Duration that is written in JSON as text, such as "1m30s".
type Duration time.Duration

// String returns the duration as text, such as 1m30s.
func (d Duration) String() string { return literal.Span(time.Duration(d)) }

// MarshalText implements encoding.TextMarshaler: it writes a duration such as 1m30s.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler: it reads a duration such as 1m30s.
func (d *Duration) UnmarshalText(text []byte) error {
	read, err := literal.Duration("duration", string(text), math.MaxInt64)
	*d = Duration(read)
	return err
}

// Former returns the names of fields in older formats (see numbered.Document).
func (Collection) Former() []string { return []string{"delay_ms", "stop_at", "fetches", "topic.pages"} }

// UnmarshalJSON reads a collection in JSON of any format version. JSON without "host_connections" is of
// format 1.
func (c *Collection) UnmarshalJSON(content []byte) error {
	var format struct {
		HostConnections *int `json:"host_connections"`
	}
	if err := json.Unmarshal(content, &format); err != nil {
		return err
	}
	type fields Collection // has no UnmarshalJSON, which would call itself without end
	if format.HostConnections != nil {
		return json.Unmarshal(content, (*fields)(c))
	}
	former := struct { // fields with another name in format 1
		*fields
		DelayMillis     int64 `json:"delay_ms"`
		HostConnections int   `json:"connections"`
		Pages           int64 `json:"stop_at"`
		Connections     int   `json:"fetches"`
	}{fields: (*fields)(c)}
	if err := json.Unmarshal(content, &former); err != nil {
		return err
	}
	c.Delay = Duration(time.Duration(former.DelayMillis) * time.Millisecond)
	c.HostConnections, c.Connections, c.Pages = former.HostConnections, former.Connections, former.Pages
	return nil
}

// UnmarshalJSON reads a topic of any format version: in version 1, the field "samples" had
// the name "pages".
func (t *Topic) UnmarshalJSON(content []byte) error {
	type fields Topic
	former := struct {
		*fields
		Pages []string `json:"pages"`
	}{fields: (*fields)(t)}
	if err := json.Unmarshal(content, &former); err != nil {
		return err
	}
	if former.Pages != nil {
		t.Pages = former.Pages
	}
	return nil
}
