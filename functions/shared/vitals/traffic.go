package vitals

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
)

// Traffic counts the bytes that a process receives and sends by its network connections. It counts
// only connections that are made or accepted through it. (Operating systems do not count these
// bytes for a process: Linux's /proc/self/net covers all processes.) It is safe for concurrent use;
// a nil Traffic counts nothing.
type Traffic struct{ received, sent atomic.Int64 }

// DialFunc is the type of functions that open a network connection, such as net.Dialer.DialContext.
type DialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// Dial returns a DialFunc whose connections are counted.
func (t *Traffic) Dial(dial DialFunc) DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return t.Conn(c), nil
	}
}

// Transport changes a transport that is not in use yet, so that its connections are
// counted, and returns it.
func (t *Traffic) Transport(transport *http.Transport) *http.Transport {
	transport.DialContext = t.Dial(transport.DialContext)
	return transport
}

// Listener returns a listener whose accepted connections are counted.
func (t *Traffic) Listener(l net.Listener) net.Listener { return listener{l, t} }

// Conn returns a connection that passes all data to and from c and counts their bytes.
func (t *Traffic) Conn(c net.Conn) net.Conn {
	if t == nil {
		return c
	}
	counted := conn{c, t}
	if raw, ok := c.(syscall.Conn); ok {
		return rawConn{counted, raw}
	}
	return counted
}

type listener struct {
	net.Listener
	traffic *Traffic
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.traffic.Conn(c), nil
}

type conn struct {
	net.Conn
	traffic *Traffic
}

func (c conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.traffic.received.Add(int64(n))
	return n, err
}

func (c conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.traffic.sent.Add(int64(n))
	return n, err
}

// rawConn is a connection whose bytes are counted, and which gives access to its file descriptor.
// Clients use the descriptor to check whether the other end has closed the connection.
type rawConn struct {
	conn
	raw syscall.Conn
}

func (c rawConn) SyscallConn() (syscall.RawConn, error) { return c.raw.SyscallConn() }
