package s3

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// leftover matches the names of files that the object store versitygw leaves behind if it is killed while it
// replaces an object. It writes the new version to a file with such a name, and then puts this file in the place of
// the former version.
var leftover = regexp.MustCompile(`^\..+\.sgwtmp\.[0-9]+$`)

// removeLeftovers removes, from a directory and all directories below it, the files that a killed server has left
// behind (see leftover). Otherwise they would be listed as objects that nobody has stored. No server may be working
// on the directory.
func removeLeftovers(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !leftover.MatchString(entry.Name()) {
			return err
		}
		return os.Remove(path)
	})
}
