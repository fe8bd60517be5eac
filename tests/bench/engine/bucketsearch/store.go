package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// store is a bucket for searches in the segments of a directory. It delays each read, as a distant
// store would.
type store struct {
	blob.Bucket // nil, because only Get is called, and store implements Get itself
	root        string
	delay       time.Duration
}

// Get implements blob.Bucket.
func (s store) Get(_ context.Context, key string, r blob.Range) ([]byte, error) {
	time.Sleep(s.delay)
	file, err := os.Open(filepath.Join(s.root, key))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	from, to, err := r.Within(info.Size())
	if err != nil {
		return nil, err
	}
	content := make([]byte, to-from)
	_, err = file.ReadAt(content, from)
	return content, err
}

// put writes a segment to a folder. The file's name contains the size of the segment's tail, its
// last part (see segment.TailOf). In a real bucket, the manifest holds this size.
func put(root string, number int, content []byte) error {
	tail, err := segment.TailOf(content)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, fmt.Sprintf("%04d-%d.seg", number, tail)), content, 0o644)
}

// list returns the segments of a directory in the order of their numbers.
func list(root string) (refs []segment.Ref, err error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return nil, err
		}
		r := segment.Ref{Key: entry.Name(), Bytes: info.Size()}
		var number int
		if _, err := fmt.Sscanf(r.Key, "%d-%d.seg", &number, &r.Tail); err != nil {
			return nil, fmt.Errorf("%s is no segment: %w", r.Key, err)
		}
		refs = append(refs, r)
	}
	return refs, nil
}

// open opens all segments, concurrently, and returns an index for searches in them.
func open(ctx context.Context, source segment.Source, refs []segment.Ref) (*search.Index, error) {
	parts := make([]search.Part, len(refs))
	fork := meter.NewFork(ctx)
	var group errgroup.Group
	for i, ref := range refs {
		group.Go(func() (err error) {
			parts[i].Segment, err = segment.Open(fork.Branch(), source, ref)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return search.New(parts, search.NewMemory(documents))
}

// Sizes of caches, in bytes.
const (
	documents = 32 << 20  // size of the cache with the documents of hits
	ranges    = 480 << 20 // size of the cache with ranges that were read from the store
)
