// Package redistest runs a test on both kinds of Redis that the search engine runs on: the
// one embedded in the program, and redis-server, which must be installed.
package redistest

import (
	"context"
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
	t.Run("server", func(t *testing.T) { test(t, Server(t)) })
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

// Program returns the path of redis-server. If it is not installed, the test fails.
func Program(t testing.TB) string {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatalf("please install redis-server (Debian's package redis-server), which this test needs: %v", err)
	}
	return program
}

// Server starts a redis-server, and returns a client of it. The server keeps nothing on disk, listens on
// a socket of its own, and ends with the test.
func Server(t testing.TB) *redis.Client {
	t.Helper()
	const name = "socket"
	socket := filepath.Join(start(t, "--port", "0", "--unixsocket", name), name)
	await(t, "redis-server to listen", func() bool {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return client(t, &redis.Options{Network: "unix", Addr: socket})
}

// Cluster starts the given number of redis-servers as one Redis Cluster, and returns a client of it. They listen on
// loopback, keep nothing on disk, and end with the test.
func Cluster(t testing.TB, nodes int) *redis.ClusterClient {
	t.Helper()
	const slots = 16384
	var addresses []string
	var clients []*redis.Client
	for i := range nodes {
		port := freePort(t)
		address := net.JoinHostPort("127.0.0.1", port)
		start(t, "--bind", "127.0.0.1", "--port", port, "--cluster-port", freePort(t), "--cluster-enabled", "yes")
		rdb := client(t, &redis.Options{Addr: address})
		await(t, address+" to answer", func() bool { return rdb.Ping(t.Context()).Err() == nil })
		if err := rdb.Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", slots*i/nodes, slots*(i+1)/nodes-1).Err(); err != nil {
			t.Fatal(err)
		}
		addresses, clients = append(addresses, address), append(clients, rdb)
	}
	busPort := func(rdb *redis.Client) string {
		return rdb.ConfigGet(t.Context(), "cluster-port").Val()["cluster-port"]
	}
	for i, rdb := range clients {
		host, port, _ := net.SplitHostPort(addresses[0])
		if err := rdb.Do(t.Context(), "CLUSTER", "MEET", host, port, busPort(clients[0])).Err(); i > 0 && err != nil {
			t.Fatal(err)
		}
	}
	await(t, "the nodes to know one another", func() bool {
		for _, rdb := range clients {
			if info := rdb.ClusterInfo(t.Context()).Val(); !strings.Contains(info, "cluster_state:ok") ||
				!strings.Contains(info, fmt.Sprintf("cluster_slots_assigned:%d", slots)) {
				return false
			}
		}
		return true
	})
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addresses, ReadTimeout: patience})
	rdb.AddHook(fewArguments{})
	t.Cleanup(func() { rdb.Close() })
	return rdb
}

// freePort returns a TCP port of loopback on which nothing listens.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// start starts a redis-server that keeps nothing on disk and ends with the test. Its directory for temporary files
// is also the place of its socket, if it has one.
func start(t testing.TB, args ...string) (dir string) {
	t.Helper()
	program := Program(t)
	dir, err := os.MkdirTemp("", "redis") // t.TempDir can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	server := exec.Command(program, append([]string{"--dir", dir, "--save", "", "--appendonly", "no"}, args...)...)
	server.Dir = dir
	if err := server.Start(); err != nil {
		t.Fatalf("cannot start %s: %v", program, err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	return dir
}

// await waits until something has happened, at most a minute.
func await(t testing.TB, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// patience is how long a client waits for an answer. Under the race detector, the embedded Redis may be busy with one
// script for longer than the usual three seconds, after which a client would send the command again.
const patience = time.Minute

func client(t testing.TB, options *redis.Options) *redis.Client {
	options.ReadTimeout = patience
	rdb := redis.NewClient(options)
	rdb.AddHook(fewArguments{})
	t.Cleanup(func() { rdb.Close() })
	return rdb
}

// mostArguments is the greatest number of arguments of a command, with its name, that ElastiCache Serverless accepts.
const mostArguments = 3_999

// fewArguments lets commands with more than mostArguments fail.
type fewArguments struct{}

func (fewArguments) DialHook(next redis.DialHook) redis.DialHook { return next }

func (fewArguments) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := checkArguments(cmd); err != nil {
			return err
		}
		return next(ctx, cmd)
	}
}

func (fewArguments) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := checkArguments(cmds...); err != nil {
			return err
		}
		return next(ctx, cmds)
	}
}

func checkArguments(cmds ...redis.Cmder) error {
	for _, cmd := range cmds {
		if n := len(cmd.Args()); n > mostArguments {
			err := fmt.Errorf("%s has %d arguments, more than %d", cmd.Name(), n, mostArguments)
			cmd.SetErr(err)
			return err
		}
	}
	return nil
}
