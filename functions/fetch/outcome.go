package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

// notAsked is the outcome of a target before anything came of it.
func (r *run) notAsked(t batch.Target, a address.Address) book.Outcome {
	return book.Outcome{
		Version: r.batch.Version, URL: a.URL, Place: a.Place, State: book.NotAsked,
		Depth: t.Depth, Hops: t.Hops, Attempts: t.Attempts, Exponent: t.Exponent, Weight: t.Weight,
		Time: millisecond(r.now()), Collections: together(t.Collections),
	}
}

// settle writes a verdict into an outcome. A retry beyond MaxAttempts is a
// failure.
func settle(o *book.Outcome, v verdict) {
	o.State, o.Reason, o.Detail = v.state, v.reason, sentence(v.detail)
	if o.State == book.Retry && o.Attempts >= MaxAttempts {
		o.State = book.Failed
	}
}

// judgeStatus returns the verdict on a response that is no page, and false for
// one that is. Only who was sent validators may say "not modified".
func judgeStatus(a answer, unless *batch.Look) (verdict, bool) {
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

// isRedirect reports whether a response says that the page is elsewhere.
func isRedirect(a answer) bool {
	switch a.status {
	case 300, 301, 302, 303, 307, 308:
		return a.location() != ""
	}
	return false
}

func (a answer) location() string { return a.header.Get("Location") }

// sentence makes one line of at most maxDetail bytes.
func sentence(s string) string {
	return message.Cut(strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "\uFFFD"), maxDetail)
}

func millisecond(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// verdict is what becomes of a URL, before its attempts are counted.
type verdict struct {
	state  book.State
	reason string
	detail string
}

// judge turns an error of ask into a verdict.
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
		return verdict{book.Failed, "address refused", "the address is not public; allow of a collection, or --allow-private, lets it be asked: " + detail}
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
		return verdict{book.Retry, "timeout", detail}
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record), errors.As(err, &alert), errors.As(err, &verify),
		errors.As(err, &unknown), errors.As(err, &hostname), strings.Contains(detail, "tls: "):
		return verdict{book.Retry, "tls", detail}
	}
	return verdict{book.Retry, "connection", detail}
}

// compress takes a compressor, of a megabyte, for no longer than it works:
// many batches wait for their hosts at the same time.
func compress(compressors *sync.Pool, o webobject.Object) (webobject.Run, error) {
	c, ok := compressors.Get().(*webobject.Compressor)
	if !ok {
		c = webobject.NewCompressor(webobject.DefaultLevel)
	}
	run, err := c.Compress(o)
	compressors.Put(c)
	return run, err
}

func (p page) object(o book.Outcome) webobject.Object {
	return webobject.Object{
		URL:         o.URL,
		MIME:        mediaType(p.answer),
		Data:        p.answer.body,
		Cost:        max(0, p.answer.ended.Sub(p.answer.began)),
		Downloaded:  o.Time,
		Expires:     o.Time.Add(webobject.Lifetime(o.Exponent)),
		Status:      o.Status,
		Header:      headerLines(p.answer.header),
		Address:     p.answer.address,
		Collections: o.Collections,
		Version:     o.Version,
	}
}

// mediaType returns the Content-Type as sent, with its charset, unless the
// bytes belie it.
func mediaType(a answer) string {
	sent := a.header.Get("Content-Type")
	media := document.Sniff(a.body, sent)
	if claimed, _, _ := strings.Cut(sent, ";"); strings.EqualFold(strings.TrimSpace(claimed), media) && len(sent) <= 255 {
		return sent
	}
	return media
}

// headerLines returns the response header by name, without cookies, up to
// maxHeaderLines bytes.
func headerLines(h map[string][]string) []webobject.Field {
	var lines []webobject.Field
	size := 0
	for name, values := range h {
		if strings.HasPrefix(name, "Set-Cookie") {
			continue
		}
		for _, value := range values {
			lines = append(lines, webobject.Field{Name: name, Value: value})
		}
	}
	slices.SortStableFunc(lines, func(a, b webobject.Field) int { return strings.Compare(a.Name, b.Name) })
	for i, line := range lines {
		if size += len(line.Name) + len(line.Value); size > maxHeaderLines {
			return lines[:i]
		}
	}
	return lines
}
