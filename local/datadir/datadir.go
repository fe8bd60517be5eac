// Package datadir manages the data directory of a system on a laptop:
//
//	lock           locked by the one program that runs a system; while none runs, by all that use the bucket
//	running.json   URLs of that program's servers, to which other commands connect
//	secret         password of the embedded object store
//	s3/            files of the embedded object store, with the bucket
//	requests.json  counts of the requests to the object store so far
//	log.jsonl      log of the functions
//
// Only s3/ cannot be replaced. All other files may be deleted while no program uses the
// directory. A directory that cannot be written can still be read, if it has s3/.
package datadir

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Dir is an open data directory: the folder of a system on one machine, with its embedded store,
// log and lock.
type Dir struct {
	path     string
	lock     *os.File // open file with the lock; nil if readOnly is set
	shared   bool     // true: the lock is shared with others; false: it is exclusive
	readOnly error    // why the directory cannot be written; nil if it can
}

// ReadOnly returns why the directory cannot be written; nil if it can.
func (d *Dir) ReadOnly() error { return d.readOnly }

// S3 returns the path of the directory with the files of the embedded object store.
func (d *Dir) S3() string { return d.file(store) }

const store = "s3"

// OpenLog opens the log file of the data directory for appending.
func (d *Dir) OpenLog() (*os.File, error) {
	log, err := os.OpenFile(d.file("log.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot open log: %w", err)
	}
	return log, nil
}

// Room returns the number of free bytes on the disk of the directory.
func (d *Dir) Room() (int64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(d.path, &disk); err != nil {
		return 0, fmt.Errorf("cannot ask for the room in %s: %w", d.path, err)
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil
}

func (d *Dir) file(name string) string { return filepath.Join(d.path, name) }

// write stores a value as JSON in the named file of the directory, in place of the present
// file. Readers see the old or the new file, never a part.
func (d *Dir) write(name string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	temporary := d.file(name + ".new")
	if err := os.WriteFile(temporary, append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return os.Rename(temporary, d.file(name))
}
