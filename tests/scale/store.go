package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// store is a blob.Bucket that keeps the content of all objects in one file, one after another. So the bytes of
// the bucket do not count as memory of the functions that are measured. The space of deleted objects is not
// used again. It is safe for concurrent use.
type store struct {
	file *os.File
	now  func() time.Time

	mu      sync.RWMutex // protects the fields below
	objects map[string]extent
	end     int64 // offset in the file at which the next object is written
}

// extent is the place of an object in the file of a store.
type extent struct {
	Offset, Size int64
	Modified     time.Time
}

// newStore returns an empty store. Its file is in the given directory, and has no name there: it is gone after
// Close, or when the process ends.
func newStore(dir string, now func() time.Time) (*store, error) {
	file, err := os.CreateTemp(dir, "bucket-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, err
	}
	return &store{file: file, now: now, objects: make(map[string]extent)}, nil
}

// save copies all objects into two new files: their content into the one with the given name, and their keys and
// places into one whose name ends with .json besides. The second is written last: without it, openStore finds
// nothing.
func (s *store) save(name string) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	kept := &store{file: file, objects: make(map[string]extent)}
	defer kept.Close() //nolint:errcheck // Sync has reported what can go wrong
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		at := s.objects[key]
		content := make([]byte, at.Size)
		if _, err := s.file.ReadAt(content, at.Offset); err != nil {
			return err
		}
		if err := kept.write(key, content, at.Modified); err != nil {
			return err
		}
	}
	places, err := json.Marshal(kept.objects)
	if err == nil {
		err = errors.Join(file.Sync(), os.WriteFile(name+".new", places, 0o644))
	}
	if err != nil {
		return err
	}
	return os.Rename(name+".new", name+".json")
}

// openStore opens a store that save has written; found is false if there is none.
func openStore(name string, now func() time.Time) (s *store, found bool, err error) {
	places, err := os.ReadFile(name + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	s = &store{now: now}
	if err == nil {
		err = json.Unmarshal(places, &s.objects)
	}
	if err == nil {
		s.file, err = os.Open(name)
	}
	return s, err == nil, err
}

func (s *store) Close() error { return s.file.Close() }

func (s *store) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	at, err := s.find(ctx, key)
	var from, to int64
	if err == nil {
		from, to, err = r.Within(at.Size)
	}
	content := make([]byte, to-from)
	if err == nil {
		_, err = s.file.ReadAt(content, at.Offset+from)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get %s: %w", key, err)
	}
	return content, nil
}

func (s *store) Head(ctx context.Context, key string) (int64, error) {
	at, err := s.find(ctx, key)
	if err != nil {
		return 0, fmt.Errorf("cannot head %s: %w", key, err)
	}
	return at.Size, nil
}

func (s *store) find(ctx context.Context, key string) (extent, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at, found := s.objects[key]
	switch {
	case ctx.Err() != nil:
		return extent{}, ctx.Err()
	case !found:
		return extent{}, blob.ErrAbsent
	}
	return at, nil
}

// List yields the objects that exist when the listing begins.
func (s *store) List(ctx context.Context, prefix, startAfter string) iter.Seq2[blob.Object, error] {
	return func(yield func(blob.Object, error) bool) {
		for _, object := range s.listed(prefix, startAfter) {
			if ctx.Err() != nil {
				break
			}
			if !yield(object, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(blob.Object{}, fmt.Errorf("cannot list %s: %w", prefix, err))
		}
	}
}

func (s *store) listed(prefix, startAfter string) (objects []blob.Object) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for key, at := range s.objects {
		if strings.HasPrefix(key, prefix) && key > startAfter {
			objects = append(objects, blob.Object{Key: key, Size: at.Size, Modified: at.Modified})
		}
	}
	slices.SortFunc(objects, func(a, b blob.Object) int { return strings.Compare(a.Key, b.Key) })
	return objects
}

func (s *store) Create(ctx context.Context, key string, content []byte) error {
	return s.change(ctx, "create", key, func() error {
		if _, found := s.objects[key]; found {
			return blob.ErrExists
		}
		return s.write(key, content, s.now())
	})
}

func (s *store) Replace(ctx context.Context, key string, content []byte) error {
	return s.change(ctx, "replace", key, func() error { return s.write(key, content, s.now()) })
}

func (s *store) Delete(ctx context.Context, key string) error {
	return s.change(ctx, "delete", key, func() error {
		delete(s.objects, key)
		return nil
	})
}

// change calls the function do while s.mu is locked, unless ctx has ended. The parameters op and key are for
// the text of errors.
func (s *store) change(ctx context.Context, op, key string, do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := ctx.Err()
	if err == nil {
		err = do()
	}
	if err != nil {
		return fmt.Errorf("cannot %s %s: %w", op, key, err)
	}
	return nil
}

// write appends an object to the file. s.mu must be locked.
func (s *store) write(key string, content []byte, modified time.Time) error {
	if _, err := s.file.WriteAt(content, s.end); err != nil {
		return err
	}
	s.objects[key] = extent{s.end, int64(len(content)), modified}
	s.end += int64(len(content))
	return nil
}
