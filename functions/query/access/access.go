// Package access decides who may use the HTTP API: by keys, which the operator gives to programs (see
// package control), and by the machine from which a request comes.
//
//	keys with the scope search or page    who may use the API (paths below /v1/ and /compat/)
//	none                                  everybody
//	one or more                           requests with a key that has the scope of the path
//	damaged, so not known                 nobody
//
// A client sends its key in a header: "Authorization: Bearer KEY" or "X-API-Key: KEY". What only operators
// may see (see Private) needs a key with the right scope, or a client on the same machine.
package access

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Guard decides which requests are admitted, and counts the requests of each key with a limit. It counts
// only the requests of its own process. A Guard is safe for concurrent use.
type Guard struct {
	Settings *settings.Cache
	Now      func() time.Time

	mu   sync.Mutex // protects left
	left map[string]allowance
}

// allowance is the number of requests that a key had left at a time. The number grows by
// control.Key.PerMinute in a minute, and is at most PerMinute. It is negative after Count has counted more
// requests than were left.
type allowance struct {
	requests float64
	at       time.Time
}

// NeedsKey reports whether the API needs a key. If the keys were damaged, this is not known: then the error
// is a request.Failure. Other errors are those of reading the settings. With an error, the result is true.
func (g *Guard) NeedsKey(ctx context.Context) (bool, error) {
	inForce, err := g.Settings.Get(ctx)
	if err != nil {
		return true, err
	}
	needed, err := inForce.Control.NeedsKey()
	if err != nil {
		return true, request.Failure{
			Status:   http.StatusServiceUnavailable,
			Sentence: "Whether a key is needed is not known, as the keys were damaged. The operator must add them again (bucketsearch keys add), or do without (bucketsearch keys remove --all).",
		}
	}
	return needed, nil
}

// Admit returns nil if a request is admitted to the API: if no key is needed, or if the request has a key
// with all the scopes (control.Search or control.Page) whose limit is not used up. A request with a key that
// has a limit is then counted. The error is a request.Failure that says what is wrong, or the error of
// reading the settings.
func (g *Guard) Admit(r *http.Request, scopes ...string) error {
	needed, err := g.NeedsKey(r.Context())
	if err != nil || !needed {
		return err
	}
	return g.admit(r, scopes, "This needs a key")
}

// Private returns nil if a request is admitted to something that only operators may see: if it comes from a
// client on the same machine, or has a key with the scope. The error is a request.Failure that says what is
// wrong, or the error of reading the settings.
func (g *Guard) Private(r *http.Request, scope string) error {
	if isLocal(r) {
		return nil
	}
	return g.admit(r, []string{scope}, "This is for clients on the same machine, or with a key")
}

// admit returns nil if a request has a key with all the scopes whose limit is not used up, and counts the
// request if the key has a limit. The parameter sentence is the beginning of the sentence that refuses a
// request without a key.
func (g *Guard) admit(r *http.Request, scopes []string, sentence string) error {
	key, found, err := g.keyOf(r)
	wanted := strings.Join(scopes, " and ")
	switch {
	case err != nil:
		return err
	case !found:
		return request.Failure{
			Status:   http.StatusUnauthorized,
			Sentence: fmt.Sprintf("%s of the scope %s; send it in the header Authorization: Bearer KEY, or X-API-Key: KEY.", sentence, wanted),
		}
	case slices.ContainsFunc(scopes, func(scope string) bool { return !key.Has(scope) }):
		return request.Failure{Status: http.StatusForbidden, Sentence: fmt.Sprintf("The key %s does not have the scope %s, only %s.", key.Name, wanted, strings.Join(key.Scopes, ", "))}
	case key.PerMinute == 0:
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	left := g.allowance(key)
	if left < 1 {
		wait := int(math.Ceil((1 - left) * 60 / float64(key.PerMinute)))
		return request.Failure{
			Status: http.StatusTooManyRequests, Retry: wait,
			Sentence: fmt.Sprintf("The key %s may ask %d times a minute; try again in %d s.", key.Name, key.PerMinute, wait),
		}
	}
	g.spend(key, left-1)
	return nil
}

// Count counts additional requests for the key of a request that asks for several things, such as /v1/multi,
// and was admitted already. These requests are never refused. But if the key has fewer requests left, it has
// to wait longer before its next request.
func (g *Guard) Count(r *http.Request, further int) {
	key, found, err := g.keyOf(r)
	if err != nil || !found || key.PerMinute == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.spend(key, g.allowance(key)-float64(further))
}

// allowance returns how many requests a key has left. The caller holds g.mu.
func (g *Guard) allowance(key control.Key) float64 {
	full := float64(key.PerMinute)
	last, found := g.left[key.Sum]
	if !found {
		return full
	}
	return min(full, last.requests+max(0, g.Now().Sub(last.at).Minutes())*full)
}

// spend records how many requests a key has left. The caller holds g.mu.
func (g *Guard) spend(key control.Key, left float64) {
	if g.left == nil {
		g.left = make(map[string]allowance)
	}
	g.left[key.Sum] = allowance{left, g.Now()}
}

// keyOf returns the key that a request sends. The result found is false if the request sends no key, or one
// that does not exist.
func (g *Guard) keyOf(r *http.Request) (key control.Key, found bool, err error) {
	secret := r.Header.Get("X-API-Key")
	if scheme, credentials, has := strings.Cut(r.Header.Get("Authorization"), " "); has && strings.EqualFold(scheme, "Bearer") {
		secret = strings.TrimSpace(credentials)
	}
	if secret == "" {
		return control.Key{}, false, nil
	}
	inForce, err := g.Settings.Get(r.Context())
	if err != nil {
		return control.Key{}, false, err
	}
	key, found = inForce.Control.KeyList().Find(secret)
	return key, found, nil
}

// isLocal reports whether a request comes from the same machine. A request through a proxy does not count as
// one, because the client of the proxy may be anywhere. Nor does a request whose header Host is not a
// loopback address or localhost: a web site can let its own name point to this machine (DNS rebinding).
func isLocal(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	return request.IsLoopback(r.RemoteAddr) && request.IsLoopback(r.Host)
}
