package s3

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// content returns what the tests store under a key. Its size and bytes depend only on the key.
func content(key string) []byte {
	var seed [32]byte
	copy(seed[:], key)
	source := rand.NewChaCha8(seed)
	bytes := make([]byte, source.Uint64()%(300<<10))
	_, _ = source.Read(bytes)
	return bytes
}

// killable returns a command that starts the server as a child process. Calling kill kills the
// process that was started last by this command.
func killable(t *testing.T) (c Command, kill func()) {
	t.Helper()
	c = self(t, "child")
	file := filepath.Join(t.TempDir(), "pid")
	c.Path, c.Args = "/bin/sh", []string{"-c", `echo $$ >"$1"; exec "$0"`, c.Path, file}
	return c, func() {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		process, _ := os.FindProcess(pid)
		if err := process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
}

// A server that is killed must be started again at the same endpoint. If a Create had succeeded,
// its object must then be whole. If a Create was interrupted, its object must be whole or absent,
// so that the client need only repeat the Create.
func TestKill(t *testing.T) {
	const kills, between = 3, 60
	command, kill := killable(t)
	back := make(chan error, kills)
	server, err := Start(t.Context(), command, options(t.TempDir()), Events{
		Stored:    ignore,
		Restarted: func(why error) { back <- why },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	bucket := open(t, server.Endpoint)
	patient := blob.Retry(bucket, blob.Policy{
		Attempts: 100, Base: 20 * time.Millisecond, Max: 100 * time.Millisecond, Random: rand.Float64, Sleep: blob.Sleep,
	})
	var (
		group   sync.WaitGroup
		created = make(chan string)
		enough  = make(chan struct{})
	)
	for worker := range 8 {
		group.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("packages/%d/%d", worker, i)
				if err := patient.Create(t.Context(), key, content(key)); err != nil {
					t.Error(err)
				}
				select {
				case created <- key:
				case <-enough:
					return
				}
			}
		})
	}
	var stored []string
	for range kills {
		for range between {
			stored = append(stored, <-created)
		}
		kill()
		stored = append(stored, <-created, <-created)       // the running requests are among the next ones
		if why := <-back; why.Error() != "signal: killed" { // the child had printed nothing
			t.Errorf("it was restarted because of %v", why)
		}
	}
	close(enough)
	group.Wait()

	listed := 0
	for object, err := range bucket.List(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		listed++
		if got, err := bucket.Get(t.Context(), object.Key, blob.Range{}); err != nil || !bytes.Equal(got, content(object.Key)) {
			t.Errorf("%s: not whole: %v", object.Key, err)
		}
	}
	if listed < len(stored) || listed > len(stored)+8 {
		t.Errorf("listed %d objects after %d were stored by 8 workers", listed, len(stored))
	}
	for _, key := range stored {
		if _, err := bucket.Head(t.Context(), key); err != nil {
			t.Error(err)
		}
	}
}

// Requests to a server that does not run fail with blob.ErrRetryable.
func TestAway(t *testing.T) {
	server, bucket := start(t, t.TempDir(), ignore)
	if err := bucket.Create(t.Context(), "key", nil); err != nil {
		t.Fatal(err)
	}
	server.Close()
	for range 2 { // first on the old connection, then on one that cannot be made
		if _, err := bucket.Get(t.Context(), "key", blob.Range{}); !errors.Is(err, blob.ErrRetryable) {
			t.Errorf("get: got %v, want ErrRetryable", err)
		}
		if err := bucket.Create(t.Context(), "other", nil); !errors.Is(err, blob.ErrRetryable) {
			t.Errorf("create: got %v, want ErrRetryable", err)
		}
	}
	if err := server.Err(); err != nil {
		t.Error(err)
	}
}

// The server ends when its parent is killed.
func TestParentDies(t *testing.T) {
	command := self(t, "parent")
	folder := exec.Command(command.Path)
	folder.Env = append(command.Env, "TMPDIR="+t.TempDir())
	out, err := folder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.Start(); err != nil {
		t.Fatal(err)
	}
	endpoint, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	connection, err := net.Dial("tcp", strings.TrimPrefix(strings.TrimSpace(endpoint), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if err := folder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = folder.Wait()
	_ = connection.SetReadDeadline(time.Now().Add(time.Minute))
	var timeout net.Error
	if _, err := connection.Read(make([]byte, 1)); err == nil || (errors.As(err, &timeout) && timeout.Timeout()) {
		t.Errorf("the server lives on: %v", err)
	}
}

// The server reports every stored object to the caller of Start exactly once, with its size. The
// object can be read when it is reported.
func TestReports(t *testing.T) {
	const objects = 200
	var (
		bucket blob.Bucket
		got    = map[string]int64{}
		done   = make(chan struct{})
	)
	opens := make(chan struct{})
	_, opened := start(t, t.TempDir(), func(key string, size int64) {
		<-opens
		if head, err := bucket.Head(context.Background(), key); err != nil || head != size {
			t.Errorf("%s: reported with %d bytes, but has %d, %v", key, size, head, err)
		}
		if _, twice := got[key]; twice {
			t.Errorf("%s: reported twice", key)
		}
		if got[key] = size; len(got) == objects {
			close(done)
		}
	})
	bucket = opened
	close(opens)
	want := map[string]int64{}
	var group sync.WaitGroup
	for i := range objects {
		want[fmt.Sprintf("spool/<%d>&é/%d", i%3, i)] = int64(i)
	}
	for key, size := range want {
		group.Go(func() {
			if err := bucket.Create(t.Context(), key, make([]byte, size)); err != nil {
				t.Error(err)
			}
			if err := bucket.Create(t.Context(), key, nil); !errors.Is(err, blob.ErrExists) {
				t.Errorf("create again: %v", err)
			}
		})
	}
	group.Wait()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("some objects were never reported")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}
