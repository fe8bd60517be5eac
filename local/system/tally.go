package system

import (
	"math"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// CollectionStatus counts the URLs of one collection.
type CollectionStatus struct {
	Name     string              `json:"name"`
	Stored   int                 `json:"stored"`
	Assets   int                 `json:"assets"` // number of the stored URLs that are assets of pages
	Pending  int                 `json:"pending"`
	Due      int                 `json:"due"`           // number of stored pages that are due to be requested again
	Next     time.Time           `json:"next,omitzero"` // time at which the next stored page will be due
	Schedule collection.Schedule `json:"schedule,omitempty"`
	// OnTopic is the number of stored pages that are relevant to the collection's topic, by the
	// threshold of the topic. It is nil if the collection has no topic. The share of such pages among
	// all stored pages, OnTopic / (Stored - Assets), is called the harvest rate.
	OnTopic *int `json:"on_topic,omitempty"`
}

// tallies computes the CollectionStatus of each collection from the states of all URLs.
type tallies struct {
	settings *settings.Settings
	now      time.Time
	relevant []uint8            // minimum weight of a page that counts as on the topic, for each collection
	all      []CollectionStatus // counts of the collections, in the order of the settings
}

// newTallies returns empty tallies for the collection with the name, or for all collections if the
// name is "". The caller gives the present time, by which the tallies decide whether a page is due
// to be requested again.
func newTallies(s *settings.Settings, name string, now time.Time) *tallies {
	t := &tallies{settings: s, now: now}
	for _, c := range s.Collections {
		if name != "" && c.Name != name {
			continue
		}
		status, relevant := CollectionStatus{Name: c.Name, Schedule: c.Schedule}, uint8(0)
		if c.Topic != nil {
			status.OnTopic, relevant = new(int), uint8(math.Ceil(float64(c.Topic.Threshold)*math.MaxUint8))
		}
		t.all, t.relevant = append(t.all, status), append(t.relevant, relevant)
	}
	return t
}

// add counts a URL for every collection to which it belongs.
func (t *tallies) add(u account.URL) {
	for i := range t.all {
		if c := &t.all[i]; belongs(u, c.Name) {
			t.count(c, t.relevant[i], u)
		}
	}
}

// count adds a URL to the figures of a collection's status. If the collection has a topic, a stored
// page is counted as relevant to the topic if its weight is at least the given minimum.
func (t *tallies) count(c *CollectionStatus, relevant uint8, u account.URL) {
	switch u.State {
	case account.Pending:
		c.Pending++
		return
	case account.Stored:
	default:
		return
	}
	c.Stored++
	if isAsset(u) {
		c.Assets++
	}
	if c.OnTopic != nil && u.Final.Weight >= relevant {
		*c.OnTopic++
	}
	switch due := t.settings.Due(u.Final); {
	case !u.Admitted || due.IsZero():
	case !due.After(t.now):
		c.Due++
	case c.Next.IsZero() || due.Before(c.Next):
		c.Next = due
	}
}
