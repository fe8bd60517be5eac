// Package leaf lets query functions search for each other by HTTP. The one that a person asks is the root. It divides
// the segments of the index among the others, the leaves, and joins what they find (see package search, Leaves).
//
//	BUCKETSEARCH_LEAVES     URLs of the leaves, with spaces between; a query function that has it is a root
//	BUCKETSEARCH_LEAF_KEY   a secret of 16 characters or more; root and leaves must have the same. Without it, a query
//	                        function does not answer roots
//
// A leaf is a query function like any other, on the same bucket, of the same version or, while servers are upgraded one
// after another, of the version before or after. It can have leaves of its own, which it does not ask for a root, and can
// be its own root's leaf. A root sends
//
//	POST /leaf                  the question, a search.Asked, as JSON of at most 4 MiB
//	Authorization: Bearer KEY
//	Accept: MEDIA-TYPES         the forms of an answer that the root reads
//
// The answers of a leaf:
//
//	200   a search.Answer of at most 64 MiB; its form is in the header Content-Type, see below
//	400   the question is too long, or no JSON
//	401   the key is wrong
//	404   the leaf has no key
//	409   a search.Unreadable as JSON: the leaf does not know the segment, because it has read a newer manifest than the
//	      root, or an older one. The root reads the manifests again, and asks once more
//	500   the question could not be answered; the body says why
//	503   other questions took all the time that the root gave
//
// The forms of an answer. A change of the binary form needs another media type, as root and leaf may differ in version:
//
//	application/vnd.bucketsearch.answer   binary (see search.Answer.AppendBinary), for roots that accept it
//	application/json                      for all others: older versions send and read this form only
package leaf

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// Path is the path of the requests to a leaf.
const Path = "/leaf"

const (
	binary    = "application/vnd.bucketsearch.answer" // media type of an answer in binary form
	leastKey  = 16                                    // least size of a key, in bytes
	maxAsked  = 4 << 20                               // greatest size of a question, in bytes
	maxAnswer = 64 << 20                              // greatest size of an answer, in bytes
	idle      = 64                                    // number of connections to a leaf that are kept open between questions
	// silence is the time after which a connection of HTTP/2 is tested, and the longest time for the answer to that. Else
	// the connection to a server that has vanished would be kept for a quarter of an hour.
	silence = 5 * time.Second
	// longest is the longest time for which a leaf works on one question.
	longest = 30 * time.Second
)

// Leaves are the leaves of a query function, and the key with which it asks them and is asked. The zero Leaves mean
// that it asks none, and answers no root.
type Leaves struct {
	All []search.Leaf
	key string
}

// Parse reads the values of the two environment variables (see the package comment).
func Parse(urls, key string) (Leaves, error) {
	l := Leaves{key: key}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = idle
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: silence, PingTimeout: silence}
	connections := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if key != "" && len(key) < leastKey {
		return Leaves{}, fmt.Errorf("BUCKETSEARCH_LEAF_KEY has %d characters: take a secret of %d or more, such as that of openssl rand -hex 16", len(key), leastKey)
	}
	for _, at := range strings.Fields(urls) {
		u, err := url.Parse(at)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
			return Leaves{}, fmt.Errorf("BUCKETSEARCH_LEAVES: %q is not the URL of a server; write it like https://search.example.org/", at)
		}
		l.All = append(l.All, client{u.Scheme + "://" + u.Host, key, connections})
	}
	if len(l.All) > 0 && key == "" {
		return Leaves{}, fmt.Errorf("BUCKETSEARCH_LEAVES is set, and BUCKETSEARCH_LEAF_KEY is not: give root and leaves the same secret of %d characters or more", leastKey)
	}
	return l, nil
}

// Answerer answers the questions of roots (see search.Index.Answer).
type Answerer interface {
	Answer(ctx context.Context, a *search.Asked) (*search.Answer, error)
}

// Handler returns a handler that answers roots, for the path Path. It works on as many questions at the same time as there
// are processors; further ones wait.
func (l Leaves) Handler(by Answerer) http.Handler {
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case l.key == "" || r.Method != http.MethodPost:
			http.NotFound(w, r)
		case subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+l.key)) == 0:
			http.Error(w, "The key is wrong.", http.StatusUnauthorized)
		default:
			respond(w, r, by, turns)
		}
	})
}

// Route returns a handler that answers roots as that of Handler does, and passes requests for other paths to others.
func (l Leaves) Route(by Answerer, others http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(Path, l.Handler(by))
	mux.Handle("/", others)
	return mux
}

func respond(w http.ResponseWriter, r *http.Request, by Answerer, turns chan struct{}) {
	var asked search.Asked
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAsked)).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), min(asked.Patience, longest))
	defer cancel()
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
	case <-ctx.Done():
		http.Error(w, "other questions took all the time", http.StatusServiceUnavailable)
		return
	}
	found, err := by.Answer(ctx, &asked)
	if err != nil {
		fail(w, err)
		return
	}
	var answer []byte
	form := "application/json"
	if strings.Contains(r.Header.Get("Accept"), binary) {
		form = binary
		answer, err = found.AppendBinary(nil)
	} else {
		answer, err = json.Marshal(found)
	}
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", form)
	_, _ = w.Write(answer) // fails when the root has gone
}

// client is a leaf that is asked by HTTP; it implements search.Leaf.
type client struct {
	origin, key string // origin is scheme and host, such as https://search.example.org
	connections *http.Client
}

func (c client) Name() string { return c.origin }

func (c client) Ask(ctx context.Context, a *search.Asked) (*search.Answer, error) {
	answer, err := c.ask(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("cannot ask the leaf %s: %w", c.origin, err)
	}
	return answer, nil
}

func (c client) ask(ctx context.Context, a *search.Asked) (*search.Answer, error) {
	question, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.origin+Path, strings.NewReader(string(question)))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", binary+", application/json")
	request.Header["Idempotency-Key"] = nil // not sent: it lets the transport ask again if a kept connection turns out to be closed
	response, err := c.connections.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body := io.LimitReader(response.Body, maxAnswer)
	switch response.StatusCode {
	case http.StatusOK:
		content, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		answer := new(search.Answer)
		if response.Header.Get("Content-Type") == binary {
			return answer, answer.UnmarshalBinary(content)
		}
		if err := json.Unmarshal(content, answer); err != nil {
			return nil, fmt.Errorf("its answer is no JSON: %w", err)
		}
		return answer, nil
	case http.StatusConflict:
		return nil, unknown(body)
	}
	said, _ := io.ReadAll(io.LimitReader(body, 1000)) // as much as there is
	return nil, fmt.Errorf("status %d: %s", response.StatusCode, strings.TrimSpace(string(said)))
}
