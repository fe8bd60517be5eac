package cloud

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// site is a generated site: a start page, sections, and the pages of each section. Each page has a word of its own, by
// which a query finds it alone.
type site struct {
	origin string
	pages  map[string]string // text of each page by its path
	words  map[string]string // the word of each page by its path

	mu    sync.Mutex     // protects what follows
	asked map[string]int // number of requests of each page by its path
	left  int            // number of requests that are answered before the site hangs
	hangs chan struct{}  // is closed when the site hangs: it answers no request until resume is called
}

// hangAfter makes the site answer this number of requests and then hang, so that no crawl can end. The result is
// closed when it hangs.
func (s *site) hangAfter(requests int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.hangs = requests, make(chan struct{})
	return s.hangs
}

// resume makes the site answer new requests again.
func (s *site) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangs = nil
}

// requests returns the number of all requests of pages.
func (s *site) requests() (sum int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, times := range s.asked {
		sum += times
	}
	return sum
}

// ask counts a request of a page, and reports whether it is answered.
func (s *site) ask(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[path]++
	if s.hangs == nil {
		return true
	}
	if s.left--; s.left == -1 {
		close(s.hangs)
	}
	return s.left >= 0
}

// articles is the number of pages in a section.
const articles = 30

// serveSite serves a site until the test ends. Each page has this number of paragraphs, of 300 bytes each.
func serveSite(t testing.TB, sections, paragraphs int) *site {
	t.Helper()
	s := &site{pages: make(map[string]string), words: make(map[string]string), asked: make(map[string]int)}
	random := rand.New(rand.NewPCG(1, 2))
	var front []string
	for i := range sections {
		section := fmt.Sprintf("/%d/", i)
		front = append(front, section)
		var own []string
		for j := range articles {
			path := fmt.Sprintf("%s%d.html", section, j)
			own = append(own, path)
			s.add(random, paragraphs, path, "/", section)
		}
		s.add(random, paragraphs, section, append(own, "/")...)
	}
	s.add(random, paragraphs, "/", front...)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.origin = server.URL
	return s
}

// add adds a page with links to other pages.
func (s *site) add(random *rand.Rand, paragraphs int, path string, links ...string) {
	s.words[path] = "word" + letters(len(s.words)) + "k"
	var text strings.Builder
	fmt.Fprintf(&text, "<html lang=en><title>Page %s</title><h1>%s</h1>", path, s.words[path])
	for range paragraphs {
		text.WriteString("<p>")
		for range 40 {
			fmt.Fprintf(&text, "text%sk ", letters(int(random.ExpFloat64()*300)))
		}
	}
	for _, link := range links {
		fmt.Fprintf(&text, "<p><a href=%q>To %s</a>", link, link)
	}
	s.pages[path] = text.String()
}

// letters returns a number written with the letters a to j in place of digits.
func letters(n int) string {
	return strings.Map(func(digit rune) rune { return digit - '0' + 'a' }, fmt.Sprint(n))
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, found := s.pages[r.URL.Path]
	if !found {
		http.NotFound(w, r)
		return
	}
	if !s.ask(r.URL.Path) {
		<-r.Context().Done() // until the client gives up
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, text)
}
