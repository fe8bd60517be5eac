// Command colly crawls one host with the crawler colly, to measure it in benchmarks: colly
// SEED. It prints the number of fetched pages.
package main

import (
	"fmt"
	"log"
	"net/url"
	"os"
	"strings"
	"sync/atomic"

	"github.com/gocolly/colly/v2"
)

func main() {
	seed, err := url.Parse(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	c := colly.NewCollector(colly.AllowedDomains(seed.Hostname()), colly.Async(true), colly.MaxBodySize(16<<20))
	if err := c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: 8}); err != nil {
		log.Fatal(err)
	}
	var pages, bytes atomic.Int64
	c.OnHTML("a[href]", func(e *colly.HTMLElement) {
		page, _, _ := strings.Cut(e.Request.AbsoluteURL(e.Attr("href")), "#") // colly would fetch a page once for each fragment
		_ = e.Request.Visit(page)                                             // fails for known pages and for other hosts
	})
	c.OnResponse(func(r *colly.Response) {
		if strings.Contains(r.Headers.Get("Content-Type"), "text/") {
			pages.Add(1)
			bytes.Add(int64(len(r.Body)))
		}
	})
	if err := c.Visit(seed.String()); err != nil {
		log.Fatal(err)
	}
	c.Wait()
	fmt.Println(pages.Load(), "pages", bytes.Load(), "bytes")
}
