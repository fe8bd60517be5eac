package address_test

import (
	"fmt"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Spellings of one address have one canonical form, and so one identity.
func ExampleParse() {
	for _, raw := range []string{"HTTP://Example.ORG:80/a/../b?q=1#top", "http://example.org/b?q=1", "http://bücher.example/"} {
		a, err := address.Parse(raw)
		fmt.Println(a.URL, a.Site, err)
	}
	_, err := address.Parse("ftp://example.org/")
	fmt.Println(err)
	// Output:
	// http://example.org/b?q=1 example.org <nil>
	// http://example.org/b?q=1 example.org <nil>
	// http://xn--bcher-kva.example/ xn--bcher-kva.example <nil>
	// address "ftp://example.org/": scheme is neither http nor https
}

// A link of a page is resolved against the page's address.
func ExampleAddress_Resolve() {
	page, err := address.Parse("https://example.org/docs/intro.html")
	if err != nil {
		fmt.Println(err)
		return
	}
	link, err := page.Resolve("../about?lang=en#team")
	fmt.Println(link.URL, err)
	// Output: https://example.org/about?lang=en <nil>
}

// Parameters of trackers and session ids are dropped by a Cleaner, after parsing.
func ExampleCleaner() {
	page, err := address.Parse("http://example.org/a?utm_source=mail&id=3")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(address.DefaultCleaner().Clean(page).URL)
	// Output: http://example.org/a?id=3
}
