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

// parallelSyncs is the number of files that are synced concurrently. File systems combine
// concurrent syncs into one write of their journal.
const parallelSyncs = 16

// disk syncs files and folders, so that they survive a power cut. It works in rounds. While one round
// runs, the paths of new calls are collected, and the next round syncs all of them. So a folder in
// which many files were made is synced only once. A disk is safe for concurrent use.
type disk struct {
	sync func(*os.File) error // (*os.File).Sync, or its replacement in tests

	mu   sync.Mutex // protects the fields below
	next *round     // next round, for which calls wait; nil if no call waits
	busy bool       // whether the files of a round are being synced now
}

// round is a set of files and folders that are synced together.
type round struct {
	paths map[string]bool
	done  chan struct{} // closed at the end of the round
	err   error         // error of the round; valid when done is closed
}

// syncAll syncs the files and folders at the paths, and returns when they are on disk. A path
// that does not exist is ignored: the file was deleted meanwhile, and the call that deleted
// it syncs its folder.
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

// run runs one round after another until no call waits for one.
func (d *disk) run() {
	for {
		d.mu.Lock()
		current := d.next
		d.next, d.busy = nil, current != nil
		d.mu.Unlock()
		if current == nil {
			return
		}
		current.err = d.syncRound(current.paths)
		close(current.done)
	}
}

// syncRound first opens all files and folders at the paths, and then syncs them. Another call may
// meanwhile replace a file by a new one with the same name. Even then, syncRound syncs the old file,
// which it has open. This is needed because a power cut may undo the replacement, so that the name
// leads to the old file again.
func (d *disk) syncRound(paths map[string]bool) error {
	var files []*os.File
	defer func() {
		for _, file := range files {
			_ = file.Close() // nothing was written through it
		}
	}()
	for path := range paths {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot sync: %w", err)
		}
		files = append(files, file)
	}
	var group errgroup.Group
	group.SetLimit(parallelSyncs)
	for _, file := range files {
		group.Go(func() error { return d.syncFile(file) })
	}
	return group.Wait()
}

func (d *disk) syncFile(file *os.File) error {
	if err := d.sync(file); err != nil {
		return fmt.Errorf("cannot sync %s: %w", file.Name(), err)
	}
	return nil
}

// makeAll makes a folder and all missing folders above it, and syncs them.
func (d *disk) makeAll(path string) error {
	made := []string{path}
	for at := path; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		made = append(made, filepath.Dir(at)) // the folder that contains at
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	return d.syncAll(made)
}
