package simulation

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// generate returns the large site, which is always the same.
func generate() *site {
	s := &site{
		queries:      []string{"gull", "grey heron", `"grey heron"`, "curlew avocet knot", "notes", "private"},
		delay:        10 * time.Second, // makes batches small, and so there are many
		packageBytes: 6000,
		robots:       "User-agent: *\nDisallow: /private/\nCrawl-delay: 12\n",
		pages:        map[string]page{},

		forgottenURLs:  []string{"http://three.example/page/9", "http://two.example/away"}, // no other page is found only by these
		forgottenSites: []string{"four.example"},
	}
	random := rand.New(rand.NewPCG(1, 2))
	for host := range hosts {
		s.seeds = append(s.seeds, "http://"+hostName(host)+"/")
		for n := range pagesOfHost {
			s.pages[hostName(host)+pagePath(n)] = page{words: sentence(random), links: linksOf(random, host, n)}
		}
		for path, p := range map[string]page{
			"/moved":     {to: pagePath(3)},
			"/circle":    {to: "/round"},
			"/round":     {to: "/circle"},
			"/away":      {to: "http://elsewhere.example/"},
			"/broken":    {words: "no", status: 500},
			"/forbidden": {words: "no", status: 403},
			"/private/x": {words: "private page"},
			"/notes.txt": {words: fmt.Sprintf("notes %d on every gull", host), media: "text/plain; charset=utf-8"},
			"/image.png": {words: "\x89PNG\r\n\x1a\n", media: "image/png"},
		} {
			s.pages[hostName(host)+path] = p
		}
	}
	return s
}

const (
	hosts       = 4
	pagesOfHost = 10
)

func hostName(host int) string { return []string{"one", "two", "three", "four"}[host] + ".example" }

func pagePath(n int) string {
	if n == 0 {
		return "/"
	}
	return fmt.Sprintf("/page/%d", n)
}

// linksOf returns the links of page n of a host; page 0 is the front page. A page links to up to
// three child pages, as in a tree, and to two random pages. Page 1 also links to all other URLs of
// the host, such as redirects and images.
func linksOf(random *rand.Rand, host, n int) []string {
	links := []string{pagePath(random.IntN(pagesOfHost)), "http://" + hostName(random.IntN(hosts)) + pagePath(random.IntN(pagesOfHost))}
	for _, child := range []int{3*n + 1, 3*n + 2, 3*n + 3} {
		if child < pagesOfHost {
			links = append(links, pagePath(child))
		}
	}
	if n == 1 {
		links = append(links, "/moved", "/circle", "/away", "/broken", "/forbidden", "/private/x", "/notes.txt", "/image.png", "/gone")
	}
	return links
}

func sentence(random *rand.Rand) string {
	var chosen []string
	for range 8 + random.IntN(30) {
		chosen = append(chosen, words[random.IntN(len(words))])
	}
	return strings.Join(chosen, " ")
}
