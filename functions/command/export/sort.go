package export

import (
	"bufio"
	"errors"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
)

// maxSorted is the greatest size in bytes of the lines that are sorted in memory together.
const maxSorted = 32 << 20

// sortLines yields all lines, each with its line feed, sorted by their bytes. It sorts them in
// memory if their total size is no more than the parameter most, in bytes. Otherwise it sorts them
// in runs of this size, writes the runs to a temporary file at the path, and merges them. An error
// ends the sequence.
func sortLines(all iter.Seq2[string, error], path string, most int) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		s, more := sorter{path: path}, true
		err := s.read(all, most)
		if err == nil {
			err = s.merge(func(line string) bool { more = yield(line, nil); return more })
		}
		if err = errors.Join(err, s.close()); err != nil && more {
			yield("", err)
		}
	}
}

// sorter holds runs: lists of lines that are sorted by their bytes. The last run is in memory,
// those before it are in a file.
type sorter struct {
	path  string
	file  *os.File // temporary file with the runs before the last; nil if all lines fit into memory
	ends  []int64  // offsets of the ends of the runs in the file
	lines []string // lines of the run in memory
}

// read reads all lines and divides them into sorted runs. The parameter most is the greatest size
// of a run in bytes.
func (s *sorter) read(all iter.Seq2[string, error], most int) error {
	size := 0
	for line, err := range all {
		if err == nil && size+len(line) > most && size > 0 {
			err = s.write()
			size = 0
		}
		if err != nil {
			return err
		}
		s.lines = append(s.lines, line)
		size += len(line)
	}
	slices.Sort(s.lines)
	return nil
}

// write sorts the lines in memory by their bytes, moves them to the end of the file as a run, and
// records where the run ends.
func (s *sorter) write() (err error) {
	if s.file == nil {
		if s.file, err = os.Create(s.path); err != nil {
			return err
		}
	}
	slices.Sort(s.lines)
	out := bufio.NewWriterSize(s.file, 1<<20)
	for _, line := range s.lines {
		if _, err := out.WriteString(line); err != nil {
			return err
		}
	}
	clear(s.lines)
	s.lines = s.lines[:0]
	if err := out.Flush(); err != nil {
		return err
	}
	end, err := s.file.Seek(0, io.SeekCurrent)
	s.ends = append(s.ends, end)
	return err
}

// merge yields the lines of all runs, sorted by their bytes, until yield returns false.
func (s *sorter) merge(yield func(string) bool) error {
	var next []func() (string, error)
	from := int64(0)
	for _, end := range s.ends {
		in := bufio.NewReader(io.NewSectionReader(s.file, from, end-from))
		next = append(next, func() (string, error) { return in.ReadString('\n') })
		from = end
	}
	next = append(next, func() (string, error) {
		if len(s.lines) == 0 {
			return "", io.EOF
		}
		line := s.lines[0]
		s.lines = s.lines[1:]
		return line, nil
	})
	var heads []string // the next line of each run, "" at its end
	for _, n := range next {
		line, err := n()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		heads = append(heads, line)
	}
	for {
		least := -1
		for i, line := range heads {
			if line != "" && (least < 0 || strings.Compare(line, heads[least]) < 0) {
				least = i
			}
		}
		if least < 0 || !yield(heads[least]) {
			return nil
		}
		var err error
		if heads[least], err = next[least](); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
}

func (s *sorter) close() error {
	if s.file == nil {
		return nil
	}
	return errors.Join(s.file.Close(), os.Remove(s.path))
}
