package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// notAsked returns the outcome "not asked" of a target, which every target has before its request.
// The parameter a is the parsed address of the target.
func (r *run) notAsked(t batch.Target, a address.Address) book.Outcome {
	return book.Outcome{
		Version: r.batch.Version, URL: a.URL, Place: a.Place, State: book.NotAsked,
		Depth: t.Depth, Hops: t.Hops, Attempts: t.Attempts, Exponent: t.Exponent, Weight: t.Weight,
		Time: millisecond(r.now()), Collections: together(t.Collections),
	}
}

// settle writes the state, reason and detail of v into the outcome o. If the state is Retry and the
// outcome has MaxAttempts attempts already, the outcome gets the state Failed.
func settle(o *book.Outcome, v verdict) {
	o.State, o.Reason, o.Detail = v.state, v.reason, sentence(v.detail)
	if o.State == book.Retry && o.Attempts >= MaxAttempts {
		o.State = book.Failed
	}
}

// judgeStatus returns the state and reason that follow from the HTTP status of an answer. The
// answer must not be a redirect with a destination.
//
//	2xx                                        the result final is false: the body decides
//	304 to a conditional request               unchanged
//	429, 5xx                                   retry
//	any other, also a redirect to no address   failed
//
// The parameter unless has the ETag and Last-Modified that were sent with the request. If the
// request was not conditional, unless is nil, or both are empty.
func judgeStatus(a answer, unless *batch.Look) (v verdict, final bool) {
	reason := fmt.Sprintf("http %d", a.status)
	switch {
	case a.status/100 == 2:
		return verdict{}, false
	case a.status == http.StatusNotModified && unless != nil && unless.ETag+unless.Modified != "":
		return verdict{state: book.Unchanged}, true
	case a.status == http.StatusTooManyRequests, a.status/100 == 5:
		return verdict{book.Retry, reason, http.StatusText(a.status)}, true
	}
	return verdict{book.Failed, reason, http.StatusText(a.status)}, true
}

// isRedirect reports whether an answer is a redirect with a destination.
func isRedirect(a answer) bool {
	switch a.status {
	case 300, 301, 302, 303, 307, 308:
		return a.location() != ""
	}
	return false
}

func (a answer) location() string { return a.header.Get("Location") }

// sentence returns the text s as one line of valid UTF-8, cut to at most maxDetail bytes.
func sentence(s string) string {
	return message.Cut(strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "\uFFFD"), maxDetail)
}

func millisecond(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// verdict is what a URL's outcome says about the request: the state, the reason and a detail.
type verdict struct {
	state  book.State
	reason string
	detail string
}

// judge returns the state, reason and detail for the outcome of a request that failed with an error.
func judge(err error) verdict {
	detail := err.Error()
	var (
		dns      *net.DNSError
		network  net.Error
		record   tls.RecordHeaderError
		alert    tls.AlertError
		verify   *tls.CertificateVerificationError
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
	)
	switch {
	case errors.Is(err, errPort):
		return verdict{book.Failed, "port refused", detail}
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedNetwork):
		return verdict{book.Failed, "address refused", "the address is not public; add --allow-private, or name the host in allow of the collection"}
	case errors.Is(err, errTooBig):
		return verdict{book.Skipped, "too big", detail}
	case errors.Is(err, errBomb):
		return verdict{book.Skipped, "bomb", detail}
	case errors.Is(err, errEncoding):
		return verdict{book.Failed, "encoding", detail}
	case errors.Is(err, errTooSlow):
		return verdict{book.Retry, "too slow", detail}
	case strings.Contains(detail, "response headers exceeded"):
		return verdict{book.Failed, "header too big", detail}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return verdict{book.Retry, "cut short", "the body ended before its announced length: " + detail}
	case errors.Is(err, syscall.ECONNREFUSED):
		return verdict{book.Retry, "refused", detail}
	case errors.As(err, &dns) && dns.IsNotFound:
		return verdict{book.Retry, "no such host", detail}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return verdict{book.Retry, "timeout", strings.ReplaceAll(detail, context.DeadlineExceeded.Error(), "the time for a request is over")}
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record), errors.As(err, &alert), errors.As(err, &verify),
		errors.As(err, &unknown), errors.As(err, &hostname), strings.Contains(detail, "tls: "):
		return verdict{book.Retry, "tls", detail}
	}
	return verdict{book.Retry, "connection", detail}
}

