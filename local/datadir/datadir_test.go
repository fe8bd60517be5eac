package datadir

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
)

// TestMain runs the tests. But if an environment variable names a directory, this process is the
// second program of TestLock instead: it locks the directory, publishes that a system runs there,
// and waits to be killed.
func TestMain(m *testing.M) {
	path := os.Getenv("DATADIR_TO_LOCK")
	if path == "" {
		os.Exit(m.Run())
	}
	dir := must(Lock(context.Background(), path))
	if err := dir.Publish(Running{PID: os.Getpid(), S3: "http://127.0.0.1:1/b"}); err != nil {
		panic(err)
	}
	fmt.Println("locked")
	select {}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "data")
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), "DATADIR_TO_LOCK="+path)
	out := must(other.StdoutPipe())
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	mustHave(t, path)
	for name, take := range map[string]func() (*Dir, error){
		"lock":  func() (*Dir, error) { return Lock(t.Context(), path) },
		"share": func() (*Dir, error) { return Share(t.Context(), path) },
	} {
		_, err := take()
		if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), fmt.Sprintf("process %d", other.Process.Pid)) {
			t.Errorf("%s: got %v, want %v and by which process", name, err, ErrInUse)
		}
	}

	// A killed program no longer locks the directory, even if running.json is still there.
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	if _, err := ReadRunning(path); err != nil {
		t.Errorf("killed: %v, want what it left", err)
	}
	dir, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRunning(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("locked again: %v, want that nobody runs", err)
	}
	if err := dir.Close(); err != nil {
		t.Error(err)
	}
}

// mustHave makes the folder for the bucket in the data directory at the path. Share fails if a data
// directory lacks this folder.
func mustHave(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(path, store), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestShare(t *testing.T) {
	path := t.TempDir()
	if _, err := Share(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no bucket: got %v, want %v", err, fs.ErrNotExist)
	}
	if left := must(os.ReadDir(path)); len(left) > 0 {
		t.Errorf("reading made %v", left)
	}
	mustHave(t, path)
	first, second := must(Share(t.Context(), path)), must(Share(t.Context(), path))
	locked := make(chan *Dir)
	go func() { locked <- must(Lock(t.Context(), path)) }() // waits until no program shares the directory
	for _, reader := range []*Dir{first, second} {
		select {
		case <-locked:
			t.Fatal("locked while somebody reads")
		default:
		}
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}
	dir := <-locked
	if err := dir.Publish(Running{HTTP: "http://127.0.0.1:8080/"}); err != nil {
		t.Error(err)
	}
	if r := must(ReadRunning(path)); r.HTTP != "http://127.0.0.1:8080/" {
		t.Errorf("read %+v", r)
	}
	if err := dir.Close(); err != nil {
		t.Error(err)
	}
	if _, err := ReadRunning(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("closed: %v, want that nobody runs", err)
	}
}

func TestSecret(t *testing.T) {
	path := t.TempDir()
	dir := must(Lock(t.Context(), path))
	defer dir.Close()
	secret := must(dir.Secret())
	if again := must(dir.Secret()); again != secret || len(secret) < 20 {
		t.Errorf("got %q, then %q", secret, again)
	}
	if read := must(ReadSecret(path)); read != secret {
		t.Errorf("read %q, want %q", read, secret)
	}
	if mode := must(os.Stat(filepath.Join(path, secretName))).Mode(); mode != 0o600 {
		t.Errorf("mode %v, want that only the user reads it", mode)
	}
	for _, left := range []string{"", secret[:5], strings.Repeat("\x00", len(secret))} { // contents after a power cut
		if err := os.WriteFile(filepath.Join(path, secretName), []byte(left), 0o600); err != nil {
			t.Fatal(err)
		}
		if again := must(dir.Secret()); len(again) != len(secret) || strings.Contains(again, "\x00") {
			t.Errorf("secret %q after one that is %q", again, left)
		}
	}
}

func TestRequests(t *testing.T) {
	path := t.TempDir()
	dir := must(Lock(t.Context(), path))
	defer dir.Close()
	if counts := must(ReadRequests(path)); counts != (countblob.Counts{}) {
		t.Errorf("new: %+v", counts)
	}
	want := countblob.Counts{Put: 1, Get: 2, List: 3, Delete: 4, Head: 5, Read: 6, Written: 7}
	if err := dir.KeepRequests(want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, must(ReadRequests(path))); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(filepath.Join(path, requestsName), []byte(`{"put": 9, "ge`), 0o644); err != nil {
		t.Fatal(err)
	}
	counts, err := ReadRequests(path)
	if err == nil || counts != (countblob.Counts{}) {
		t.Errorf("damaged: %+v, %v; want a warning and no counts", counts, err)
	}
	if err := dir.KeepRequests(want); err != nil {
		t.Error(err)
	}
}

func TestRoom(t *testing.T) {
	dir := must(Lock(t.Context(), t.TempDir()))
	defer dir.Close()
	if room, err := dir.Room(); err != nil || room <= 0 {
		t.Errorf("got %d, %v", room, err)
	}
}

func TestLockFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(t.Context(), filepath.Join(file, "data")); err == nil || !strings.Contains(err.Error(), "cannot be a data directory: it is a file, or lies below one") {
		t.Errorf("got %v", err)
	}
}
