// Package why tells the whole story of one URL from the bucket: found where,
// admitted by which rule, asked for when, packed and indexed where, or why not.
package why

import (
	"context"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// maxFound is how many of the links to a URL are told; the others are counted.
const maxFound = 20

// Story is all that the bucket says of a URL.
type Story struct {
	URL       string          `json:"url"`
	ID        layout.Identity `json:"id"`
	State     account.State   `json:"state"`            // "" for a URL that nobody has come across
	Reason    string          `json:"reason,omitempty"` // of skipped and failed
	Forgotten time.Time       `json:"forgotten,omitzero"`
	Seed      []string        `json:"seed,omitempty"` // collections that begin with it
	Found     []Found         `json:"found,omitempty"`
	Links     int             `json:"links"` // all that lead to it
	Admitted  *Rule           `json:"admitted,omitempty"`
	Asked     []Asked         `json:"asked,omitempty"` // oldest first
	Due       time.Time       `json:"due,omitzero"`    // when it is asked for once more
	Stored    *Stored         `json:"stored,omitempty"`
	Problems  []string        `json:"problems,omitempty"` // what could not be read

	page *book.Outcome // where it is stored
}

// Found is a link that leads to the URL.
type Found struct {
	On         string    `json:"on"` // the page's URL, or its identity where no book tells the URL
	Kind       book.Kind `json:"kind"`
	Text       string    `json:"text,omitempty"`
	Depth      uint16    `json:"depth"`
	Collection string    `json:"collection"`
	Decision   string    `json:"decision"` // "admitted" or the reason of the refusal
}

// Rule is what admits the URL today: the scope of a seed, or that it is a
// sitemap.
type Rule struct {
	Collection string           `json:"collection"`
	Version    uint64           `json:"version"`
	Seed       string           `json:"seed,omitempty"`
	Scope      collection.Scope `json:"scope,omitempty"`
	Within     int              `json:"within"` // links from the seed, -1: no limit
	Sitemap    bool             `json:"sitemap,omitempty"`
	Depth      uint16           `json:"depth"`   // links from a seed, by which it was found
	Crawl      int              `json:"crawl"`   // partition
	Storage    int              `json:"storage"` // partition
}

// Asked is one time that a batch had the URL.
type Asked struct {
	Batch   layout.Version `json:"batch"`
	At      time.Time      `json:"at"`
	State   book.State     `json:"state"`
	Reason  string         `json:"reason,omitempty"`
	Detail  string         `json:"detail,omitempty"`
	Status  uint16         `json:"status,omitempty"`
	Attempt uint8          `json:"attempt"`
	Packed  bool           `json:"packed"` // false: it waits in the spool

	outcome book.Outcome
}

// Stored is where the live page stands.
type Stored struct {
	Partition layout.Partition `json:"partition"`
	Package   string           `json:"package"`
	Offset    int64            `json:"offset"`
	Length    int64            `json:"length"`
	Bytes     int              `json:"bytes"` // of its content
	MIME      string           `json:"mime"`
	Segment   string           `json:"segment,omitempty"` // "" until it is indexed
	Title     string           `json:"title,omitempty"`
	Indexed   bool             `json:"indexed"` // its package is
}

// teller gathers one story.
type teller struct {
	bucket    blob.Reader
	settings  *settings.Settings
	url       address.Address
	manifests []manifest.Manifest
	story     Story
	links     []book.Link
	sources   map[layout.Identity]string
}

// Tell tells the story of a URL. When nobody has come across it, but across
// what a collection crawls in its place, without a session say, it is the story
// of that. What cannot be read is a problem in the story; an error means that
// there is none to tell.
func Tell(ctx context.Context, bucket blob.Reader, s *settings.Settings, url address.Address) (Story, error) {
	story, err := tell(ctx, bucket, s, url)
	if err != nil || story.State != "" || !story.Forgotten.IsZero() {
		return story, err
	}
	told := map[layout.Identity]bool{url.ID: true}
	for _, c := range s.Collections {
		cleaned := s.Clean(c.Name, url)
		if told[cleaned.ID] {
			continue
		}
		told[cleaned.ID] = true
		other, err := tell(ctx, bucket, s, cleaned)
		if err != nil || other.State != "" || !other.Forgotten.IsZero() {
			return other, err
		}
	}
	return story, nil
}

func tell(ctx context.Context, bucket blob.Reader, s *settings.Settings, url address.Address) (Story, error) {
	t := &teller{bucket: bucket, settings: s, url: url, sources: make(map[layout.Identity]string)}
	t.story = Story{URL: url.URL, ID: url.ID, Forgotten: s.Takedowns.Since(url)}
	if !t.story.Forgotten.IsZero() {
		return t.story, nil
	}
	if err := t.read(ctx); err != nil {
		return Story{}, fmt.Errorf("cannot tell why %s: %w", url.URL, err)
	}
	if err := t.judge(); err != nil {
		return Story{}, fmt.Errorf("cannot tell why %s: %w", url.URL, err)
	}
	t.found()
	t.stored(ctx)
	return t.story, ctx.Err()
}
