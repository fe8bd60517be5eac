// Package datadir is the data directory of a system on a laptop:
//
//	lock           held by the program that runs the system, shared by those that only read
//	running.json   where that program serves, for other commands to join in
//	secret         of the embedded object store
//	s3/            the bucket
//	requests.json  object-store requests made so far
//	log.jsonl      what the functions logged
//
// Only s3/ cannot be replaced. All other files may be deleted while nothing runs. A
// directory that cannot be written can be read: then only the files in s3/ are needed.
package datadir

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Dir is an open data directory.
type Dir struct {
	path     string
	lock     *os.File // nil when readOnly is not
	shared   bool
	readOnly error // why nothing can be written
}

// ReadOnly returns why the directory cannot be written; nil if it can.
func (d *Dir) ReadOnly() error { return d.readOnly }

// S3 returns where the embedded object store keeps its files.
func (d *Dir) S3() string { return d.file(store) }

const store = "s3"

// OpenLog opens the log for appending.
func (d *Dir) OpenLog() (*os.File, error) {
	log, err := os.OpenFile(d.file("log.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot open log: %w", err)
	}
	return log, nil
}

// Room returns the free bytes of the disk.
func (d *Dir) Room() (int64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(d.path, &disk); err != nil {
		return 0, fmt.Errorf("cannot ask for the room in %s: %w", d.path, err)
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil
}

func (d *Dir) file(name string) string { return filepath.Join(d.path, name) }

// write replaces a file in one step.
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
