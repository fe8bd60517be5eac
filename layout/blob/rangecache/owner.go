package rangecache

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// own reports whether the directory is ours to write in. It becomes so when
// no other cache has it; then the index learns what is there, and what is over
// the budget is deleted. d.writing is held.
func (d *disk) own() (bool, error) {
	if d.isOwner() {
		return true, nil
	}
	err := syscall.Flock(int(d.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot lock the cache: %w", err)
	}
	index, err := d.scan()
	if err != nil {
		return false, fmt.Errorf("cannot read the cache's directory: %w", err)
	}
	d.mu.Lock()
	d.index, d.owner = index, true
	err = d.evict(0)
	d.mu.Unlock()
	d.renew()
	return true, err
}

func (d *disk) isOwner() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.owner
}

// scan returns what the directory holds, the oldest to be the first victims,
// and deletes what was never finished. Files that are none of the cache's stay.
func (d *disk) scan() (*lru[name, struct{}], error) {
	type file struct {
		name    name
		written time.Time
		size    int64
	}
	var files []file
	dir, err := os.Open(d.dir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	for err == nil {
		var entries []os.DirEntry
		entries, err = dir.ReadDir(1_024)
		for _, e := range entries {
			name, ours := parseName(e.Name())
			info, err := e.Info()
			switch {
			case err != nil || !info.Mode().IsRegular(): // deleted meanwhile, or none of ours
			case strings.HasPrefix(e.Name(), unfinished):
				_ = os.Remove(filepath.Join(d.dir, e.Name()))
			case ours:
				files = append(files, file{name, info.ModTime(), info.Size()})
			}
		}
	}
	if err != io.EOF {
		return nil, err
	}
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(a.written.Compare(b.written), cmp.Compare(a.name.String(), b.name.String()))
	})
	index := newLRU[name, struct{}]()
	for _, f := range files {
		index.add(f.name, struct{}{}, onDisk(f.size))
	}
	return index, nil
}
