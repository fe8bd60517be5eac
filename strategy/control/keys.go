package control

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"
)

// The scopes of keys: what a program may ask for with a key.
const (
	Search  = "search"  // searches: /v1/search and other paths that answer queries
	Page    = "page"    // stored copies of pages: /v1/page
	Metrics = "metrics" // vital signs of the system: /metrics
)

// Scopes are all scopes that this program knows.
var Scopes = []string{Search, Page, Metrics}

// Keys are the keys with which programs may use the HTTP API. If none of them has the scope Search or
// Page, the API needs no key (see Document.NeedsKey).
type Keys []Key

// Key says what the holder of a key may do. It has only the hash of the key. The key cannot be computed
// from the hash, because the key is a long random text.
type Key struct {
	Name      string    `json:"name"`
	Sum       string    `json:"sha256"`                      // SHA-256 of the key, in hexadecimal
	Scopes    []string  `json:"scopes"`                      // a program ignores scopes that it does not know
	PerMinute int       `json:"requests_a_minute,omitempty"` // greatest number of requests in a minute; 0: no limit
	Created   time.Time `json:"created"`
}

// NewKey returns the entry of a key. The parameter secret is the key itself, and now is the present
// time.
func NewKey(name, secret string, scopes []string, perMinute int, now time.Time) Key {
	return Key{Name: name, Sum: sumOf(secret), Scopes: scopes, PerMinute: perMinute, Created: now.UTC().Truncate(time.Second)}
}

func sumOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Has reports whether the key has a scope.
func (k Key) Has(scope string) bool { return slices.Contains(k.Scopes, scope) }

// maxKeys is the greatest number of keys. A document with so many is not too long to be stored.
const maxKeys = 200

var (
	keyName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	keySum  = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Validate returns an error that says what is wrong with the keys, or nil.
func (k Keys) Validate() error {
	if len(k) > maxKeys {
		return fmt.Errorf("%d keys, more than %d; remove those that nobody uses", len(k), maxKeys)
	}
	known := make(map[string]bool)
	for _, key := range k {
		switch {
		case !keyName.MatchString(key.Name):
			return fmt.Errorf("the name of a key is %.70q; write 1 to 64 letters, digits, dots, hyphens or underscores", key.Name)
		case known[key.Name]:
			return fmt.Errorf("two keys are called %s", key.Name)
		case !keySum.MatchString(key.Sum):
			return fmt.Errorf("key %s has no SHA-256", key.Name)
		case len(key.Scopes) == 0:
			return fmt.Errorf("key %s has no scope", key.Name)
		case key.PerMinute < 0:
			return fmt.Errorf("key %s may ask %d times a minute; write 0 for no limit, or more", key.Name, key.PerMinute)
		}
		known[key.Name] = true
	}
	return nil
}

// Find returns the entry of a key; found is false if there is none. It takes the same time for every
// wrong key, so that nobody can infer from the time whether a part of the key is right.
func (k Keys) Find(secret string) (entry Key, found bool) {
	sum := []byte(sumOf(secret))
	for _, key := range k {
		if subtle.ConstantTimeCompare(sum, []byte(key.Sum)) == 1 {
			entry, found = key, true
		}
	}
	return entry, found
}

// ErrKeysLost means that the keys of the API were damaged and cannot be read. No key is known then,
// and the API must refuse all requests, because it may have needed a key.
var ErrKeysLost = errors.New("the keys of the API were damaged and cannot be read")

// NeedsKey reports whether requests to the API need a key, that is, whether any key has the scope Search
// or Page. If the keys are lost, it returns true and ErrKeysLost.
func (d Document) NeedsKey() (bool, error) {
	if d.KeysLost {
		return true, ErrKeysLost
	}
	return slices.ContainsFunc(d.KeyList(), func(k Key) bool { return k.Has(Search) || k.Has(Page) }), nil
}

// KeyList returns the keys of the API.
func (d Document) KeyList() Keys {
	if d.Keys == nil {
		return nil
	}
	return *d.Keys
}

// AddKey adds a key to the document. It fails if there is a key of this name.
func (d *Document) AddKey(key Key) error {
	added := append(slices.Clone(d.KeyList()), key)
	if err := added.Validate(); err != nil {
		return err
	}
	d.Keys, d.KeysLost = &added, false
	return nil
}

// RemoveKey removes the key with the name from the document, and reports whether there was one.
func (d *Document) RemoveKey(name string) bool {
	left := slices.DeleteFunc(slices.Clone(d.KeyList()), func(k Key) bool { return k.Name == name })
	if len(left) == len(d.KeyList()) {
		return false
	}
	d.Keys = &left
	if len(left) == 0 {
		d.Keys = nil
	}
	return true
}
