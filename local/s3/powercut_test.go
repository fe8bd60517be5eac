package s3

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/versity/versitygw/backend/meta"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// journal is the name of an environment variable. Its value is the path of the journal, the
// file to which a recorder writes everything that is synced.
const journal = "BUCKETSEARCH_TEST_JOURNAL"

// record is one line of the journal: the content of a file or folder when it was synced. After a
// simulated power cut, the disk has only the contents in the journal. A folder's content is only
// the names of its files. So if a folder was synced but a file in it was not, the file is there
// after the cut, but empty. POSIX does not promise more.
type record struct {
	Inode   uint64            `json:"inode"`
	Content []byte            `json:"content,omitempty"` // content of a file
	Etag    []byte            `json:"etag,omitempty"`
	Folder  map[string]uint64 `json:"folder,omitempty"` // files in a folder: names → inodes
}

// recorder simulates a disk whose power may be cut after any sync. Instead of syncing a file or
// folder, it writes the content to a journal, which shows what is on the disk after each sync.
type recorder struct {
	mu   sync.Mutex // protects the fields below
	out  *os.File
	held map[uint64]bool // inodes that are kept open, so that no other file gets their number
}

func (r *recorder) sync(file *os.File) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	entry := record{Inode: inode(info)}
	if !r.held[entry.Inode] {
		if _, err := syscall.Dup(int(file.Fd())); err != nil {
			return err
		}
		r.held[entry.Inode] = true
	}
	if info.IsDir() {
		if entry.Folder, err = filesIn(file.Name(), info); err != nil {
			return err
		}
	} else {
		if entry.Content, err = io.ReadAll(io.NewSectionReader(file, 0, info.Size())); err != nil {
			return err
		}
		entry.Etag, _ = meta.XattrMeta{}.RetrieveAttribute(file, "", "", etag)
	}
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	_, err = r.out.Write(append(line, '\n'))
	return err
}

