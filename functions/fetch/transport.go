package fetch

import (
	"net/http"
	"time"

	"github.com/ncruces/go-dns"
)

// Transport returns the HTTP transport of fetch: HTTP/1.1 and 2, no proxy, and
// every address is judged when it is dialled, after its name was resolved, so
// that no name leads to an address that nobody allowed. It reaches public
// addresses on the usual ports, and on any port what the collections of a batch
// allow; or, if allowPrivate is set, every address on every port.
func Transport(allowPrivate bool) *http.Transport { return newTransport(allowPrivate, nil) }

// newTransport asks name servers over connections that dial makes, or those of
// the system if it is nil.
func newTransport(allowPrivate bool, dial dns.DialFunc) *http.Transport {
	return &http.Transport{
		DialContext:            newDialer(allowPrivate, cachingResolver(dial)).DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  30 * time.Second,
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConns:           512,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        30 * time.Second,
		DisableCompression:     true, // ask decodes by itself, with a cap
	}
}
