package limit

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Limits of connections. When more than maxOpen are open, the one that has been idle (between two requests)
// for the longest is closed; if none is idle, the new one is. A client that has maxOpenOfOne connections
// gets no further one.
const (
	maxOpen      = 1000
	maxOpenOfOne = 128
)

// Server returns an HTTP server with these limits for connections:
//
//	10 s      until the header of a request was received
//	30 s      until the header and the body were received
//	60 s      between two requests on a connection
//	32 KiB    length of the header
//	1000      open connections, at most 128 of one client (see maxOpen)
//
// The limit of 128 does not hold for proxies and for clients of the same machine. Clients that read answers
// slowly are limited by Listener.
func Server(handler http.Handler, proxies []netip.Prefix) *http.Server {
	open := &connections{proxies: proxies, clients: make(map[net.Conn]netip.Addr), of: make(map[netip.Addr]int), idle: make(map[net.Conn]uint64)}
	return &http.Server{
		Handler: handler, ConnState: open.note,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 32 << 10,
	}
}

// connections are the open connections of a server.
type connections struct {
	proxies []netip.Prefix

	mu      sync.Mutex              // protects the following fields
	clients map[net.Conn]netip.Addr // client of each open connection
	of      map[netip.Addr]int      // number of open connections of each client
	idle    map[net.Conn]uint64     // the connections that wait for a request, by the value of since when they began to
	since   uint64
}

// note records the new state of a connection, and closes a connection if there are too many. The server
// calls it whenever the state of a connection changes (http.Server.ConnState).
func (o *connections) note(c net.Conn, state http.ConnState) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.idle, c)
	switch state {
	case http.StateIdle:
		o.since++
		o.idle[c] = o.since
	case http.StateNew:
		o.add(c)
	case http.StateClosed, http.StateHijacked:
		from := o.clients[c]
		delete(o.clients, c)
		if o.of[from]--; o.of[from] <= 0 {
			delete(o.of, from)
		}
	}
}

// add counts a new connection. If there are too many, it closes one. The caller holds o.mu.
func (o *connections) add(c net.Conn) {
	address := addressOf(c.RemoteAddr().String())
	from := networkOf(address)
	o.clients[c] = from
	o.of[from]++
	switch {
	case o.of[from] > maxOpenOfOne && !from.IsLoopback() && !isAmong(address, o.proxies):
		_ = c.Close() // the server notes that it is closed
	case len(o.clients) > maxOpen:
		oldest := c
		for other, since := range o.idle {
			if at, isIdle := o.idle[oldest]; !isIdle || since < at {
				oldest = other
			}
		}
		_ = oldest.Close()
	}
}
