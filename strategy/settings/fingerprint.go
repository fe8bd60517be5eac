package settings

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// fingerprintBytes is the length of a fingerprint before it is written in hexadecimal digits.
const fingerprintBytes = 16

// Fingerprint returns a hash of what the settings say about the URLs of frontiers (queues of URLs to
// request): which are crawled, and for which collections. A frontier records the fingerprint of the
// settings under which it was built. Two settings with the same fingerprint need the same frontiers.
//
//	what changes                                                   fingerprint
//	the rules of a strategy                                        changes
//	the version of the takedowns                                   changes
//	the collections to which the crawl is limited                  changes
//	a field of a collection that decides about URLs (see judged)   changes
//	any other field of a collection, such as the delay             stays
//	only the version of a strategy or collection                   stays
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

// judged returns a copy of a collection with only those fields that decide which URLs belong to the collection,
// when they are due, and how they are counted. All other fields are used only when URLs are leased, fetched or
// searched.
func judged(c collection.Collection) collection.Collection {
	c.Version, c.Delay, c.HostConnections, c.Connections, c.Agent, c.Language, c.Allow = 0, 0, 0, 0, "", "", nil
	if c.Topic != nil { // links that are known already keep the weights by the former words
		c.Topic = &collection.Topic{Threshold: c.Topic.Threshold}
	}
	return c
}

// Versions are the versions of the strategies, of the takedowns and of the collections. ReadPast reads these
// versions again.
type Versions struct {
	// 0 in texts of older programs: then the strategies in force count as those of that time
	Crawl       uint64            `json:"crawl,omitempty"`
	Storage     uint64            `json:"storage,omitempty"`
	Takedowns   uint64            `json:"takedowns"`
	Collections map[string]uint64 `json:"collections"` // by the name of the collection
}

// Versions returns the versions of the strategies, takedowns and collections in force.
func (s *Settings) Versions() Versions {
	v := Versions{
		Crawl: s.Crawl.Version, Storage: s.Storage.Version,
		Takedowns: s.Takedowns.Hidden().Version, Collections: make(map[string]uint64, len(s.Collections)),
	}
	for _, c := range s.Collections {
		v.Collections[c.Name] = c.Version
	}
	return v
}

// ReadPast returns the settings with the given versions of the strategies, takedowns and collections. The
// controls are the present ones. So the result may differ from the settings as they once were: if other documents
// have changed since, or if a version cannot be read any more. The caller must compare the fingerprints of the
// two. If no version of a strategy is left (repair deletes damaged ones), the result is empty settings.
func ReadPast(ctx context.Context, bucket blob.Reader, now time.Time, v Versions) (*Settings, error) {
	s, err := Read(ctx, past{bucket, v}, now)
	if errors.Is(err, blob.ErrAbsent) {
		return new(Settings), nil
	}
	return s, err
}

// past is a bucket in which versions of strategies, takedowns and collections that are newer than the given ones are
// hidden.
type past struct {
	blob.Reader
	versions Versions
}

// List lists objects. It leaves out newer versions, and collections without a version among the given ones.
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
	for kind, known := range map[rules.Kind]uint64{rules.Crawl: p.versions.Crawl, rules.Storage: p.versions.Storage} {
		if version, err := layout.ParseNumberedKey(key, layout.StrategyPrefix(string(kind))); err == nil {
			return known == 0 || version <= known
		}
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
