package datadir

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

const runningName = "running.json"

// Running describes the system that runs in a data directory: its process and the URLs of
// its servers.
type Running struct {
	PID      int    `json:"pid"`
	S3       string `json:"s3"`       // URL of the bucket
	Embedded bool   `json:"embedded"` // true: S3 is the embedded object store, whose password ReadSecret returns
	Redis    string `json:"redis"`
	HTTP     string `json:"http,omitempty"` // URL of the search page; "" if there is none
}

// Publish writes running.json, so that other commands can connect to the system.
func (d *Dir) Publish(r Running) error { return d.write(runningName, r) }

// ReadRunning reads running.json of the data directory at the path. If there is no such file, no
// system runs in the directory, and ReadRunning fails with fs.ErrNotExist. If there is one, the
// system may still have been killed: then it has left the file behind.
func ReadRunning(path string) (Running, error) {
	var r Running
	content, err := os.ReadFile(filepath.Join(path, runningName))
	if err == nil {
		err = json.Unmarshal(content, &r)
	}
	if err != nil {
		return r, fmt.Errorf("cannot read where the system serves: %w", err)
	}
	return r, nil
}
