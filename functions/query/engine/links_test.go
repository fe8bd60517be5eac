package engine

import "testing"

// FuzzReadTarget checks that a target of links that can be read has pages or a host, and ranges of the hash space that
// have them.
func FuzzReadTarget(f *testing.F) {
	for _, text := range []string{"https://example.org/a#b", "example.org/", "example.org", "127.0.0.1:8080/a", "[::1]", "a b", "", "/", "ftp://a/", "://", "xn--/"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		target, is := readTarget(text)
		if !is {
			return
		}
		if (target.host == "") == (len(target.pages) == 0) {
			t.Fatalf("%q: host %q and pages %v", text, target.host, target.pages)
		}
		ranges := target.ranges()
		for i, a := range target.pages {
			if !ranges[i].Contains(a.Place) {
				t.Errorf("%q: %v is not in %v", text, a, ranges[i])
			}
		}
		if len(ranges) == 0 {
			t.Errorf("%q has no ranges", text)
		}
	})
}
