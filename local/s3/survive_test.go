package s3

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// content is what the tests store under a key: its size and bytes follow from
// the key.
func content(key string) []byte {
	var seed [32]byte
	copy(seed[:], key)
	source := rand.NewChaCha8(seed)
	bytes := make([]byte, source.Uint64()%(300<<10))
	_, _ = source.Read(bytes)
	return bytes
}

// An object whose Create was answered is whole after a kill, and one whose
// Create was not is whole or absent.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	server, bucket := start(t, dir, ignore)
	var (
		mu     sync.Mutex
		stored []string // guarded by mu
		group  sync.WaitGroup
	)
	enough := make(chan struct{})
	for worker := range 8 {
		group.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("packages/%d/%d", worker, i)
				if err := bucket.Create(t.Context(), key, content(key)); err != nil {
					if !errors.Is(err, blob.ErrRetryable) {
						t.Errorf("after the kill: got %v, want ErrRetryable", err)
					}
					return
				}
				mu.Lock()
				if stored = append(stored, key); len(stored) == 100 {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	<-enough
	if err := server.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	<-server.Done()
	if err := server.Err(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("got %v, want the reason why the server ended", err)
	}
	server.err = nil // for the clean-up

	_, bucket = start(t, dir, ignore)
	for _, key := range stored {
		got, err := bucket.Get(t.Context(), key, blob.Range{})
		if err != nil || !bytes.Equal(got, content(key)) {
			t.Errorf("%s: got %d bytes, %v; want %d", key, len(got), err, len(content(key)))
		}
	}
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
}

// The server ends with a parent that was killed.
func TestParentDies(t *testing.T) {
	command := self(t, "parent")
	parent := exec.Command(command.Path)
	parent.Env = append(command.Env, "TMPDIR="+t.TempDir())
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
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
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	_ = connection.SetReadDeadline(time.Now().Add(10 * time.Second))
	var timeout net.Error
	if _, err := connection.Read(make([]byte, 1)); err == nil || (errors.As(err, &timeout) && timeout.Timeout()) {
		t.Errorf("the server lives on: %v", err)
	}
}

// Every object is reported once, with its size, and can be read by then.
func TestReports(t *testing.T) {
	const objects = 200
	var (
		bucket blob.Bucket
		got    = map[string]int64{}
		done   = make(chan struct{})
	)
	open := make(chan struct{})
	server, opened := start(t, t.TempDir(), func(key string, size int64) {
		<-open
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
	close(open)
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
	case <-time.After(10 * time.Second):
		t.Error("some objects were never reported")
	}
	if noise := server.stderr.quote(); noise != "" {
		t.Errorf("the server is not quiet%s", noise)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}
