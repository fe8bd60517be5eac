package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// folder is the target of the format markdown: a folder with a Markdown file for each page that has
// text. Names of files:
//
//	https://example.org/a/b?c   example.org/a/b_c-3f2a….md (see fileName)
//	https://example.org/a/      example.org/a/index.md
type folder struct{ root string }

func (f *folder) begin(time.Time, int64) error { return os.MkdirAll(f.root, 0o755) }

// content returns the page as Markdown with a head of YAML; nil if it has no text.
func (f *folder) content(r *Record) ([]byte, error) {
	if r.Text == "" {
		return nil, nil
	}
	var b bytes.Buffer
	b.WriteString("---\n") // YAML, of which JSON's strings are a part
	for _, field := range []struct{ name, value string }{
		{"url", r.URL}, {"title", r.Title}, {"site", r.Site}, {"author", r.Author}, {"published", r.Published},
		{"modified", r.Modified}, {"fetched", r.Fetched.Format(time.RFC3339)}, {"lang", r.Lang}, {"description", r.Description},
	} {
		if field.value != "" {
			value, err := json.Marshal(field.value)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "%s: %s\n", field.name, value)
		}
	}
	b.WriteString("---\n\n" + r.structure.Markdown())
	return b.Bytes(), nil
}

func (f *folder) write(r *Record, content []byte) error {
	if content == nil {
		return nil
	}
	path := filepath.Join(f.root, filepath.FromSlash(fileName(r.URL)))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

func (f *folder) save() (int64, error) { return 0, nil }

func (f *folder) end() error { return nil }

// maxFileName is the greatest length in bytes of the name of a folder or file, not counting hash
// and suffix.
const maxFileName = 120

// fileName returns the path of the file for a URL, relative to the folder. If pathOf had to replace
// or leave out characters, the name ends with a part of the URL's hash, so that no two URLs have
// the same file.
func fileName(raw string) string {
	name, changed := pathOf(raw)
	if changed {
		name += "-" + hashOf(raw)
	}
	return name + ".md"
}

// pathOf returns a path for a URL, valid in every file system, such as example.org/a/b_c for
// https://example.org/a/b?c. The result changed is true if characters were replaced or left out, so
// that other URLs may have the same path.
func pathOf(raw string) (name string, changed bool) {
	u, err := url.Parse(raw)
	if err != nil {
		return "unnamed", true
	}
	clean := func(part string) string {
		name := strings.Map(func(r rune) rune {
			if r < ' ' || strings.ContainsRune(`<>:"/\|?*%`, r) {
				changed = true
				return '_'
			}
			return r
		}, part)
		if trimmed := strings.Trim(name, ". "); trimmed != name {
			name, changed = trimmed, true
		}
		if len(name) > maxFileName {
			name, changed = strings.ToValidUTF8(name[:maxFileName], ""), true
		}
		if name == "" {
			name = "_"
		}
		if isDevice(name) {
			name, changed = "_"+name, true
		}
		return name
	}
	parts := []string{strings.ReplaceAll(u.Host, ":", "_")}
	path := strings.Split(strings.TrimPrefix(u.Path, "/"), "/")
	for i, part := range path {
		if part == "" && i == len(path)-1 {
			part = "index"
		}
		parts = append(parts, clean(part))
	}
	last := &parts[len(parts)-1]
	if u.RawQuery != "" {
		*last, changed = clean(*last+"_"+u.RawQuery), true
	}
	return strings.Join(parts, "/"), changed
}

// isDevice reports whether Windows reserves a file name for a device, such as CON, lpt1 or con.txt.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch stem {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(stem) == 4 && (stem[:3] == "COM" || stem[:3] == "LPT") && '1' <= stem[3] && stem[3] <= '9'
}

// hashOf returns the first 12 hexadecimal digits of the SHA-256 of a string.
func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}
