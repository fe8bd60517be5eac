package webobject_test

import (
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// Pages are compressed one by one and joined to a package, from which each can be read by
// its place.
func Example() {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	compressor := webobject.NewCompressor(webobject.DefaultLevel)
	pkg := webobject.Package{Base: webobject.ExpiryBase, Exponent: 3, Created: noon, Expires: noon.Add(webobject.Lifetime(3))}
	for _, url := range []string{"http://example.org/", "http://example.org/about"} {
		run, err := compressor.Compress(webobject.Object{
			URL: url, MIME: "text/html", Data: []byte("<title>" + url + "</title>"),
			Status: 200, Downloaded: noon, Expires: pkg.Expires,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		pkg.Runs = append(pkg.Runs, run)
	}
	content, _, err := pkg.Build()
	if err != nil {
		fmt.Println(err)
		return
	}

	reader, err := webobject.Open(content)
	if err != nil {
		fmt.Println(err)
		return
	}
	for page, err := range reader.Objects() {
		fmt.Println(page.URL, page.Status, string(page.Data), err)
	}
	// Output:
	// http://example.org/ 200 <title>http://example.org/</title> <nil>
	// http://example.org/about 200 <title>http://example.org/about</title> <nil>
}
