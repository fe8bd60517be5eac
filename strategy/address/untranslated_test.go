package address

import "testing"

func TestUntranslated(t *testing.T) {
	for _, c := range []struct {
		url, language, rest string
		named               bool
	}{
		{"https://a.org/de/install.html", "de", "https:/a/org/install/html", true},
		{"https://a.org/DE-at/install", "de", "https:/a/org/install", true},
		{"https://a.org/pt_BR/install", "pt", "https:/a/org/install", true},
		{"https://a.org/install.de-AT.html", "de", "https:/a/org/install/html", true},
		{"https://de.a.org/install", "de", "https:/a/org/install", true},
		{"https://a.org/install?lang=de&v=2", "de", "https:/a/org/install/lang/v/2", true},
		{"https://a.org/install.html", "en", "https:/a/org/install/html", false},
		{"https://a.org/de/install.html", "en", "https:/a/org/de/install/html", false},
		{"https://a.org/depot/", "de", "https:/a/org/depot", false},
		{"https://a.org/install", "", "https:/a/org/install", false},
	} {
		if rest, named := Untranslated(c.url, c.language); rest != c.rest || named != c.named {
			t.Errorf("Untranslated(%q, %q) = %q, %t, want %q, %t", c.url, c.language, rest, named, c.rest, c.named)
		}
	}
}