// filesIn returns the inode of each file in a folder, by the name of the file. The caller has
// opened the folder at the path, and info describes the folder that it opened. If the path now leads
// nowhere or to another folder, the opened one was deleted, and filesIn returns no files.
func filesIn(path string, info fs.FileInfo) (files map[string]uint64, err error) {
	files = make(map[string]uint64)
	inside, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, one := range inside {
		if info, err := one.Info(); err == nil {
			files[one.Name()] = inode(info)
		}
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(now, info) {
		clear(files)
	}
	return files, nil
}

func inode(info fs.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }

// recording is the program of a child process. It runs the server, but the server calls a recorder
// where it would sync a file or folder to disk.
func recording(in io.Reader, out io.Writer) error {
	file, err := os.OpenFile(os.Getenv(journal), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return attend(in, out, (&recorder{out: file, held: make(map[uint64]bool)}).sync)
}

// step is one operation on an object. The journal is the file to which each sync is appended. The
// length of the journal serves as the clock, so that syncs and operations can be put in order. The
// field began is the length in bytes when the operation began. The field answered is the length
// when the store had answered.
type step struct {
	key      string
	began    int64
	answered int64
	content  []byte // content of the object after the step; nil: it is deleted
}

// allowed reports whether an object may have the given content after a power cut; nil means that
// the object is absent. The steps are all operations on the object. The moment of the power cut is
// given as the length in bytes that the journal (the file to which each sync is appended) had then.
func allowed(steps []step, cut int64, body []byte) bool {
	certain := int64(-1) // length of the journal at the beginning of the last step that must be on disk
	for _, s := range steps {
		if s.answered <= cut {
			certain = max(certain, s.began)
		}
	}
	if certain < 0 && body == nil {
		return true
	}
	for _, s := range steps {
		if s.began <= cut && s.answered > certain && bytes.Equal(s.content, body) && (s.content == nil) == (body == nil) {
			return true
		}
	}
	return false
}

// image is the content of a disk after a power cut, by inode.
type image map[uint64]record

// walk visits all files below a folder.
func (i image) walk(at uint64, path string, visit func(path string, file record)) {
	for name, number := range i[at].Folder {
		child := filepath.Join(path, name)
		if entry, synced := i[number]; synced && entry.Folder != nil {
			i.walk(number, child, visit)
		} else if !strings.HasPrefix(child, ".sgwtmp") {
			visit(child, entry)
		}
	}
}

// The power is cut after each sync in turn. If the store had answered that an object is stored,
// exists or is deleted, this must be true after the power cut. Every object that is there must
// be whole.
func TestPowerCut(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	command := self(t, "recording")
	command.Env = append(command.Env, journal+"="+file)
	server, err := Start(t.Context(), command, options(filepath.Join(dir, "new", "s3")), Events{Stored: ignore})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	history := work(t, open(t, server.Endpoint), func() int64 {
		info, err := os.Stat(file)
		if err != nil {
			t.Error(err)
		}
		return info.Size()
	})
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	root, files, cut, cuts := inode(info), image{}, int64(0), 0
	for line := range bytes.Lines(written) {
		var entry record
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatal(err)
		}
		files[entry.Inode] = entry
		cut += int64(len(line))
		cuts++
		found := make(map[string][]byte)
		files.walk(root, "", func(path string, file record) {
			if key, inBucket := strings.CutPrefix(path, "new/s3/bucket/"); inBucket && !strings.HasPrefix(key, ".sgwtmp") {
				found[key] = append([]byte{}, file.Content...)
			}
		})
		for key, steps := range history {
			if !allowed(steps, cut, found[key]) {
				t.Fatalf("power cut %d: %s has %d bytes; steps %+v, cut at %d", cuts, key, len(found[key]), short(steps), cut)
			}
		}
	}
	if cuts < 100 {
		t.Errorf("only %d syncs", cuts)
	}
	serveImage(t, files, root, history)
}

// short returns each step as a text for error messages, with the size of the object instead of its
// content.
func short(steps []step) (all []string) {
	for _, s := range steps {
		all = append(all, fmt.Sprintf("%d–%d: %d bytes", s.began, s.answered, len(s.content)))
	}
	return all
}

// work runs six workers at once, which create, replace and delete objects. A folder is made with
// its first object, and vanishes with its last one. For each object below manifests/, two workers
// try to create it. If the store says that it is busy, a worker tries again: the server may refuse an
// object while the folder for it vanishes. work returns the operations on each object, by the object's key. The
// callback must return the present length of the journal (the file that records each sync).
func work(t *testing.T, bucket blob.Bucket, at func() int64) map[string][]step {
	var (
		mu      sync.Mutex
		history = make(map[string][]step)
		group   sync.WaitGroup
	)
	do := func(key string, result []byte, operate func() error) {
		s := step{key: key, began: at(), content: result}
		err := operate()
		for errors.Is(err, blob.ErrRetryable) && t.Context().Err() == nil {
			err = operate()
		}
		if err != nil && !errors.Is(err, blob.ErrExists) {
			t.Error(err)
		}
		s.answered = at()
		mu.Lock()
		defer mu.Unlock()
		history[key] = append(history[key], s)
	}
	create := func(key string) {
		small := content(key)[:100]
		do(key, small, func() error { return bucket.Create(t.Context(), key, small) })
	}
	for worker := range 6 {
		group.Go(func() {
			for i := range 12 {
				create(fmt.Sprintf("manifests/%d/%d", worker/2, i)) // the same object as another worker
				passing := fmt.Sprintf("spool/%d/%d", worker, i)
				create(passing)
				hint, state := fmt.Sprintf("hints/%d", worker), fmt.Appendf(nil, "%d", i)
				do(hint, state, func() error { return bucket.Replace(t.Context(), hint, state) })
				do(passing, nil, func() error { return bucket.Delete(t.Context(), passing) })
			}
		})
	}
	group.Wait()
	return history
}

// serveImage writes the content of a simulated disk to a real folder, and starts a server on this
// folder. For each object on the server, it checks that the content is that of the last operation on
// the object, and that the object cannot be created again. The history lists all operations, by key.
func serveImage(t *testing.T, files image, root uint64, history map[string][]step) {
	dir := t.TempDir()
	files.walk(root, "", func(path string, file record) {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Content, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := (meta.XattrMeta{}).StoreAttribute(nil, filepath.Dir(path), filepath.Base(path), etag, file.Etag); err != nil {
			t.Fatal(err)
		}
	})
	_, bucket := start(t, filepath.Join(dir, "new", "s3"), ignore)
	objects := 0
	for object, err := range bucket.List(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		objects++
		steps := history[object.Key]
		stored, err := bucket.Get(t.Context(), object.Key, blob.Range{})
		if err != nil || len(steps) == 0 || !bytes.Equal(stored, steps[len(steps)-1].content) {
			t.Errorf("%s: %d bytes, %v", object.Key, len(stored), err)
		}
		if err := bucket.Create(t.Context(), object.Key, nil); !errors.Is(err, blob.ErrExists) {
			t.Errorf("%s is stored and can be created: %v", object.Key, err)
		}
	}
	if want := 3*12 + 6; objects != want {
		t.Errorf("%d objects, want %d", objects, want)
	}
}
