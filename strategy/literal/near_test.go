package literal

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"scope", "depth", "delay", "pages", "host_pages"}
	for word, want := range map[string]string{
		"scop": "scope", "dept": "depth", "deley": "delay", "host-pages": "host_pages", "hostpages": "host_pages",
		"scope": "scope", "colour": "", "": "", "x": "", "de": "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q is near %q, want %q", word, got, want)
		}
	}
}
