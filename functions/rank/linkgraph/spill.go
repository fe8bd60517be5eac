package linkgraph

import (
	"sync"

	"github.com/bucketsearch/bucketsearch/layout/blob/scratch"
)

// spill is a file without a name (see scratch.Create) to which several goroutines append.
type spill struct {
	file *scratch.File

	mu     sync.Mutex // protects the buffer and the end of the file
	buffer []byte     // bytes that are not in the file yet
}

// spillBuffer is the size of spill.buffer in bytes, at which it is written to the file.
const spillBuffer = 64 << 10

// newSpills returns n empty spills in a directory.
func newSpills(dir string, n int) (all []*spill, err error) {
	for range n {
		file, err := scratch.Create(dir)
		if err != nil {
			closeSpills(all)
			return nil, err
		}
		all = append(all, &spill{file: file})
	}
	return all, nil
}

// add appends bytes, which stay together.
func (s *spill) add(entry []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buffer = append(s.buffer, entry...)
	if len(s.buffer) < spillBuffer {
		return nil
	}
	return s.flush()
}

func (s *spill) flush() error {
	_, err := s.file.Write(s.buffer)
	s.buffer = s.buffer[:0]
	return err
}

// content returns all bytes, which can be used until close is called. It may be called once, after the last add.
func (s *spill) content() ([]byte, error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	s.buffer = nil
	return s.file.Map(0)
}

// close frees the file. It may be called several times.
func (s *spill) close() {
	if s.file != nil {
		_ = s.file.Close() // its bytes are not needed any more
		s.file, s.buffer = nil, nil
	}
}

func closeSpills(all []*spill) {
	for _, s := range all {
		s.close()
	}
}
