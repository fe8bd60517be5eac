package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

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
