package s3

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"
)

// parallelSyncs is the number of files of a round that are synced at once: file systems
// combine concurrent syncs into one write of their journal.
const parallelSyncs = 16

// disk syncs files and folders, so that they survive a power cut. Callers that come while
// a round of syncs runs are served together by the next round, and a folder in which
// many files were made is synced once. It is safe for concurrent use.
type disk struct {
	sync func(*os.File) error // as (*os.File).Sync

	mu   sync.Mutex // protects the fields below
	next *round     // that has not begun; nil when nobody waits for it
	busy bool       // a round is under way
}

// round is a set of files and folders that are synced together.
type round struct {
	paths map[string]bool
	done  chan struct{} // closed at the end
	err   error         // then
}

// syncAll returns when every file and folder of the paths is on disk as it was
// at the call or later. One that is not there any more has been deleted since,
// which is synced by whoever did that.
func (d *disk) syncAll(paths []string) error {
	d.mu.Lock()
	if d.next == nil {
		d.next = &round{paths: make(map[string]bool), done: make(chan struct{})}
	}
	own := d.next
	for _, path := range paths {
		own.paths[path] = true
	}
	if !d.busy {
		d.busy = true
		go d.run()
	}
	d.mu.Unlock()
	<-own.done
	return own.err
}

// run runs rounds as long as callers wait for one.
func (d *disk) run() {
	for {
		d.mu.Lock()
		current := d.next
		d.next, d.busy = nil, current != nil
		d.mu.Unlock()
		if current == nil {
			return
		}
		var group errgroup.Group
		group.SetLimit(parallelSyncs)
		for path := range current.paths {
			group.Go(func() error { return d.syncPath(path) })
		}
		current.err = group.Wait()
		close(current.done)
	}
}

func (d *disk) syncPath(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot sync: %w", err)
	}
	defer file.Close()
	return d.syncFile(file)
}

func (d *disk) syncFile(file *os.File) error {
	if err := d.sync(file); err != nil {
		return fmt.Errorf("cannot sync %s: %w", file.Name(), err)
	}
	return nil
}

// makeAll makes a folder and all missing folders above it, and returns when they are on
// disk.
func (d *disk) makeAll(path string) error {
	made := []string{path}
	for at := path; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		made = append(made, filepath.Dir(at)) // which names it
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	return d.syncAll(made)
}
