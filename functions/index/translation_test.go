package index

import (
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// TestTranslationOf checks the hash by which pages that are translations of each other are
// recognised. Such pages must have the same hash, and all other pages different ones.
func TestTranslationOf(t *testing.T) {
	const links = `<link rel=alternate hreflang=de href="/weg/start"><link rel="alternate" hreflang=en href="http://a.example/way/home">
		<link rel=alternate hreflang=x-default href="//a.example/"><link rel=alternate type="application/rss+xml" href=/feed><link rel=next hreflang=de href=/two>`
	hash := func(url, language, markup string) uint64 {
		a, err := address.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		return translationOf(a, language, document.Parse([]byte("<html><head>"+markup)).Translations(a))
	}
	for name, c := range map[string]struct {
		a, b uint64
		same bool
	}{
		"they name each other":              {hash("http://a.example/weg/start", "de", links), hash("http://a.example/way/home", "en", links), true},
		"the default is named, too":         {hash("http://a.example/", "en", links), hash("http://a.example/way/home", "en", links), true},
		"the base of references is another": {hash("http://a.example/weg/start", "de", links), hash("http://b.example/", "en", "<base href=http://a.example/>"+links), true},
		"alike addresses":                   {hash("http://a.example/de/x.html", "de", ""), hash("http://a.example/fr/x.html", "fr", ""), true},
		"one address without a language":    {hash("http://a.example/de/x.html", "de", ""), hash("http://a.example/x.html", "en", ""), true},
		"not translated yet":                {hash("http://a.example/de/x.html", "en", ""), hash("http://a.example/x.html", "en", ""), false},
		"other pages":                       {hash("http://a.example/de/x.html", "de", ""), hash("http://a.example/fr/y.html", "fr", ""), false},
		"only one names the other":          {hash("http://a.example/weg/start", "de", links), hash("http://a.example/way/home", "en", ""), false},
	} {
		if (c.a == c.b) != c.same || c.a == 0 {
			t.Errorf("%s: hashes %x and %x", name, c.a, c.b)
		}
	}
}
