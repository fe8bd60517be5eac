package system

import (
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/census"
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

// collectionsOf returns the status of the collection with the name, or of all collections if the name is "".
func collectionsOf(counted *census.Census, s *settings.Settings, name string, now time.Time) (all []CollectionStatus) {
	for _, c := range s.Collections {
		if name != "" && c.Name != name {
			continue
		}
		urls := counted.Collection(c.Name)
		status := CollectionStatus{Name: c.Name, Stored: urls.Stored, Assets: urls.Assets, Pending: urls.Pending, Schedule: c.Schedule}
		status.Due, status.Next = urls.DueAt(now)
		if c.Topic != nil {
			status.OnTopic = &urls.OnTopic
		}
		all = append(all, status)
	}
	return all
}
