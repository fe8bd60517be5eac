package rangecache

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// block is the unit of disk space, in bytes; inode is the disk space, in bytes, of a
	// file's inode and name.
	block, inode = 4 << 10, 512
	// smallest is the disk space, in bytes, of the smallest file.
	smallest = block + inode
	// indexed is the memory, in bytes, that the index takes for an entry on disk.
	indexed = 128
	// mostFiles is the greatest number of files in the cache's directory: a new process
	// reads the directory, which takes some 3 µs a file.
	mostFiles = 1 << 16
)

// disk is the part of a cache that stores entries as files of a directory.
type disk struct {
	dir    string
	bucket string
	budget int64    // greatest sum of the files' disk space, in bytes
	most   int      // greatest number of entries; each entry is a file
	lock   *os.File // the file "lock"; the cache that locks it owns the directory

	writing sync.Mutex // held while files are written or the directory is taken over
	state   []byte     // argument of the last call of follow; nil before the first; guarded by the mutex writing

	mu        sync.Mutex               // guards the fields below
	owner     bool                     // whether this cache owns the directory, and alone may write in it
	index     *lru[fileName, struct{}] // the files, each with its disk space as cost; empty if owner is false
	hits      int64
	damaged   int64
	unwritten int64
}

// openDisk opens the directory "ranges" in o.Dir, and makes it if it is absent. It limits
// the number of entries so that their index takes at most an eighth of o.Memory.
func openDisk(o Options) (*disk, error) {
	d := &disk{
		dir: filepath.Join(o.Dir, "ranges"), bucket: o.Bucket, budget: o.Disk,
		most:  int(min(o.Memory/8/indexed, o.Disk/smallest, mostFiles)),
		index: newLRU[fileName, struct{}](),
	}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make a directory to cache in: %w", err)
	}
	if err := os.Chmod(d.dir, 0o700); err != nil { // the directory belongs to another user
		return nil, fmt.Errorf("cannot keep the cache from others: %w", err)
	}
	var err error
	if d.lock, err = os.OpenFile(filepath.Join(d.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("cannot open the cache's lock: %w", err)
	}
	return d, nil
}

func (d *disk) close() error { return d.lock.Close() }

// own reports whether this cache owns the directory, and so may write in it. If no cache owns the
// directory, this cache first takes it over: own locks the directory, reads the names of its files
// into the index, and deletes files if they are more than the budget allows. The caller holds
// d.writing.
func (d *disk) own() (bool, error) {
	d.mu.Lock()
	owner := d.owner
	d.mu.Unlock()
	if owner {
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

// scan reads the names of the files in the directory into a new index. The index evicts the
// oldest files first. scan deletes files that were not written to their end, and leaves files
// of other programs alone.
func (d *disk) scan() (*lru[fileName, struct{}], error) {
	type file struct {
		name    fileName
		written time.Time
		size    int64
	}
	var paths []file
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
			case err != nil || !info.Mode().IsRegular(): // deleted meanwhile, or not written by a cache
			case strings.HasPrefix(e.Name(), unfinished):
				_ = os.Remove(filepath.Join(d.dir, e.Name()))
			case ours:
				paths = append(paths, file{name, info.ModTime(), info.Size()})
			}
		}
	}
	if err != io.EOF {
		return nil, err
	}
	slices.SortFunc(paths, func(a, b file) int {
		return cmp.Or(a.written.Compare(b.written), cmp.Compare(a.name.String(), b.name.String()))
	})
	index := newLRU[fileName, struct{}]()
	for _, f := range paths {
		index.add(f.name, struct{}{}, onDisk(f.size))
	}
	return index, nil
}

// report sets the fields of s that concern the disk, such as DiskHits.
func (d *disk) report(s *Stats) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s.DiskHits, s.Damaged, s.Unwritten, s.Disk = d.hits, d.damaged, d.unwritten, d.index.used()
}

