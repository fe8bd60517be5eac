package fetch

import (
	"net/http"
	"time"

	"github.com/ncruces/go-dns"
)

// Options of a transport. With the zero Options it reaches public addresses on
// the default ports.
type Options struct {
	AllowPrivate bool     // every address may be asked, on every port
	Allow        Allow    // what else may be asked than public addresses
	Ports        []uint16 // of public addresses that may be asked; none stands for DefaultPorts
}

// Transport returns the HTTP transport of fetch: HTTP/1.1 and 2, no proxy, and
// every address is judged when it is dialled, after its name was resolved, so
// that no name leads to an address that the operator did not allow.
func Transport(o Options) *http.Transport { return newTransport(o, nil) }

// newTransport asks name servers over connections that dial makes, or those of
// the system if it is nil.
func newTransport(o Options, dial dns.DialFunc) *http.Transport {
	return &http.Transport{
		DialContext:            newDialer(o, cachingResolver(dial)).DialContext,
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
