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

// ReadRequests returns the counts of the requests to the object store that the systems in the
// data directory at the path have made so far. With an error, which is worth no more than a
// warning, it returns zero counts.
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

// KeepRequests writes the counts of the requests made so far, for ReadRequests.
func (d *Dir) KeepRequests(counts countblob.Counts) error { return d.write(requestsName, counts) }
