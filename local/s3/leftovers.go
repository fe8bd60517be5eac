package s3

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// leftover matches the names that versitygw gives to the new version of an object, for the moment before it takes
// the place of the former version. A server that is killed in this moment leaves the file behind.
var leftover = regexp.MustCompile(`^\..+\.sgwtmp\.[0-9]+$`)

// removeLeftovers removes the files in a directory that an earlier server left behind when it was killed. Otherwise
// they would be objects of which nobody knows. No server may be working on the directory.
func removeLeftovers(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !leftover.MatchString(entry.Name()) {
			return err
		}
		return os.Remove(path)
	})
}
