package office

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// archive reads the members of a zip under caps.
type archive struct {
	members map[string]*zip.File
	left    int64 // bytes that may still be decoded
}

func open(data []byte) (*archive, error) {
	// Before the directory is read, which takes ten times its size.
	if n := bytes.Count(data, []byte("PK\x01\x02")); n > MaxMembers {
		return nil, fmt.Errorf("zip of %d members, want at most %d", n, MaxMembers)
	}
	reader, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	a := &archive{members: make(map[string]*zip.File, len(reader.File)), left: MaxTotal}
	for _, f := range reader.File {
		if _, found := a.members[f.Name]; !found {
			a.members[f.Name] = f
		}
	}
	return a, nil
}

// read returns a member, decoded, cut to MaxMember and to what is left of
// MaxTotal; nothing for one that is missing. Of a damaged member it returns
// what comes before the damage.
func (a *archive) read(name string) []byte {
	f, found := a.members[name]
	if !found || a.left <= 0 {
		return nil
	}
	r, err := f.Open()
	if err != nil {
		return nil
	}
	defer r.Close()
	content, _ := io.ReadAll(io.LimitReader(r, min(MaxMember, a.left)))
	a.left -= int64(len(content))
	return bytes.TrimPrefix(content, []byte("\xEF\xBB\xBF"))
}

// resolve returns the member that a reference within another means.
func resolve(from, reference string) string {
	reference, _, _ = strings.Cut(reference, "#")
	if rooted, is := strings.CutPrefix(reference, "/"); is {
		return path.Clean(rooted)
	}
	return path.Join(path.Dir(from), reference)
}
