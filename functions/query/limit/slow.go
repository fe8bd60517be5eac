package limit

import (
	"net"
	"time"
)

// A client must read pieceSize bytes (64 KiB) of an answer within pieceTime, else its connection is closed.
// That is about 3 kB a second, the speed of an old telephone modem.
const (
	pieceSize = 64 << 10
	pieceTime = 20 * time.Second
)

// Listener returns a listener whose connections are closed if the client reads too slowly.
func Listener(l net.Listener, now func() time.Time) net.Listener { return listener{l, now} }

type listener struct {
	net.Listener
	now func() time.Time
}

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{c, l.now}, nil
}

// conn is a connection whose Write fails if the client reads too slowly.
type conn struct {
	net.Conn
	now func() time.Time
}

// Write implements net.Conn. Its error is a timeout if the client reads too slowly.
func (c *conn) Write(content []byte) (written int, err error) {
	for len(content) > 0 && err == nil {
		piece := content[:min(len(content), pieceSize)]
		if err = c.SetWriteDeadline(c.now().Add(pieceTime)); err != nil {
			break
		}
		var n int
		n, err = c.Conn.Write(piece)
		written += n
		content = content[n:]
	}
	return written, err
}
