package analysis

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/versions.txt")

// TestOutputChangesWithTheVersion compares the analyzers with the golden file. For each language
// the file has the version of the analyzer and the hash of the terms that it makes of the fixtures.
// If a hash changes, raise the version of the language, or the constant common if all languages
// change. Then run the test with -update.
func TestOutputChangesWithTheVersion(t *testing.T) {
	const golden = "testdata/versions.txt"
	var got strings.Builder
	for _, name := range sorted(table) {
		fmt.Fprintf(&got, "%q %d %s\n", name, Version(name), outputHash(name))
	}
	data, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	if *update {
		if err := mayReplace(string(data), got.String()); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(data), got.String()); diff != "" {
		t.Errorf("output changed: raise the version (-golden +got):\n%s", diff)
	}
}

// mayReplace compares the old and the new content of the golden file. Each line of the file has a
// language, the version of its analyzer and a hash of the analyzer's output. mayReplace returns an
// error if the hash of a language has changed and the version in the same line was not raised.
func mayReplace(before, after string) error {
	type line struct {
		version uint32
		hash    string
	}
	lines := map[string]line{}
	for text := range strings.Lines(before) {
		var name string
		var l line
		if _, err := fmt.Sscanf(text, "%q %d %s", &name, &l.version, &l.hash); err != nil {
			return fmt.Errorf("cannot read the golden line %q: %w", text, err)
		}
		lines[name] = l
	}
	for text := range strings.Lines(after) {
		var name string
		var l line
		if _, err := fmt.Sscanf(text, "%q %d %s", &name, &l.version, &l.hash); err != nil {
			return err
		}
		if old, known := lines[name]; known && l.hash != old.hash && l.version <= old.version {
			return fmt.Errorf("the output of %q changed under version %d: raise it", name, l.version)
		}
	}
	return nil
}

func TestMayReplace(t *testing.T) {
	tests := []struct {
		before, after string
		ok            bool
	}{
		{"", "\"en\" 1 aa\n", true},
		{"\"en\" 1 aa\n", "\"en\" 1 aa\n", true},
		{"\"en\" 1 aa\n", "\"en\" 2 bb\n", true},
		{"\"en\" 1 aa\n", "\"en\" 1 bb\n", false},
		{"\"en\" 2 aa\n", "\"en\" 1 bb\n", false},
	}
	for _, test := range tests {
		if err := mayReplace(test.before, test.after); (err == nil) != test.ok {
			t.Errorf("%q to %q: %v", test.before, test.after, err)
		}
	}
}

// outputHash returns the hash of the output of a language's analyzer for all fixtures.
func outputHash(name string) string {
	hash := sha256.New()
	a := For(name)
	for _, of := range sorted(fixtures) {
		n := a.Each(fixtures[of], func(o Occurrence) bool {
			fmt.Fprintf(hash, "{Term:%s First:%s Word:%s Position:%d Start:%d End:%d Half:%d Capitals:%t}\n", o.Term, o.First, o.Word, o.Position, o.Start, o.End, o.Half, o.Capitals)
			return true
		})
		fmt.Fprintln(hash, n)
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:16])
}

func TestVersion(t *testing.T) {
	for name := range table {
		if Version(name) == 0 {
			t.Errorf("%q has no version", name)
		}
	}
	if Version("xx") != Version("") {
		t.Errorf("unknown languages have version %d, want %d", Version("xx"), Version(""))
	}
}
