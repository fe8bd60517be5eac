package sitemap

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// parseText reads a text file with one address a line, and calls emit with each address. Lines that
// are no absolute address are skipped, but a file with no address at all is an error.
func parseText(in io.Reader, emit func(Entry) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, bufferSize)
	found := false
	number := 0
	for lines.Scan() {
		number++
		if len(lines.Bytes()) > maxText {
			continue
		}
		a, err := address.Parse(strings.TrimSpace(lines.Text()))
		if err != nil {
			continue
		}
		found = true
		if err := emit(Entry{Address: a, Priority: DefaultPriority}); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("behind line %d: %w", number, err)
	}
	if !found {
		return errors.New("neither XML nor a list of addresses")
	}
	return nil
}
