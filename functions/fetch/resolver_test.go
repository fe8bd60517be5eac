package fetch

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

// nameServer is a DNS server for tests that answers from this map.
type nameServer map[string]*nameRecord

type nameRecord struct {
	ip4, ip6 string
	ttl      uint32
	asked    atomic.Int64 // number of questions for an IPv4 address
}

func (s nameServer) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		defer server.Close()
		for {
			var size [2]byte
			if _, err := io.ReadFull(server, size[:]); err != nil {
				return
			}
			question := make([]byte, binary.BigEndian.Uint16(size[:]))
			if _, err := io.ReadFull(server, question); err != nil {
				return
			}
			reply := s.answer(question)
			if _, err := server.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
				return
			}
		}
	}()
	return client, nil
}

func (s nameServer) answer(question []byte) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		panic(err)
	}
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	q := m.Questions[0]
	known := s[q.Name.String()]
	header := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}
	switch {
	case known == nil:
		m.RCode = dnsmessage.RCodeNameError
		header.TTL = 60
		host := dnsmessage.MustNewName("test.")
		m.Authorities = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.SOAResource{NS: host, MBox: host, MinTTL: 60}}}
	case q.Type == dnsmessage.TypeA:
		known.asked.Add(1)
		if known.ip4 != "" {
			header.TTL = known.ttl
			m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: netip.MustParseAddr(known.ip4).As4()}}}
		}
	case q.Type == dnsmessage.TypeAAAA && known.ip6 != "":
		header.TTL = known.ttl
		m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AAAAResource{AAAA: netip.MustParseAddr(known.ip6).As16()}}}
	}
	reply, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return reply
}

func TestNamesAreKeptForTheirTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		brief, never, long := &nameRecord{ip4: "192.0.2.1", ttl: 30}, &nameRecord{ip4: "192.0.2.2"}, &nameRecord{ip4: "192.0.2.3", ttl: 1 << 30}
		r := cachingResolver(nameServer{"brief.test.": brief, "never.test.": never, "long.test.": long}.dial)
		for step, pause := range []time.Duration{0, 0, 29 * time.Second, 2 * time.Second, time.Hour} {
			time.Sleep(pause)
			for _, host := range []string{"brief.test", "never.test", "long.test"} {
				if _, err := r.LookupNetIP(t.Context(), "ip4", host); err != nil {
					t.Fatal(err)
				}
			}
			want := [3]int64{[]int64{1, 1, 1, 2, 3}[step], int64(step) + 1, []int64{1, 1, 1, 1, 2}[step]}
			if got := [3]int64{brief.asked.Load(), never.asked.Load(), long.asked.Load()}; got != want {
				t.Errorf("step %d: asked %d times, want %d", step, got, want)
			}
		}
		var absent *net.DNSError
		if _, err := r.LookupNetIP(t.Context(), "ip", "nowhere.test"); !errors.As(err, &absent) || !absent.IsNotFound {
			t.Errorf("a name that does not exist: %v", err)
		}
	})
}

// TestBothFamilies requests a page of a server that listens at either an IPv4 or an IPv6 address.
// The name server gives the host an IPv4 address, an IPv6 address, both or none. If the address at
// which the server listens is among these, the page must be stored, and its Web object must name
// this address.
func TestBothFamilies(t *testing.T) {
	names := nameServer{
		"four.test.": {ip4: "127.0.0.1"}, "six.test.": {ip6: "::1"}, "both.test.": {ip4: "127.0.0.1", ip6: "::1"}, "none.test.": {},
	}
	const four, six = "127.0.0.1", "::1"
	for _, c := range []struct {
		listen, host string
		want         end
	}{
		{four, "four.test", end{book.Stored, ""}},
		{four, "both.test", end{book.Stored, ""}},
		{four, "six.test", end{book.Retry, "refused"}},
		{four, "none.test", end{book.Retry, "no such host"}},
		{four, "nowhere.test", end{book.Retry, "no such host"}},
		{six, "six.test", end{book.Stored, ""}},
		{six, "both.test", end{book.Stored, ""}},
		{six, "four.test", end{book.Retry, "refused"}},
		{six, "[::1]", end{book.Stored, ""}},
	} {
		t.Run(c.listen+" "+c.host, func(t *testing.T) {
			listener, err := net.Listen("tcp", net.JoinHostPort(c.listen, "0"))
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewUnstartedServer(respond(200, "text/html", "<p>"))
			_ = server.Listener.Close()
			server.Listener = listener
			server.Start()
			t.Cleanup(server.Close)
			w := newWorld(t, respond(500, "", ""))
			transport := newTransport(true, names.dial)
			t.Cleanup(transport.CloseIdleConnections)
			w.Transport = transport
			b := w.batch("")
			_, port, _ := net.SplitHostPort(listener.Addr().String())
			b.Targets[0].URL = "http://" + c.host + ":" + port + "/"
			got := w.run(t, b)
			if last := ends(got)[0]; last != c.want {
				t.Fatalf("%v, want %v: %s", last, c.want, got.Ledger.Outcomes[0].Detail)
			}
			if c.want.State != book.Stored {
				return
			}
			one, err := got.Pages[0].Run.Object()
			if err != nil {
				t.Fatal(err)
			}
			if one.Address.String() != c.listen || !strings.Contains(one.URL, c.host) {
				t.Errorf("%s came from %s, want %s", one.URL, one.Address, c.listen)
			}
		})
	}
}
