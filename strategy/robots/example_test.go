package robots_test

import (
	"fmt"

	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// The longest matching rule of the crawler's own group decides (RFC 9309, 2.2).
func ExampleParse() {
	rules := robots.Parse(200, []byte(`
User-agent: bucketsearch
Disallow: /private/
Allow: /private/press/
Crawl-delay: 2
Sitemap: http://example.org/sitemap.xml
`), "bucketsearch")
	fmt.Println(rules.Allows("/a"), rules.Allows("/private/b"), rules.Allows("/private/press/c"))
	fmt.Println(rules.Delay(), rules.Sitemaps())

	absent := robots.Parse(404, nil, "bucketsearch")
	fmt.Println(absent.Allows("/private/b"))
	// Output:
	// true false true
	// 2s [http://example.org/sitemap.xml]
	// true
}

// A page may forbid crawlers to index it, and to follow its links.
func ExampleParseMeta() {
	directives := robots.ParseMeta("robots", "noindex, nofollow", "bucketsearch")
	fmt.Printf("%+v\n", directives)
	// Output: {NoIndex:true NoFollow:true}
}
