package numbered

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Limits of the hint in bytes.
const (
	maxContents = 16 << 20 // of all contents together; other contents are left out
	maxHint     = 64 << 20 // of the object; a larger one counts as damaged
	hintTail    = 64       // of the end of the object in which its sum lies (see layout.Seal)
)

// listing is the hint: all versions of all published documents, in the order in which a LIST of
// each prefix of layout.Published finds them.
type listing struct {
	Versions []listed `json:"versions"`
}

// listed is one version in the hint.
type listed struct {
	Key     string `json:"key"`
	Size    int64  `json:"size"`              // in bytes
	Content string `json:"content,omitempty"` // the bytes of the version; "": readers get them from its own object
}

// Refresh writes the hint of the settings again, unless it names exactly the versions that are stored. All
// methods that publish call it after they have stored a version. It takes a GET of the hint, a LIST of
// each prefix, and a GET of each new version whose content belongs into the hint. If it writes the hint, it
// lists once more: another publisher may have stored a version meanwhile, and written its hint before this
// one.
func Refresh(ctx context.Context, bucket blob.Bucket) error {
	content, err := bucket.Get(ctx, layout.SettingsHint, blob.Range{Length: maxHint})
	if err != nil && !errors.Is(err, blob.ErrAbsent) && !errors.Is(err, blob.ErrRange) {
		return fmt.Errorf("cannot read %s: %w", layout.SettingsHint, err)
	}
	known, _ := decodeListing(content) // an absent or damaged hint is made anew
	for range maxRaces {
		next, err := list(ctx, bucket, known)
		if err != nil || slices.Equal(next.Versions, known.Versions) {
			return err
		}
		content, err := json.Marshal(next)
		if err == nil {
			err = bucket.Replace(ctx, layout.SettingsHint, layout.Seal(content))
		}
		if err != nil {
			return fmt.Errorf("cannot write %s: %w", layout.SettingsHint, err)
		}
		known = next
	}
	return fmt.Errorf("cannot write %s: others have published %d times meanwhile", layout.SettingsHint, maxRaces)
}

// list lists all versions, and adds the contents that readers of settings need. A content that known has
// is not read again.
func list(ctx context.Context, bucket blob.Reader, known listing) (next listing, err error) {
	read := make(map[string]listed, len(known.Versions))
	for _, v := range known.Versions {
		read[v.Key] = v
	}
	room := int64(maxContents)
	for _, prefix := range layout.Published {
		objects, err := blob.List(ctx, bucket, prefix)
		if err != nil {
			return next, err
		}
		objects = slices.DeleteFunc(objects, func(o blob.Object) bool { return layout.IsForeign(o.Key) })
		versions := make([]listed, len(objects))
		for i, object := range slices.Backward(objects) {
			v := listed{Key: object.Key, Size: object.Size}
			if isNewest := i+1 == len(objects) || path.Dir(objects[i+1].Key) != path.Dir(v.Key); isRead(v.Key, isNewest) && v.Size <= room {
				room -= v.Size
				if was := read[v.Key]; was.Size == v.Size && was.Content != "" {
					v = was
				} else if v.Content, err = wholeContent(ctx, bucket, object); err != nil {
					return next, err
				}
			}
			versions[i] = v
		}
		next.Versions = append(next.Versions, versions...)
	}
	return next, nil
}

// isRead reports whether readers of settings read this version: the newest of a document, and all of a
// strategy. The curation is not one of the settings.
func isRead(key string, isNewest bool) bool {
	return strings.HasPrefix(key, layout.Strategies) || isNewest && !strings.HasPrefix(key, layout.Curations)
}

// wholeContent returns the bytes of a version; "" if they are damaged, or not sealed. Such a version is read from
// its own object, which tells of the damage.
func wholeContent(ctx context.Context, bucket blob.Reader, object blob.Object) (string, error) {
	content, found, err := blob.Find(ctx, bucket, object.Key)
	if err != nil || !found {
		return "", err
	}
	if _, sealed, err := layout.Unseal(content); err != nil || !sealed || int64(len(content)) != object.Size || !utf8.Valid(content) {
		return "", nil
	}
	return string(content), nil
}

func decodeListing(content []byte) (l listing, err error) {
	object, sealed, err := layout.Unseal(content)
	if err == nil && !sealed {
		err = layout.ErrSum
	}
	if err != nil {
		return l, err
	}
	return l, json.Unmarshal(object, &l)
}

// Hint reads the hint of the settings repeatedly, from one bucket. The zero value is ready to use. A Hint is
// safe for concurrent use.
type Hint struct {
	mu   sync.Mutex // protects the fields below
	tail []byte     // last bytes of the hint that was read last; nil if there was none
	last *hinted    // result for that hint
}

// Reader returns a reader of the bucket that answers from the hint what readers of settings ask: a LIST of
// published documents, and a GET of a version whose content is in the hint. The call is one GET: of the whole
// hint, or of its last bytes if they show that it has not changed since the last call. If it has
// changed, they are two.
//
// If there is no hint, the result is nil. If the hint is damaged, the result is nil, and the error wraps
// ErrDamaged.
func (h *Hint) Reader(ctx context.Context, bucket blob.Reader) (blob.Reader, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tail != nil {
		if tail, err := bucket.Get(ctx, layout.SettingsHint, blob.Range{Offset: -hintTail}); err == nil && bytes.Equal(tail, h.tail) {
			return h.last, nil
		}
	}
	h.tail = nil
	content, err := bucket.Get(ctx, layout.SettingsHint, blob.Range{Length: maxHint})
	switch {
	case errors.Is(err, blob.ErrAbsent):
		return nil, nil
	case err != nil && !errors.Is(err, blob.ErrRange): // of an empty object
		return nil, fmt.Errorf("cannot read %s: %w", layout.SettingsHint, err)
	}
	all, err := decodeListing(content)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read (%w), and settings are listed; the sweep writes it again: %w", layout.SettingsHint, err, ErrDamaged)
	}
	h.last = &hinted{Reader: bucket, versions: all.Versions, contents: make(map[string]string)}
	for _, v := range all.Versions {
		if v.Content != "" {
			h.last.contents[v.Key] = v.Content
		}
	}
	h.tail = bytes.Clone(content[max(0, len(content)-hintTail):])
	return h.last, nil
}

// hinted is a bucket of which the hint is read.
type hinted struct {
	blob.Reader
	versions []listed
	contents map[string]string // by key; none for a version that is read from its own object
}

// Get returns the content of an object.
func (h *hinted) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	if content, found := h.contents[key]; found && r == (blob.Range{}) {
		return []byte(content), nil
	}
	return h.Reader.Get(ctx, key, r)
}

// List lists objects. The prefix of published documents is answered from the hint.
func (h *hinted) List(ctx context.Context, prefix, startAfter string) iter.Seq2[blob.Object, error] {
	if !slices.ContainsFunc(layout.Published, func(published string) bool { return strings.HasPrefix(prefix, published) }) {
		return h.Reader.List(ctx, prefix, startAfter)
	}
	return func(yield func(blob.Object, error) bool) {
		for _, v := range h.versions {
			if strings.HasPrefix(v.Key, prefix) && v.Key > startAfter && !yield(blob.Object{Key: v.Key, Size: v.Size}, nil) {
				return
			}
		}
	}
}
