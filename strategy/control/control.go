// Package control holds the operator's controls: whether the crawl is paused, what it
// may cost, which collections it is limited to, where alerts are sent, and with which
// keys programs may use the HTTP API. They are one versioned document in the bucket,
// as JSON:
//
//	{
//	  "pause": {"since": "2026-11-22T02:00:00Z", "until": "2026-11-23T00:00:00Z",
//	            "by": "limit", "reason": "…a sentence…"},
//	  "limits": {"storage": 50000000000, "requests_a_day": 1000000, "usd_a_day": 2.5},
//	  "webhook": "https://example.org/alerts",
//	  "only": [{"collection": "docs"}, {"collection": "default", "seeds": ["https://example.org/"]}],
//	  "prices": {"put_per_million": 5, "get_per_million": 0.4, "list_per_million": 5, …},
//	  "keys": [{"name": "phone", "sha256": "…64 hexadecimal digits…", "scopes": ["search", "page"],
//	            "requests_a_minute": 60, "created": "2026-11-22T02:00:00Z"}]
//	}
//
// # Format history
//
//   - 1: has no "only".
//   - 2: has "only". A program of format 1 refuses a document that has "only".
//   - 3: a limit has the name of its flag: "storage" replaces "storage_bytes", and
//     is still in bytes. A program of format 2 refuses a document that has "storage".
//   - 4: has "keys" and "keys_lost". A program of format 3 refuses a document that has
//     one of them.
package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
)

const maxBytes = 64 << 10

// The values of Pause.By, which says who or what has paused the crawl: an operator, a limit that
// was reached, or damage.
const (
	Operator = "operator"
	Limit    = "limit"
	// Damage says that the crawl is paused because a published document cannot be read. This value is
	// never stored in the bucket: package settings sets it in the controls that it has read.
	Damage = "damage"
)

// Pause stops the leasing of URLs. Leased batches are finished, packed and indexed;
// searches continue.
type Pause struct {
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until,omitzero"` // end of the pause; zero: until the operator resumes the crawl
	By     string    `json:"by"`
	Reason string    `json:"reason"` // sentence that tells people why the crawl is paused
}

// Limits are upper limits of storage and cost; 0 means no limit.
type Limits struct {
	StorageBytes int64 `json:"storage,omitempty"` // greatest total size of packages, books and segments, in bytes
	// greatest number of requests to the object store on one day (UTC)
	RequestsPerDay int64   `json:"requests_a_day,omitempty"`
	USDPerDay      float64 `json:"usd_a_day,omitempty"` // greatest cost of one day (UTC), in US dollars
}

// UnmarshalJSON reads limits of any format version (see the package comment).
func (l *Limits) UnmarshalJSON(content []byte) error {
	type fields Limits // has no UnmarshalJSON, which would call itself without end
	former := struct {
		*fields
		StorageBytes int64 `json:"storage_bytes"`
	}{fields: (*fields)(l)}
	if err := json.Unmarshal(content, &former); err != nil {
		return err
	}
	if former.StorageBytes != 0 {
		l.StorageBytes = former.StorageBytes
	}
	return nil
}

// Former returns the names of fields in older formats (see numbered.Document).
func (Document) Former() []string { return []string{"limits.storage_bytes"} }

// Only lists the collections to which the crawl is limited.
type Only []Chosen

// Chosen is a collection, or some of its seeds, to which the crawl is limited.
type Chosen struct {
	Collection string   `json:"collection"`
	Seeds      []string `json:"seeds,omitempty"` // seeds of the collection that are crawled; empty: all its seeds
}

// Document is one version of the controls. The zero Document restricts nothing.
type Document struct {
	Pause   *Pause `json:"pause,omitempty"`
	Limits  Limits `json:"limits,omitzero"`
	Webhook string `json:"webhook,omitempty"` // URL that gets every alert as JSON by POST

	// Only, if not nil, limits the crawl to these collections and seeds. The URLs of all
	// other collections and seeds wait.
	Only *Only `json:"only,omitempty"`

	Prices meter.Prices `json:"prices,omitzero"` // prices of the cloud; zero: those of AWS (see Priced)

	Keys     *Keys `json:"keys,omitempty"`      // keys of the HTTP API; nil if there are none
	KeysLost bool  `json:"keys_lost,omitempty"` // whether keys may have been lost by damage (see ErrKeysLost)
}

