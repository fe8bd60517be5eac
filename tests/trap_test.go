package tests

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// trap answers as a host with traps for crawlers, which generate addresses without end: a
// calendar, session ids, relative links that repeat a part of the path, and words that grow
// letter by letter.
func trap(w http.ResponseWriter, r *http.Request) {
	var links []string
	var year, month int
	switch path := r.URL.Path; {
	case path == "/robots.txt":
		http.NotFound(w, r)
		return
	case path == "/":
		links = []string{"/calendar/2026/11", "/maze/0f3a9c7e5d1b2846/hall", "/loop/", "/about.html", "/words/a"}
	case strings.HasPrefix(path, "/calendar/"):
		if _, err := fmt.Sscanf(path, "/calendar/%d/%d", &year, &month); err != nil {
			http.NotFound(w, r)
			return
		}
		months := 12*year + month - 1
		for _, m := range []int{months - 1, months + 1} {
			links = append(links, fmt.Sprintf("/calendar/%d/%d", m/12, m%12+1))
		}
	case strings.HasPrefix(path, "/maze/"):
		for _, door := range []string{"left", "right"} {
			sum := fnv.New64()
			fmt.Fprint(sum, path, door)
			links = append(links, fmt.Sprintf("/maze/%016x/hall", sum.Sum64()|1<<63))
		}
	case strings.HasPrefix(path, "/loop/"):
		links = []string{"again/"}
	case strings.HasPrefix(path, "/words/"):
		for _, letter := range []string{"a", "b"} {
			links = append(links, path+letter)
		}
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<title>Trap</title><p>This is %s.", r.URL.Path)
	for _, to := range links {
		fmt.Fprintf(w, ` <a href="%s">further</a>`, to)
	}
}

// Two collections with limits crawl hosts with traps. In each trap, the crawl requests pages only
// until a limit is reached. It skips the other pages of the trap, and records why. All pages
// outside of the traps are crawled.
func TestTraps(t *testing.T) {
	t.Parallel()
	const alike, ofHost = 12, 30
	s := serve(t, 2, func(int, []string) http.Handler { return http.HandlerFunc(trap) })
	p := newPlace(t)
	p.must("crawl",
		"--collection", p.file("calendar", []string{s.origins[0] + "/"}, fmt.Sprintf("pattern_pages = %d\nexclude = [\"*/words/*\"]", alike)),
		"--collection", p.file("words", []string{s.origins[1] + "/"}, fmt.Sprintf("host_pages = %d\nexclude = [\"*/calendar/*\", \"*/maze/*\"]", ofHost)))
	p.verify()
	asked := make(map[string]int)
	for _, v := range s.forget() {
		first, _, _ := strings.Cut(strings.TrimPrefix(v.url, s.origins[0]+"/"), "/")
		asked[first]++
	}
	if asked["calendar"] != alike || asked["maze"] != alike {
		t.Errorf("asked for %d pages of the calendar and %d of the maze, want %d each", asked["calendar"], asked["maze"], alike)
	}
	stored := make(map[string]int)
	skipped := make(map[string]map[string]int)
	for _, name := range []string{"calendar", "words"} {
		status := p.status("--collection", name)
		stored[name], skipped[name] = status.Stored, status.Skipped
		if status.Pending > 0 {
			t.Errorf("collection %s: %d are pending", name, status.Pending)
		}
	}
	// Besides these: the front page, three pages of the loop, and the page that is no trap.
	if diff := cmp.Diff(map[string]int{"calendar": 2*alike + 5, "words": ofHost}, stored); diff != "" {
		t.Errorf("stored pages (-want +got):\n%s", diff)
	}
	for name, reason := range map[string]string{"calendar": "pages alike", "words": "pages of the host"} {
		if skipped[name][reason] == 0 {
			t.Errorf("collection %s: nothing is skipped for %q: %v", name, reason, skipped[name])
		}
	}
	if skipped["calendar"]["path repeats itself"] != 1 {
		t.Errorf("the loop has not ended for its reason: %v", skipped["calendar"])
	}
}
