// Package redistest runs a test on both kinds of Redis that the search engine runs on: the
// one embedded in the program and, if it is installed, redis-server.
package redistest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// Each runs the test once on each kind of Redis, as a subtest. rdb is a client of an empty
// Redis.
func Each(t *testing.T, test func(t *testing.T, rdb *redis.Client)) {
	t.Helper()
	t.Run(embedded, func(t *testing.T) { test(t, Embedded(t)) })
	if program, err := exec.LookPath("redis-server"); err == nil {
		t.Run("server", func(t *testing.T) { test(t, Server(t, program)) })
	}
}

// Known returns the states of the URLs that the frontier of a crawl partition knows, by the bytes of their
// identities. It reads the hash known, as the package frontier describes it, without the help of that package.
func Known(t testing.TB, rdb redis.UniversalClient, crawl int) map[string]string {
	t.Helper()
	buckets, err := rdb.HGetAll(t.Context(), fmt.Sprintf("f:{%d}:known", crawl)).Result()
	if err != nil {
		t.Fatal(err)
	}
	delete(buckets, "seed")
	states := make(map[string]string)
	for _, bucket := range buckets {
		for bucket != "" {
			state, records := int(bucket[0])<<8|int(bucket[1]), int(bucket[2])<<8|int(bucket[3])
			bucket = bucket[4:]
			for range records {
				states[bucket[:16]] = bucket[16 : 16+state]
				bucket = bucket[16+state:]
			}
		}
	}
	return states
}

const embedded = "embedded"

// IsEmbedded reports whether Each runs the test t on the embedded Redis, which is much slower
// than a server, most of all under the race detector.
func IsEmbedded(t *testing.T) bool { return strings.HasSuffix(t.Name(), "/"+embedded) }

// Embedded returns a client of a new embedded Redis.
func Embedded(t testing.TB) *redis.Client {
	t.Helper()
	return client(t, &redis.Options{Addr: miniredis.RunT(t).Addr()})
}

// Server starts a redis-server, and returns a client of it. program is the path of the server's
// executable file. The server keeps nothing on disk, listens on a socket of its own, and ends with
// the test.
func Server(t testing.TB, program string) *redis.Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "redis") // t.TempDir can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "socket")
	server := exec.Command(program, "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "", "--appendonly", "no")
	if err := server.Start(); err != nil {
		t.Fatalf("cannot start %s: %v", program, err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if conn, err := net.Dial("unix", socket); err == nil {
			conn.Close()
			return client(t, &redis.Options{Network: "unix", Addr: socket})
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not listen within 10 s", program)
		}
	}
}

func client(t testing.TB, options *redis.Options) *redis.Client {
	rdb := redis.NewClient(options)
	t.Cleanup(func() { rdb.Close() })
	return rdb
}
