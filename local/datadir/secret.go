package datadir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const secretName = "secret"

// Secret returns the secret (password) of the embedded object store. If there is no file
// with the secret, or a power cut has damaged it, Secret makes a random one, and writes it
// to a file that only the user can read. In a read-only directory it returns a new secret
// each time, for a store that only this process uses.
func (d *Dir) Secret() (string, error) {
	if d.readOnly != nil {
		return rand.Text(), nil
	}
	secret, err := ReadSecret(d.path)
	if err == nil && len(secret) == len(rand.Text()) && !strings.Contains(secret, "\x00") {
		return secret, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	secret = rand.Text()
	if err := os.WriteFile(d.file(secretName), []byte(secret), 0o600); err != nil {
		return "", fmt.Errorf("cannot keep secret: %w", err)
	}
	return secret, nil
}

// ReadSecret returns the secret in the data directory at the path, to connect to the object
// store of a running system.
func ReadSecret(path string) (string, error) {
	content, err := os.ReadFile(filepath.Join(path, secretName))
	if err != nil {
		return "", fmt.Errorf("cannot read secret: %w", err)
	}
	return string(content), nil
}
