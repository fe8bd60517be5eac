package s3

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/blobtest"
	"github.com/bucketsearch/bucketsearch/layout/blob/s3blob"
)

// role is an environment variable that tells the test binary which program to run: the child,
// its parent or a recorder. Without this variable, the tests run.
const role = "BUCKETSEARCH_TEST_ROLE"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(role) {
	case "child":
		err = Child(os.Stdin, os.Stdout)
	case "recording":
		err = recording(os.Stdin, os.Stdout)
	case "parent":
		err = parent(os.Stdout)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// self returns the command that runs this binary in the given role.
func self(t testing.TB, as string) Command {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Command{Path: path, Env: append(os.Environ(), role+"="+as)}
}

func options(dir string) Options {
	return Options{Dir: dir, Bucket: "bucket", Listen: "127.0.0.1:0", AccessKey: "access", SecretKey: "secret secret"}
}

// start starts a server on the directory and opens its bucket. The server runs until the test
// ends.
func start(t testing.TB, dir string, stored func(key string, size int64)) (*Server, *s3blob.Bucket) {
	t.Helper()
	o := options(dir)
	server, err := Start(t.Context(), self(t, "child"), o, Events{Stored: stored})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server, open(t, server.Endpoint)
}

func open(t testing.TB, endpoint string) *s3blob.Bucket {
	t.Helper()
	o := options("")
	bucket, err := s3blob.Open(s3blob.Config{Endpoint: endpoint, Bucket: o.Bucket, AccessKey: o.AccessKey, SecretKey: o.SecretKey})
	if err != nil {
		t.Fatal(err)
	}
	return bucket
}

func ignore(string, int64) {}

func TestConformance(t *testing.T) {
	_, bucket := start(t, t.TempDir(), ignore)
	blobtest.Run(t, func(*testing.T) blob.Bucket { return bucket })
}

// TestConformanceElsewhere runs the conformance tests of buckets on an S3 server that runs
// elsewhere. The environment variable BUCKETSEARCH_TEST_S3 gives the URL of the bucket
// (http(s)://host:port/bucket). The credentials come from the environment, too.
func TestConformanceElsewhere(t *testing.T) {
	address := os.Getenv("BUCKETSEARCH_TEST_S3")
	if address == "" {
		return
	}
	place, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Trim(place.Path, "/")
	place.Path = ""
	bucket, err := s3blob.Open(s3blob.Config{Endpoint: place.String(), Bucket: name})
	if err != nil {
		t.Fatal(err)
	}
	if err := bucket.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	blobtest.Run(t, func(*testing.T) blob.Bucket { return bucket })
}

// parent is the program of a process that a test kills. It starts a server as its child, prints the
// server's endpoint, and waits.
func parent(out io.Writer) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	command := Command{Path: path, Env: append(os.Environ(), role+"=child")}
	server, err := Start(ctx, command, options(os.Getenv("TMPDIR")), Events{Stored: ignore})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, server.Endpoint)
	<-ctx.Done()
	return ctx.Err()
}
