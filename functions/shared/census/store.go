package census

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

const format = 3

// Tests set these to a few kilobytes.
var (
	maxBytes        = 64 << 20 // greatest size of the hint, in bytes
	stepBytes int64 = 1 << 30  // bytes of the books that Refresh reads; it takes a minute of a processor
)

// Read returns the census that was saved last. The result is the zero Census if there is none, or if it cannot be
// used because it is damaged or was saved by a newer program: then all URLs are counted again.
func Read(ctx context.Context, bucket blob.Reader) (*Census, error) {
	content, err := bucket.Get(ctx, layout.Census, blob.Range{Length: int64(maxBytes)})
	if errors.Is(err, blob.ErrAbsent) || errors.Is(err, blob.ErrRange) { // of an empty object
		return new(Census), nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the last census: %w", err)
	}
	c := new(Census)
	object, sealed, err := layout.Unseal(content)
	if err != nil || !sealed || json.Unmarshal(object, c) != nil || c.Format != format || !c.isSorted() {
		return new(Census), nil
	}
	return c, nil
}

// isSorted reports whether the parts are sorted, do not overlap, and have whole sites.
func (c *Census) isSorted() bool {
	for i, p := range c.Parts {
		if p.From != p.From.SiteRange().From || p.To != p.To.SiteRange().From || p.To != 0 && p.To <= p.From ||
			i > 0 && (c.Parts[i-1].To == 0 || c.Parts[i-1].To > p.From) {
			return false
		}
	}
	return true
}

// Save saves a census that Update has returned for these books. It leaves out the parts with URLs in spool objects,
// which may never be packed, and parts that do not fit (see put). If objects are lost or damaged, it saves nothing.
func (c *Census) Save(ctx context.Context, bucket blob.Bucket, books *account.Bucket) error {
	unsaved, err := c.newSites(ctx, books, c.ranges())
	if err != nil || len(books.Faults()) > 0 {
		return err
	}
	saved := *c
	saved.Parts = c.without(unsaved, func(*Part) bool { return false })
	return saved.put(ctx, bucket)
}

// newSites returns the sites of URLs in spool objects, and in books that are not counted ones. It stops reading them
// once each of the given ranges of whole sites has one of the sites: in a crawl, that is after a few books.
func (c *Census) newSites(ctx context.Context, books *account.Bucket, ranges []layout.Range) (map[uint32]bool, error) {
	isNew := func(key string) bool { return !slices.Contains(c.Books, key) }
	return books.Sites(ctx, isNew, func(sites map[uint32]bool) bool { return len(withNone(ranges, sites)) == 0 })
}

// put writes the hint. If it would be larger than maxBytes, put leaves out the last parts, whose URLs are then counted
// again by every Update.
func (c *Census) put(ctx context.Context, bucket blob.Bucket) error {
	for {
		content, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("cannot save the census: %w", err)
		}
		sealed := layout.Seal(content)
		if len(sealed) > maxBytes && len(c.Parts) > 0 {
			c.Parts = c.Parts[:len(c.Parts)*9/10]
			continue
		}
		if err := bucket.Replace(ctx, layout.Census, sealed); err != nil {
			return fmt.Errorf("cannot save the census: %w", err)
		}
		return nil
	}
}

// Merged says that books were merged into one.
type Merged struct {
	Books []string // keys of the books
	Into  string   // key of the book that has their outcomes and links
	// Changed has the sites of URLs of which the merge has left out outcomes or links.
	Changed map[uint32]bool
}

// Rename tells the saved census that books were merged, so that those which were counted still count as counted. If
// only some books of a merge were counted, their URLs are counted again. So are the URLs of sites in Merged.Changed.
func Rename(ctx context.Context, bucket blob.Bucket, merges ...Merged) error {
	if len(merges) == 0 {
		return nil
	}
	c, err := Read(ctx, bucket)
	if err != nil || len(c.Books) == 0 {
		return err
	}
	renamed, parts := false, len(c.Parts)
	for _, m := range merges {
		before := len(c.Books)
		c.Books = slices.DeleteFunc(c.Books, func(key string) bool { return slices.Contains(m.Books, key) })
		switch before - len(c.Books) {
		case 0:
			continue
		case len(m.Books):
			c.Books = append(c.Books, m.Into)
		}
		renamed = true
		c.Parts = c.without(m.Changed, func(*Part) bool { return false })
	}
	if !renamed {
		return nil
	}
	if len(c.Parts) < parts {
		c.Next = &c.gaps()[0].From
	}
	return c.put(ctx, bucket)
}

// Refresh counts the URLs of the bucket again and saves the numbers, if that pays. It pays in four cases:
//
//   - The settings have changed, or a counted book is not listed any more.
//   - The last count has not come to its end, or Rename has dropped numbers.
//   - There are books that were not counted, and the crawl has ended.
//   - These books are larger than all that were counted. So a crawl that goes on for long counts each URL a few times
//     only.
//
// One call takes a step only: it reads about stepBytes bytes of the books. If more is true, another call must go on.
//
// It does not count the URLs of parts that Save leaves out because they have URLs in the spool. While a crawl goes on,
// these are most: their numbers would not hold any more when the next book is packed.
//
// If objects are lost or damaged, Refresh counts nothing. It then removes the last numbers if the settings have changed:
// they may have names of hosts that takedowns forget.
func Refresh(ctx context.Context, bucket blob.Bucket, s *settings.Settings, now time.Time, ended bool) (more bool, err error) {
	last, err := Read(ctx, bucket)
	if err != nil {
		return false, err
	}
	pays, err := last.isOutdated(ctx, bucket, s, ended)
	if err != nil || !pays {
		return false, err
	}
	books, err := account.Survey(ctx, bucket, s)
	switch {
	case err != nil:
		return false, err
	case len(books.Faults()) == 0:
	case last.Settings != s.Fingerprint() && len(last.Parts) > 0:
		return false, new(Census).put(ctx, bucket)
	default:
		return false, nil
	}
	e := Extent{Bytes: stepBytes, Saved: true}
	if last.Next != nil && last.Settings == s.Fingerprint() && last.isListed(books.Manifests) {
		e.From = *last.Next
	}
	next, err := last.Update(ctx, bucket, books, s, now, e)
	if err != nil {
		return false, fmt.Errorf("cannot count the URLs: %w", err)
	}
	return next.Next != nil, next.Save(ctx, bucket, books)
}

// isOutdated decides whether it pays to count the URLs again (see Refresh). It reads the manifests only.
func (c *Census) isOutdated(ctx context.Context, bucket blob.Reader, s *settings.Settings, ended bool) (bool, error) {
	var counted, others int64 // bytes of books
	var manifests []manifest.Manifest
	for _, id := range s.Partitions() {
		m, err := partition.Read(ctx, bucket, id)
		if err != nil && !partition.IsFault(err) {
			return false, err
		}
		for _, b := range m.Books {
			if slices.Contains(c.Books, b.Key) {
				counted += b.Bytes
			} else {
				others += b.Bytes
			}
		}
		manifests = append(manifests, m)
	}
	switch {
	case len(c.Books) == 0 && others == 0:
		return false, nil
	case c.Settings != s.Fingerprint() || c.Next != nil || !c.isListed(manifests):
		return true, nil
	}
	return others > 0 && (ended || others >= counted), nil
}
