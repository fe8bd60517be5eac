package fetch

import (
	"net"
	"net/http"
	"time"

	"code.dny.dev/ssrf"
)

// Options of a transport.
type Options struct {
	AllowPrivate bool // lets requests reach addresses that are not public
}

// Transport returns the HTTP transport of fetch: HTTP/1.1 and 2, no proxy, and
// every address is judged when it is dialled, after its name was resolved, so
// that no name leads to an address that the operator did not allow.
func Transport(o Options) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	if !o.AllowPrivate {
		dialer.Control = ssrf.New(ssrf.WithAnyPort()).Safe
	}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConns:           512,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        30 * time.Second,
		DisableCompression:     true, // ask decodes by itself, with a cap
	}
}
