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

// Secret returns the embedded object store's secret. It makes a random one the first
// time, and again if a power cut left it empty. Only the user can read it. In a
// directory that cannot be written it is valid for this process only, which then runs
// the store.
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

// ReadSecret returns the secret of a directory that another program runs.
func ReadSecret(path string) (string, error) {
	content, err := os.ReadFile(filepath.Join(path, secretName))
	if err != nil {
		return "", fmt.Errorf("cannot read secret: %w", err)
	}
	return string(content), nil
}
