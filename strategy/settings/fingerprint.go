package settings

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// fingerprintBytes is the length of a fingerprint before it is written in hexadecimal digits.
const fingerprintBytes = 16

// Fingerprint returns a text that identifies what the settings say about the URLs of frontiers: which
// are crawled, and for which collections. A frontier records the fingerprint of the settings under which
// it was built. The fingerprint is that of contents, not of versions:
//
//	a change of                                               changes the fingerprint
//	the rules of a strategy, the takedowns                    yes
//	the collections to which the crawl is limited             yes
//	a field of a collection that deciding needs (see judged)  yes
//	any other field, such as the delay                        no
//	a version, and nothing else                               no
func (s *Settings) Fingerprint() string { return s.fingerprint }

func (s *Settings) fingerprintOf() string {
	all := []any{s.Crawl.Rules, s.Storage.Rules, s.Takedowns.Version, s.Takedowns.Hidden().Version, s.Only}
	for _, c := range s.Collections {
		all = append(all, judged(c))
	}
	hash := sha256.New()
	if err := json.NewEncoder(hash).Encode(all); err != nil {
		panic(err) // all were read from JSON
	}
	return hex.EncodeToString(hash.Sum(nil)[:fingerprintBytes])
}

// judged returns a collection with only those fields that decide which URLs belong to the collection,
// when they are due, and how they are counted. All others are read when URLs are leased, fetched or
// searched.
func judged(c collection.Collection) collection.Collection {
	c.Version, c.Delay, c.HostConnections, c.Connections, c.Agent, c.Language, c.Allow = 0, 0, 0, 0, "", "", nil
	if c.Topic != nil { // the words have weighed the links that are known
		c.Topic = &collection.Topic{Threshold: c.Topic.Threshold}
	}
	return c
}

// Versions are the numbers of the documents that say what is crawled. ReadPast reads these versions
// again.
type Versions struct {
	Takedowns   uint64            `json:"takedowns"`
	Collections map[string]uint64 `json:"collections"` // by the name of the collection
}

// Versions returns the numbers of the documents in force.
func (s *Settings) Versions() Versions {
	v := Versions{Takedowns: s.Takedowns.Hidden().Version, Collections: make(map[string]uint64, len(s.Collections))}
	for _, c := range s.Collections {
		v.Collections[c.Name] = c.Version
	}
	return v
}

// ReadPast returns the settings as they were when the given versions of the takedowns and collections
// were in force. Strategies and controls are the present ones. The caller must compare the fingerprint
// of the result with that of the earlier settings: they differ if other documents have changed since, or
// if a version cannot be read any more.
func ReadPast(ctx context.Context, bucket blob.Reader, now time.Time, v Versions) (*Settings, error) {
	return Read(ctx, past{bucket, v}, now)
}

// past is a bucket without the versions of takedowns and collections that are newer than some others.
type past struct {
	blob.Reader
	versions Versions
}

// List leaves out newer versions, and collections that there were not.
func (p past) List(ctx context.Context, prefix, startAfter string) iter.Seq2[blob.Object, error] {
	return func(yield func(blob.Object, error) bool) {
		for object, err := range p.Reader.List(ctx, prefix, startAfter) {
			if (err != nil || p.has(object.Key)) && !yield(object, err) {
				return
			}
		}
	}
}

func (p past) has(key string) bool {
	if name, version, err := layout.ParseCollectionKey(key); err == nil {
		return version <= p.versions.Collections[name]
	}
	version, err := layout.ParseNumberedKey(key, layout.Takedowns)
	return err != nil || version <= p.versions.Takedowns
}

// String returns the versions as JSON.
func (v Versions) String() string {
	content, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers and texts
	}
	return string(content)
}

// ParseVersions is the inverse of Versions.String.
func ParseVersions(text string) (v Versions, err error) {
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return v, fmt.Errorf("versions of settings %q: %w", text, err)
	}
	return v, nil
}