// Priced returns the prices of the document, or, if it sets none, those of AWS in us-east-1.
func (d Document) Priced() meter.Prices {
	if d.Prices == (meter.Prices{}) {
		return meter.USEast1()
	}
	return d.Prices
}

// Validate returns an error that says what is wrong with the document, or nil.
func (d Document) Validate() error {
	if d.Limits.StorageBytes < 0 || d.Limits.RequestsPerDay < 0 || d.Limits.USDPerDay < 0 {
		return errors.New("a limit is negative; write 0 for none, or more")
	}
	if p := d.Prices; min(p.PutPerMillion, p.GetPerMillion, p.ListPerMillion, p.HeadPerMillion, p.DeletePerMillion, p.LambdaPerMillion, p.LambdaGBSecond) < 0 {
		return errors.New("a price is negative; write 0 or more")
	}
	if d.Pause != nil && (d.Pause.By != Operator && d.Pause.By != Limit || d.Pause.Reason == "") {
		return fmt.Errorf("pause by %q because of %q: want %s or %s, and a reason", d.Pause.By, d.Pause.Reason, Operator, Limit)
	}
	if d.Webhook != "" {
		u, err := url.Parse(d.Webhook)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return literal.Wrong("webhook", d.Webhook, "a web address such as https://example.org/alerts")
		}
	}
	return d.KeyList().Validate()
}

// Paused returns the pause in force now, or nil. A pause ends at Until, or when the
// operator resumes the crawl.
func (d Document) Paused(now time.Time) *Pause {
	if d.Pause == nil || !d.Pause.Until.IsZero() && !now.Before(d.Pause.Until) {
		return nil
	}
	return d.Pause
}

var store = numbered.Store[Document]{Prefix: layout.Controls, Key: layout.ControlKey, Most: maxBytes}

// Find returns the controls in force, and the newer versions that are damaged. It takes one LIST and, if
// no version is damaged, at most one GET. The result curations lists the stored versions of the curation
// (see package curation), which the same LIST finds, in ascending order; Find does not read them.
func Find(ctx context.Context, bucket blob.Reader) (found numbered.Found[Document], curations []blob.Object, err error) {
	var versions []blob.Object
	for object, err := range bucket.List(ctx, layout.Controls, "") {
		if err != nil {
			return found, nil, fmt.Errorf("cannot list %s: %w", layout.Controls, err)
		}
		if _, err := layout.ParseNumberedKey(object.Key, layout.Controls); err == nil {
			versions = append(versions, object)
		} else if _, err := layout.ParseNumberedKey(object.Key, layout.Curations); err == nil {
			curations = append(curations, object)
		}
	}
	found, err = store.Among(ctx, bucket, versions)
	return found, curations, err
}

// Republish repairs damaged controls: it publishes the version in force again, under a new number.
// It does so if a newer version is damaged, or if the version in force can be read only from its
// copy. It returns the new number, or 0 if nothing is damaged. If no version can be read, the new
// version pauses the crawl, and the API refuses all requests. Then an operator must set limits and keys
// again, and resume the crawl.
func Republish(ctx context.Context, bucket blob.Bucket, now time.Time) (uint64, error) {
	found, err := store.Find(ctx, bucket)
	if err != nil {
		return 0, err
	}
	return store.Republish(ctx, bucket, func(d Document, _ uint64) (Document, error) {
		if found.Version == 0 {
			d.KeysLost = true
			d.Pause = &Pause{Since: now.UTC().Truncate(time.Second), By: Operator,
				Reason: "limits, and keys of the API, were damaged and cannot be read; set them again (bucketsearch limits, bucketsearch keys), then bucketsearch resume"}
		}
		return d, nil
	})
}

// Change passes a copy of the controls in force to the given function, which edits them. If the
// function returns true, Change publishes the edited controls, else it publishes nothing. If another
// publisher was faster, the function is called again, with newer controls. Change returns the
// controls that are in force afterwards.
func Change(ctx context.Context, bucket blob.Bucket, change func(*Document) bool) (Document, error) {
	document, _, err := store.Publish(ctx, bucket, func(current Document, _ uint64) (Document, bool) {
		changed := change(&current)
		return current, changed
	})
	return document, err
}
