package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
)

const requestsName = "requests.json"

// ReadRequests returns the counts of all requests to the object store that systems in the
// data directory at the path have made so far. If they cannot be read, it returns zero
// counts and an error, which callers should only show as a warning.
func ReadRequests(path string) (countblob.Counts, error) {
	content, err := os.ReadFile(filepath.Join(path, requestsName))
	if errors.Is(err, fs.ErrNotExist) {
		return countblob.Counts{}, nil
	}
	var counts countblob.Counts
	if err == nil {
		err = json.Unmarshal(content, &counts)
	}
	if err != nil {
		return countblob.Counts{}, fmt.Errorf("%s in %s cannot be read, counting begins anew: %w", requestsName, path, err)
	}
	return counts, nil
}

// KeepRequests stores the counts of the requests made so far; ReadRequests returns them.
func (d *Dir) KeepRequests(counts countblob.Counts) error { return d.write(requestsName, counts) }
