package census

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// holding returns the parts whose numbers still hold (see the package's comment for when they do). Unless exact is true,
// numbers of due pages may be wrong by those that become due in the present hour.
func (c *Census) holding(ctx context.Context, bucket blob.Reader, books *account.Bucket, s *settings.Settings, now time.Time, exact bool) ([]Part, error) {
	if len(c.Parts) == 0 || len(books.Faults()) > 0 || !c.isListed(books.Manifests) {
		return nil, nil
	}
	effect, err := c.effect(ctx, bucket, s, now)
	if err != nil || effect.All || effect.Due {
		return nil, err
	}
	sites, err := c.newSites(ctx, books, c.ranges())
	if err != nil || len(books.Faults()) > 0 {
		return nil, err
	}
	hidden := s.Takedowns.Hidden()
	for _, id := range effect.Taken {
		place, known := hidden.PlaceOf(id)
		if !known {
			return nil, nil // the URL can be in any part
		}
		sites[place.Site()] = true
	}
	return c.without(sites, func(p *Part) bool {
		return slices.ContainsFunc(effect.Judge, p.overlaps) || exact && !p.holdsAt(now)
	}), nil
}

// isListed reports whether all counted books are still listed.
func (c *Census) isListed(manifests []manifest.Manifest) bool {
	listed := make(map[string]bool)
	for _, m := range manifests {
		for _, b := range m.Books {
			listed[b.Key] = true
		}
	}
	return !slices.ContainsFunc(c.Books, func(key string) bool { return !listed[key] })
}

// effect returns what has changed between the settings under which the URLs were counted and the settings s.
func (c *Census) effect(ctx context.Context, bucket blob.Reader, s *settings.Settings, now time.Time) (settings.Effect, error) {
	if c.Settings == s.Fingerprint() {
		return settings.Effect{}, nil
	}
	was, err := settings.ReadPast(ctx, bucket, now, c.Versions)
	if err != nil {
		return settings.Effect{}, fmt.Errorf("cannot read the settings of the last census: %w", err)
	}
	if was.Fingerprint() != c.Settings {
		return settings.Effect{All: true}, nil
	}
	return settings.Difference(was, s), nil
}

// without returns the parts that have none of the sites, and for which the function drop returns false.
func (c *Census) without(sites map[uint32]bool, drop func(*Part) bool) (parts []Part) {
	touched := make([]bool, len(c.Parts))
	for site := range sites {
		at := layout.Place(site) << 32
		i, found := slices.BinarySearchFunc(c.Parts, at, func(p Part, at layout.Place) int {
			switch {
			case p.Contains(at):
				return 0
			case p.From > at:
				return 1
			}
			return -1
		})
		if found {
			touched[i] = true
		}
	}
	for i := range c.Parts {
		if p := &c.Parts[i]; !touched[i] && !drop(p) {
			parts = append(parts, *p)
		}
	}
	return parts
}

// overlaps reports whether the part and another range have places in common.
func (p *Part) overlaps(other layout.Range) bool {
	return (p.To == 0 || other.From < p.To) && (other.To == 0 || p.From < other.To)
}

// holdsAt reports whether the numbers of the part that depend on the time are right at the given time.
func (p *Part) holdsAt(now time.Time) bool {
	for _, c := range p.Collections {
		if !c.holdsAt(now, p.Time) {
			return false
		}
	}
	return true
}

// Wrong counts the URLs of all parts that still hold once more, and returns the ranges of those with other numbers.
// It is for commands that check the bucket, because it reads all books.
func (c *Census) Wrong(ctx context.Context, bucket blob.Reader, books *account.Bucket, s *settings.Settings, now time.Time) (wrong []layout.Range, err error) {
	parts, err := c.holding(ctx, bucket, books, s, now, true)
	if err != nil {
		return nil, err
	}
	for len(parts) > 0 {
		var ranges []layout.Range // of the first parts, as far as they were counted at the same time
		for i := 0; i < len(parts) && parts[i].Time.Equal(parts[0].Time); i++ {
			ranges = append(ranges, parts[i].Range)
		}
		n, _ := onePass(books, ranges, passBytes)
		again, err := count(ctx, books, s, ranges[:n], parts[0].Time, nil)
		if err != nil {
			return nil, err
		}
		for i := range again {
			was, errWas := json.Marshal(parts[i])
			is, errIs := json.Marshal(again[i])
			if err := errors.Join(errWas, errIs); err != nil {
				return nil, err
			}
			if !bytes.Equal(was, is) {
				wrong = append(wrong, ranges[i])
			}
		}
		parts = parts[n:]
	}
	return wrong, nil
}
