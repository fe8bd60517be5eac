package redis

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

func connect(t *testing.T, given string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(given)
	if err != nil {
		t.Fatal(err)
	}
	options.MaxRetries, options.DialerRetries = -1, 1
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}

func TestStart(t *testing.T) {
	for _, path := range []string{os.Getenv("PATH"), t.TempDir()} { // redis-server is not in the second PATH
		t.Setenv("PATH", path)
		_, missing := exec.LookPath("redis-server")
		dir := t.TempDir()
		server, err := Start(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if server.Embedded != (missing != nil) {
			t.Errorf("embedded: %v, but redis-server: %v", server.Embedded, missing)
		}
		if !strings.HasPrefix(server.URL, "redis://127.0.0.1:") {
			t.Errorf("listens at %s", server.URL)
		}
		client := connect(t, server.URL)
		if err := client.Set(t.Context(), "k", "v", 0).Err(); err != nil {
			t.Error(err)
		}
		server.Close()
		if err := client.Ping(t.Context()).Err(); err == nil {
			t.Error("answers after Close")
		}
		if files, _ := os.ReadDir(dir); len(files) != 0 {
			t.Errorf("left %v on disk", files)
		}
	}
}

func TestStartFails(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "redis-broken")
	script := "#!/bin/sh\nyes no | head -1000 >&2\necho out of luck >&2\nexit 3\n"
	if err := os.WriteFile(broken, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), Options{Program: broken})
	if err == nil || !strings.Contains(err.Error(), broken) || !strings.HasSuffix(err.Error(), "out of luck") {
		t.Errorf("error %v, want the program and its last words", err)
	}
	if _, err := Start(t.Context(), Options{Program: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want that the program does not exist", err)
	}

	silent := filepath.Join(t.TempDir(), "redis-silent")
	if err := os.WriteFile(silent, []byte("#!/bin/sh\nexec sleep 100\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Start(ctx, Options{Program: silent}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that it did not answer in time", err)
	}
}

func TestPortTaken(t *testing.T) {
	program := redistest.Program(t)
	other, err := startEmbedded() // another Redis that answers
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	address := strings.TrimSuffix(strings.TrimPrefix(other.URL, "redis://"), "/0")
	if _, err := startAt(t.Context(), program, "", address); !errors.Is(err, errPortTaken) {
		t.Errorf("error %v, want %v", err, errPortTaken)
	}
}

// A server that ends is started again, empty, at the same address.
func TestRestarts(t *testing.T) {
	redistest.Program(t) // the embedded Redis cannot end alone
	back := make(chan error)
	server, err := Start(t.Context(), Options{Restarted: func(why error) { back <- why }})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client := connect(t, server.URL)
	if err := client.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Error(err)
	}
	client.ShutdownNoSave(t.Context()) // fails when the connection ends, as it should
	if why := <-back; !strings.Contains(why.Error(), "exit status 0") {
		t.Errorf("it ended because of %v", why)
	}
	if n, err := client.Exists(t.Context(), "k").Result(); n != 0 || err != nil {
		t.Errorf("%d keys, %v, want an empty Redis", n, err)
	}
	if err := server.Err(); err != nil {
		t.Error(err)
	}
}

func TestEmbeddedAges(t *testing.T) {
	ticks, quit := make(chan time.Time), make(chan struct{})
	passed := make(chan time.Duration)
	go age(ticks, quit, func(d time.Duration) { passed <- d })
	start := time.Now()
	ticks <- start.Add(time.Hour)
	<-passed
	ticks <- start.Add(time.Hour + 3*time.Second)
	if d := <-passed; d != 3*time.Second {
		t.Errorf("%v went by, want 3 s", d)
	}
	close(quit)
}