// get returns the content of an entry, and whether it was found. It deletes a damaged
// entry.
func (d *disk) get(id rangeID) ([]byte, bool) {
	name := nameOf(d.bucket, id)
	if !d.mayHold(name) {
		return nil, false
	}
	content, err := readEntry(d.path(name), d.bucket, id, d.budget)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		d.hits++
		return content, true
	}
	if errors.Is(err, errDamaged) {
		d.damaged++
		_ = os.Remove(d.path(name)) // even if the file was written anew meanwhile: it leaves the index, too
		d.index.remove(name)
	}
	return nil, false
}

// mayHold reports whether the directory may have a file with this name. If this cache owns the
// directory, the answer comes from its index. Otherwise another cache may write files, and mayHold
// always returns true.
func (d *disk) mayHold(name fileName) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, found := d.index.get(name, d.budget)
	return found || !d.owner
}

// put writes an entry, if this cache owns the directory. If writing fails, put returns no error,
// but counts the failure in d.unwritten.
func (d *disk) put(id rangeID, content []byte) {
	d.writing.Lock()
	defer d.writing.Unlock()
	err := d.write(nameOf(d.bucket, id), id, content)
	if err != nil {
		d.mu.Lock()
		d.unwritten++
		d.mu.Unlock()
	}
}

// write writes an entry, if this cache owns the directory. Unlike put, it returns the error if
// writing fails.
func (d *disk) write(name fileName, id rangeID, content []byte) error {
	owner, err := d.own()
	if err != nil || !owner {
		return err
	}
	header := headerOf(d.bucket, id, content)
	cost := onDisk(int64(len(header) + len(content)))
	if cost > d.budget || d.most == 0 {
		return nil
	}
	d.mu.Lock()
	err = d.evict(cost)
	d.mu.Unlock()
	if err != nil {
		return err
	}
	if err := writeEntry(d.dir, d.path(name), header, content); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.index.add(name, struct{}{}, cost)
	return nil
}

// evict deletes files until there is room for one more. The parameter cost is the disk
// space of the new file, in bytes. The caller holds d.mu.
func (d *disk) evict(cost int64) error {
	for d.index.used()+cost > d.budget || len(d.index.entries) >= d.most {
		victim, found := d.index.victim()
		if !found {
			break
		}
		if err := os.Remove(d.path(victim)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		d.index.remove(victim)
	}
	return nil
}

func (d *disk) path(name fileName) string { return filepath.Join(d.dir, name.String()) }

// onDisk returns the bytes of disk space that a file of n bytes takes.
func onDisk(n int64) int64 { return (n+block-1)/block*block + inode }

// forget deletes the entries of the given ranges, if this cache owns the directory.
func (d *disk) forget(held []rangeID) {
	d.writing.Lock()
	defer d.writing.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.owner {
		return
	}
	for _, id := range held {
		name := nameOf(d.bucket, id)
		_ = os.Remove(d.path(name))
		d.index.remove(name)
	}
}

// follow records the state of the bucket, a string that changes when something in the bucket is
// erased (see Cache.Follow). The entries that were written under another state must be deleted:
// immediately if this cache owns the directory, otherwise when it takes the directory over.
func (d *disk) follow(state string) {
	d.writing.Lock()
	defer d.writing.Unlock()
	if string(d.state) == state {
		return
	}
	d.state = []byte(state)
	if owner, err := d.own(); err == nil && owner {
		d.renew()
	}
}

// renew compares the file "state" with d.state, a string that changes when something in the bucket
// is erased. If they differ, it deletes all entries and writes d.state to the file. It does nothing
// if d.state is nil. Only the owner of the directory may call it, holding d.writing.
func (d *disk) renew() {
	path := filepath.Join(d.dir, "state")
	if kept, err := os.ReadFile(path); d.state == nil || err == nil && bytes.Equal(kept, d.state) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for name := range d.index.entries {
		_ = os.Remove(d.path(name))
	}
	d.index = newLRU[fileName, struct{}]()
	_ = os.WriteFile(path, d.state, 0o600) // if this fails, the next owner deletes all entries
}
