package vitals

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"
)

// TestTraffic checks that both ends of a connection count the same bytes, and that bytes of other
// connections are not counted.
func TestTraffic(t *testing.T) {
	t.Parallel()
	var served Traffic
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	}))
	server.Listener = served.Listener(server.Listener)
	server.Start()
	defer server.Close()
	r := New(Options{Worker: "a", Now: time.Now})
	asked := r.Traffic()
	client := &http.Client{Transport: asked.Transport(&http.Transport{DialContext: new(net.Dialer).DialContext})}
	const size = 100_000
	response, err := client.Post(server.URL, "text/plain", bytes.NewReader(make([]byte, size)))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || len(body) != size {
		t.Fatalf("%d bytes, %v", len(body), err)
	}
	response.Body.Close()
	client.CloseIdleConnections()
	server.Close() // waits for the connection
	process := r.read().process
	if process.Sent < size || process.Sent > size+1000 || process.Received < size || process.Received > size+20_000 {
		t.Errorf("sent %d and received %d of %d bytes each", process.Sent, process.Received, size)
	}
	if served.received.Load() != process.Sent || served.sent.Load() != process.Received {
		t.Errorf("the server received %d and sent %d, the client sent %d and received %d",
			served.received.Load(), served.sent.Load(), process.Sent, process.Received)
	}

	one, other := net.Pipe()
	defer other.Close()
	if _, raw := asked.Conn(one).(syscall.Conn); raw {
		t.Error("a pipe has become a socket")
	}
	if c := (*Traffic)(nil).Conn(one); c != one {
		t.Error("nothing counts")
	}
}
