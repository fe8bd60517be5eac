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

// ReadRequests returns the object-store requests that systems in the
// directory have made so far. Its error is worth a warning and no more: it
// comes with zero counts, from which counting goes on.
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

// KeepRequests writes the requests made so far.
func (d *Dir) KeepRequests(counts countblob.Counts) error { return d.write(requestsName, counts) }
