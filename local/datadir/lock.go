package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrInUse means that another program has locked the data directory.
var ErrInUse = errors.New("data directory is in use")

// Times of waiting for the lock on the data directory while another program holds it. If the other
// program runs a system, it may hold the lock for long, and locking fails immediately. Otherwise it
// only reads, or is starting or stopping a system, and will soon give the lock back. Only then is it
// worth waiting.
const (
	patience = 3 * time.Second       // maximum time of waiting; after that, locking fails with ErrInUse
	pause    = 20 * time.Millisecond // time between two attempts to lock
)

// Lock opens the data directory at the path for a program that will run a system, with an exclusive
// lock. It makes the directory if there is none, and fails with ErrInUse if another program holds
// the lock.
func Lock(ctx context.Context, path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		if refused(err) {
			return nil, unwritable(path, err)
		}
		return nil, impossible(path, err)
	}
	if err := writable(path); err != nil {
		return nil, err
	}
	return open(ctx, path, syscall.LOCK_EX)
}

// Share opens the data directory at the path for a program that runs no system; several such
// programs may share it. It fails with fs.ErrNotExist if the directory has no bucket, and with
// ErrInUse if a system runs there. If the directory cannot be written (see Dir.ReadOnly), Share
// takes no lock and does not look for a running system. It is safe to read while a system runs,
// because stored objects do not change.
func Share(ctx context.Context, path string) (*Dir, error) {
	if _, err := os.Stat(filepath.Join(path, store)); err != nil {
		if errors.Is(err, syscall.ENOTDIR) {
			return nil, impossible(path, err)
		}
		return nil, fmt.Errorf("no bucket in data directory: %w", err)
	}
	if err := writable(path); err != nil {
		path, errPath := filepath.Abs(path)
		if errPath != nil {
			return nil, fmt.Errorf("cannot find data directory: %w", errPath)
		}
		return &Dir{path: path, readOnly: err}, nil
	}
	return open(ctx, path, syscall.LOCK_SH)
}

// writable returns an error if this process is not allowed to write in a data directory or
// to its files.
func writable(path string) error {
	const write = 2 // W_OK of access(2)
	for _, name := range []string{path, filepath.Join(path, "lock"), filepath.Join(path, store)} {
		if err := syscall.Access(name, write); refused(err) {
			return unwritable(path, &fs.PathError{Op: "write", Path: name, Err: err})
		}
	}
	return nil
}

// refused reports whether an error means that the operating system forbids writing: by
// permissions, or because the file system is read-only.
func refused(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

func unwritable(path string, err error) error {
	return fmt.Errorf("data directory %s cannot be written: %w; search, page, status, why, verify, limits, collections list and show, and strategy show work there, for all else run as the user that owns it, or choose another directory by --data", path, err)
}

// impossible returns an error that tells people why there can be no data directory at the path.
// The parameter err is the error of the operating system.
func impossible(path string, err error) error {
	why := "no files can be made there"
	var cause syscall.Errno
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		why = "it is a file, or lies below one"
	case errors.Is(err, syscall.ENOENT): // as below /proc
	case errors.As(err, &cause):
		why += ": " + cause.Error()
	}
	return fmt.Errorf("%s cannot be a data directory: %s; choose another one by --data", path, why)
}

// open opens the data directory with a lock. The kind of lock is that of flock(2): LOCK_EX
// (exclusive) or LOCK_SH (shared).
func open(ctx context.Context, path string, how int) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("cannot find data directory: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, impossible(path, err)
	}
	d := &Dir{path: path, lock: lock, shared: how == syscall.LOCK_SH}
	if err := d.take(ctx, how); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if err := d.forget(); err != nil { // the file of a system that was killed
		return nil, errors.Join(err, lock.Close())
	}
	return d, nil
}

// take locks the directory with the given kind of lock (see open). While another program holds the
// lock, take tries again for a few seconds (see patience). But if a system runs in the directory,
// take fails immediately.
func (d *Dir) take(ctx context.Context, how int) error {
	for patient := time.Now().Add(patience); ; {
		err := syscall.Flock(int(d.lock.Fd()), how|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("cannot lock data directory %s: %w", d.path, err)
		}
		running, err := ReadRunning(d.path)
		if err == nil {
			return fmt.Errorf("%w: %s (another bucketsearch, process %d, runs there; stop it, choose another directory by --data, or let it crawl more: bucketsearch publish FILE)", ErrInUse, d.path, running.PID)
		}
		if time.Now().After(patient) {
			return fmt.Errorf("%w: %s (another bucketsearch is busy there; try again when it has ended, or choose another directory by --data)", ErrInUse, d.path)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// Close releases the lock. If a system ran here, it also deletes running.json, which would tell
// other commands how to connect to it.
func (d *Dir) Close() error {
	if d.readOnly != nil {
		return nil
	}
	if d.shared {
		return d.lock.Close()
	}
	return errors.Join(d.forget(), d.lock.Close())
}

// forget deletes running.json, the file with the URLs of the running system, if it exists.
func (d *Dir) forget() error {
	err := os.Remove(d.file(runningName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
