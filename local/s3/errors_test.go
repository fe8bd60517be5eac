package s3

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/s3blob"
)

func wantMessage(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got error %v, want one that says %q", err, part)
		}
	}
}

func TestStartErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	taken, _ := start(t, t.TempDir(), ignore)
	for _, c := range []struct {
		name    string
		command Command
		change  func(*Options)
		want    []string
	}{
		{"no such program", Command{Path: filepath.Join(file, "none")}, func(*Options) {}, []string{"cannot start the object store"}},
		{"directory is a file", self(t, "child"), func(o *Options) { o.Dir = file }, []string{"object store ended", "cannot keep objects in " + file}},
		{"address is taken", self(t, "child"), func(o *Options) { o.Listen = strings.TrimPrefix(taken.Endpoint, "http://") }, []string{"object store ended", "address already in use"}},
		{"no credentials", self(t, "child"), func(o *Options) { o.AccessKey = "" }, []string{"object store ended", "access"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t.TempDir())
			c.change(&o)
			server, err := Start(t.Context(), c.command, o, Events{Stored: ignore})
			if err == nil {
				server.Close()
			}
			wantMessage(t, err, c.want...)
		})
	}
}

func TestStartTimesOut(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Start(ctx, Command{Path: "/bin/sh", Args: []string{"-c", "echo thinking >&2; exec cat"}}, options(t.TempDir()), Events{Stored: ignore})
	wantMessage(t, err, "did not come up")
}

// If the file system refuses a write, the store answers with an error, and leaves no file
// behind.
func TestFileSystemRefuses(t *testing.T) {
	limited := self(t, "child")
	limited.Path, limited.Args = "/bin/sh", []string{"-c", `ulimit -f 200; exec "$0"`, limited.Path}
	server, err := Start(t.Context(), limited, options(t.TempDir()), Events{Stored: func(key string, _ int64) {
		if key != "small" {
			t.Errorf("%s was reported", key)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	bucket := open(t, server.Endpoint)
	if err := bucket.Create(t.Context(), "large", make([]byte, 1<<20)); !errors.Is(err, blob.ErrRetryable) {
		t.Errorf("got %v, want ErrRetryable", err)
	}
	if _, err := bucket.Head(t.Context(), "large"); !errors.Is(err, blob.ErrAbsent) {
		t.Errorf("head: got %v, want ErrAbsent", err)
	}
	if err := bucket.Create(t.Context(), "small", nil); err != nil {
		t.Error(err)
	}
	server.Close()
}

func TestClientErrors(t *testing.T) {
	server, _ := start(t, t.TempDir(), ignore)
	o := options("")
	for _, c := range []struct {
		name   string
		change func(*s3blob.Config)
		want   string
	}{
		{"wrong secret", func(c *s3blob.Config) { c.SecretKey = "wrong" }, "refuses the credentials"},
		{"wrong access key", func(c *s3blob.Config) { c.AccessKey = "wrong" }, "No user exists with the provided access key"},
		{"no such bucket", func(c *s3blob.Config) { c.Bucket = "other" }, "there is no bucket other at " + server.Endpoint},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := s3blob.Config{Endpoint: server.Endpoint, Bucket: o.Bucket, AccessKey: o.AccessKey, SecretKey: o.SecretKey}
			c.change(&config)
			bucket, err := s3blob.Open(config)
			if err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			_, errGet := bucket.Get(ctx, "key", blob.Range{})
			_, errHead := bucket.Head(ctx, "key")
			var errList error
			for _, err := range bucket.List(ctx, "", "") {
				errList = err
			}
			for _, err := range []error{errGet, errHead, errList, bucket.Create(ctx, "key", []byte("x")), bucket.Replace(ctx, "key", nil), bucket.Delete(ctx, "key")} {
				wantMessage(t, err, c.want)
				if errors.Is(err, blob.ErrAbsent) || errors.Is(err, blob.ErrRetryable) {
					t.Errorf("got %v, want an error that ends the program", err)
				}
			}
		})
	}
}

func TestEnsure(t *testing.T) {
	server, _ := start(t, t.TempDir(), ignore)
	o := options("")
	bucket, err := s3blob.Open(s3blob.Config{Endpoint: server.Endpoint, Bucket: "another", AccessKey: o.AccessKey, SecretKey: o.SecretKey})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := bucket.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := bucket.Create(t.Context(), "key", []byte("x")); err != nil {
		t.Error(err)
	}
}