// The least and the greatest expiry class of a page that is requested again: a lifetime of 1.5 hours
// and one of 64 days.
const (
	minExponent = -4
	maxExponent = 6
)

// conclude completes the outcome o of target t: it writes the state, reason and detail of v into o.
// If a page is stored for the target, it also sets the digest and the expiry class, which depend on
// the last fetch (see batch.Look). In three cases the page stays stored, and the outcome gets the
// state book.Unchanged, with the reason of v:
//
//   - The request failed.
//   - The server says for the first time that the page is missing (4xx).
//   - A further collection wants the page, but robots.txt forbids it to the collection's agent.
func conclude(o *book.Outcome, t batch.Target, v verdict) {
	settle(o, v)
	last := storedLook(t)
	if last == nil {
		return
	}
	forbidden := o.Reason == membership.Robots && confirmable(t, nil) == nil // to the agent of a collection that does not have the page yet
	switch {
	case t.Sitemap:
		if forbidden || o.State == book.Failed && v.state == book.Retry {
			keep(o, *last)
		}
	case o.State == book.Stored:
		switch {
		case o.Digest == last.Digest: // it is stored for one more collection
		case sameWords(o.Digest, last.Digest):
			o.Exponent = later(o.Exponent)
		default:
			o.Exponent = sooner(o.Exponent)
		}
	case o.State == book.Unchanged:
		o.Asset, o.Digest, o.Body = wasAsset(*last), last.Digest, cmp.Or(o.Body, last.Body)
		o.Collections, o.Exponent = together(o.Collections, last.Collections...), later(o.Exponent) // first the one to which o.Depth refers
	case o.State == book.Skipped && !forbidden, o.State == book.Failed && missing(*o) && last.Missing:
		o.Digest = last.Digest // with a digest, the outcome says that a stored page is gone
	case o.State == book.Failed, forbidden:
		o.State, o.Collections = book.Unchanged, last.Collections
		o.ETag, o.Modified, o.Digest, o.Body, o.Asset = last.ETag, last.Modified, last.Digest, last.Body, wasAsset(*last)
		if missing(*o) {
			o.Exponent = bounded(min(o.Exponent, 0) - 2)
		}
	}
}

// wasAsset reports whether the last fetch of a stored URL found an asset. The digest shows that:
// for a page it is a hash of the page's text, but for an asset it is the checksum of the answer
// (see answer.sum).
func wasAsset(last batch.Look) bool { return last.Digest == last.Body }

// missing reports whether the status of an outcome says that there is no such page: 4xx except
// 429.
func missing(o book.Outcome) bool { return o.Status/100 == 4 && o.Status != 429 }

// sooner returns the expiry class one below the given one. A page that has changed since its last
// fetch gets this class, so that it is requested again sooner.
func sooner(exponent int16) int16 { return bounded(exponent - 1) }

// later returns the expiry class one above the given one. A page that has not changed since its
// last fetch gets this class, so that it is requested again later.
func later(exponent int16) int16 { return bounded(exponent + 1) }

// bounded limits an expiry class to the range from minExponent to maxExponent.
func bounded(exponent int16) int16 { return max(minExponent, min(exponent, maxExponent)) }

// validators returns the ETag and Last-Modified for the outcome of an answer. If the answer has
// neither, it returns those of the parameter last, the result of the last fetch; "" if that is nil.
func validators(a answer, last *batch.Look) (etag, modified string) {
	etag, modified = validator(a, "ETag"), validator(a, "Last-Modified")
	if etag == "" && modified == "" && last != nil {
		return last.ETag, last.Modified
	}
	return etag, modified
}

// validator returns the value of a field in the answer's header, such as ETag. It returns "" if the
// value is longer than book.MaxValidator bytes, or has characters other than printable ASCII.
func validator(a answer, name string) string {
	value := a.header.Get(name)
	if len(value) > book.MaxValidator {
		return ""
	}
	for _, c := range []byte(value) {
		if c < ' ' || c > '~' {
			return ""
		}
	}
	return value
}
