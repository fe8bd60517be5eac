package s3

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
	"github.com/versity/versitygw/s3api"
)

// Limits of the server. It answers "slow down" to connections beyond maxConnections, and to
// concurrent requests beyond maxRequests.
const (
	maxConnections = 2048
	maxRequests    = 1024
	maxActions     = 64        // maximum number of concurrent file operations
	ioBuffer       = 256 << 10 // size of the buffer for reading and writing a file, in bytes
)

// Child runs the program of the child process: it reads Options from the parent, serves, and writes
// messages to the parent (see the package comment). When the input from the parent ends, Child
// returns nil, and the process must exit. Child ignores SIGINT and SIGHUP, which the terminal sends
// to all processes: only the parent ends the child.
func Child(in io.Reader, out io.Writer) error { return attend(in, out, (*os.File).Sync) }

// attend runs the program of the child process (see Child). sync is (*os.File).Sync or, in
// tests, its replacement.
func attend(in io.Reader, out io.Writer, sync func(*os.File) error) error {
	signal.Ignore(os.Interrupt, syscall.SIGHUP)
	var o Options
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return fmt.Errorf("cannot read the options of the object store: %w", err)
	}
	served := make(chan error, 1)
	go func() { served <- serve(o, &disk{sync: sync}, &reporter{out: json.NewEncoder(out)}) }()
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in)
		close(ended)
	}()
	select {
	case err := <-served:
		return err
	case <-ended:
		return nil
	}
}

// serve makes the bucket's directory, unless o.ReadOnly is set, and serves it until serving fails.
// If another program has taken the port, serve tries again a few times. If o.Listen has port 0,
// each try chooses a free port.
func serve(o Options, d *disk, r *reporter) error {
	dir, err := filepath.Abs(o.Dir) // the working directory will change
	if err != nil {
		return fmt.Errorf("cannot find %s: %w", o.Dir, err)
	}
	if !o.ReadOnly {
		if err := d.makeAll(filepath.Join(dir, o.Bucket)); err != nil {
			return fmt.Errorf("cannot keep objects in %s: %w", dir, err)
		}
		if err := removeLeftovers(filepath.Join(dir, o.Bucket)); err != nil {
			return fmt.Errorf("cannot remove what a killed object store has left: %w", err)
		}
	}
	if err := (meta.XattrMeta{}).Test(dir); err != nil {
		return fmt.Errorf("cannot keep objects in %s: %w: choose a directory on another file system", dir, err)
	}
	const attempts = 5
	for attempt := 1; ; attempt++ {
		address, err := choose(o.Listen)
		if err == nil {
			err = run(dir, address, o, d, r)
		}
		if attempt == attempts || !errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("cannot serve %s on %s: %w", dir, o.Listen, err)
		}
	}
}

// choose returns the address to serve at. If the port of the given address is 0, choose replaces
// it by a free port. versitygw itself would choose a port for 0, too, but would not report it.
func choose(listen string) (string, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// run serves a directory by versitygw at an address, until serving fails.
func run(dir, address string, o Options, d *disk, r *reporter) error {
	backend, err := posix.New(dir, attributes{disk: d}, posix.PosixOpts{
		Concurrency:         maxActions,
		CopyObjectThreshold: 5 << 30,
		IOBufferSize:        ioBuffer,
	})
	if err != nil {
		return err
	}
	return embedgw.RunVersityGW(context.Background(), reporting{durable{backend, dir, d}, o.Bucket, r}, &embedgw.Config{
		RootUserAccess:    o.AccessKey,
		RootUserSecret:    o.SecretKey,
		Ports:             []string{address},
		MaxConnections:    maxConnections,
		MaxRequests:       maxRequests,
		MultipartMaxParts: 10_000,
		KeepAlive:         true,
		Readonly:          o.ReadOnly,
		Quiet:             true,
		S3Options: []s3api.Option{s3api.WithOnListen(func() {
			r.report(message{Ready: "http://" + address})
		})},
	})
}
