package datadir

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

const runningName = "running.json"

// Running says where the system of a directory serves.
type Running struct {
	PID      int    `json:"pid"`
	S3       string `json:"s3"`
	Embedded bool   `json:"embedded"` // its object store, whose secret is in the directory
	Redis    string `json:"redis"`
	HTTP     string `json:"http,omitempty"` // search page
}

// Publish tells other commands where the system serves.
func (d *Dir) Publish(r Running) error { return d.write(runningName, r) }

// ReadRunning returns where the system in the directory serves, or
// fs.ErrNotExist. One that was killed may have left it behind.
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
