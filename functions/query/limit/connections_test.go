package limit

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// opened is a connection of which it is known from where it comes and whether it was closed.
type opened struct {
	net.Conn
	from     string
	isClosed bool
}

func (o *opened) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(o.from))
}

func (o *opened) Close() error {
	o.isClosed = true
	return nil
}

func TestConnections(t *testing.T) {
	const proxy, loopback, other = "10.0.0.1:1", "127.0.0.1:1", "192.0.2.1:1"
	for _, test := range []struct {
		name   string
		from   []string // addresses of connections in the order in which they are opened
		idle   []int    // those that become idle before the last one is opened, in this order
		closed []int
	}{
		{"room for all", slices.Repeat([]string{loopback}, maxOpen), nil, nil},
		{"one too many", slices.Repeat([]string{loopback}, maxOpen+1), nil, []int{maxOpen}},
		{"one too many beside idle ones", slices.Repeat([]string{loopback}, maxOpen+1), []int{7, 3, 5}, []int{7}},
		{"one client", slices.Repeat([]string{other}, maxOpenOfOne+1), []int{0}, []int{maxOpenOfOne}},
		{"one network", append(slices.Repeat([]string{"[2001:db8::1]:1"}, maxOpenOfOne), "[2001:db8::2]:1"), nil, []int{maxOpenOfOne}},
		{"a proxy", slices.Repeat([]string{proxy}, maxOpenOfOne+1), nil, nil},
	} {
		server := Server(nil, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
		all := make([]*opened, len(test.from))
		for i, from := range test.from {
			if i == len(all)-1 {
				for _, n := range test.idle {
					server.ConnState(all[n], http.StateActive)
					server.ConnState(all[n], http.StateIdle)
				}
			}
			all[i] = &opened{from: from}
			server.ConnState(all[i], http.StateNew)
		}
		var closed []int
		for i, c := range all {
			if c.isClosed {
				closed = append(closed, i)
			}
		}
		if diff := cmp.Diff(test.closed, closed); diff != "" {
			t.Errorf("%s: closed connections (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestClosedConnectionsMakeRoom(t *testing.T) {
	server := Server(nil, nil)
	for range 2 * maxOpenOfOne {
		c := &opened{from: "192.0.2.1:1"}
		server.ConnState(c, http.StateNew)
		if c.isClosed {
			t.Fatal("a connection was closed although there are no others")
		}
		server.ConnState(c, http.StateClosed)
	}
}

// TestServes asks a server by TCP, with its listener, two times by the same connection.
func TestServes(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := Server(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("a", 3*pieceSize))
	}), nil)
	go func() { _ = server.Serve(Listener(l, time.Now)) }()
	defer server.Close()
	for range 2 {
		response, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if len(content) != 3*pieceSize || err != nil {
			t.Errorf("%d bytes: %v", len(content), err)
		}
	}
}

func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		c := &conn{ours, time.Now}
		go func() { // reads slowly, but fast enough, and then no longer
			for range 3 {
				time.Sleep(pieceTime - time.Second)
				_, _ = theirs.Read(make([]byte, pieceSize))
			}
		}()
		n, err := c.Write(make([]byte, 5*pieceSize))
		if n != 3*pieceSize || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%d bytes were written: %v", n, err)
		}
	})
}
