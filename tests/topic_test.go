package tests

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// library returns a host with sections, each a tree of pages. Some of the pages are about
// sailing (see sails).
func library() host {
	const sections, pages = 40, 40
	g := generator{rand.New(rand.NewPCG(12, 0))}
	h := make(host)
	put := func(path, title, text string, links []string) {
		h[path] = answer{status: http.StatusOK, contentType: "text/html",
			body: fmt.Sprintf("<title>%s</title><h1>%[1]s</h1><p>%s</p>%s", title, text, strings.Join(links, "\n"))}
	}
	anchor := func(to, text string) string { return fmt.Sprintf(`<p><a href="%s">%s</a></p>`, to, text) }
	var contents []string
	for section := range sections {
		for i := range pages {
			path := fmt.Sprintf("/%d/%d.html", section, i)
			title, text := titleOf(g, section, i), g.sentences(8)
			if sails(section, i) {
				text = "Set the sail, mind the keel and the mast. " + text + " A sailing boat needs wind: hoist the sail."
			}
			var links []string
			for child := 3*i + 1; child <= 3*i+3 && child < pages; child++ {
				links = append(links, anchor(fmt.Sprintf("%d.html", child), titleOf(g, section, child)))
			}
			put(path, title, text, append(links, anchor("/", "Contents")))
			if i == 0 {
				contents = append(contents, anchor(path, title))
			}
		}
	}
	put("/", "Contents", g.sentences(2), contents)
	return h
}

// sails reports whether a page is about sailing: all pages of every tenth section, and one page
// in twenty of the others.
func sails(section, page int) bool { return section%10 == 7 || page%20 == 19 }

func titleOf(g generator, section, page int) string {
	if sails(section, page) {
		return fmt.Sprintf("Sailing boats, chapter %d", page)
	}
	return fmt.Sprintf("%s and %s, chapter %d", g.word(), g.word(), page)
}

// A crawl with a topic requests pages on the topic first: among its first pages, at least twice
// as many are on the topic as in a breadth-first crawl.
func TestTopic(t *testing.T) {
	t.Parallel()
	const first = 250
	s := serve(t, 1, func(int, []string) http.Handler { return library() })
	crawl := func(more string) (harvest int, p place) {
		p = newPlace(t)
		p.must("crawl", "--collection", p.file("boats", []string{s.origins[0] + "/"}, more))
		p.verify()
		visits := slices.DeleteFunc(s.forget(), func(v visit) bool { return !v.isPage() })
		slices.SortFunc(visits, func(a, b visit) int { return a.began.Compare(b.began) })
		for _, v := range visits[:min(first, len(visits))] {
			var section, page int
			if _, err := fmt.Sscanf(strings.TrimPrefix(v.url, s.origins[0]), "/%d/%d.html", &section, &page); err == nil && sails(section, page) {
				harvest++
			}
		}
		return harvest, p
	}
	wide, _ := crawl(fmt.Sprintf("pages = %d", first))
	directed, p := crawl(fmt.Sprintf("pages = %d\n[topic]\nwords = [\"sailing\", \"sail\", \"keel\", \"mast\"]\nthreshold = 0.3", 2*first))
	t.Logf("%d of the first %d pages are on topic, %d breadth-first", directed, first, wide)
	if directed < 2*wide || directed < first/4 {
		t.Errorf("a topic crawl has %d pages on topic among the first %d, breadth-first %d", directed, first, wide)
	}
	status := p.status("--collection", "boats").Collections[0]
	if status.OnTopic == nil || *status.OnTopic < directed*3/4 || *status.OnTopic > status.Stored {
		t.Errorf("status %+v tells another harvest than %d", status, directed)
	}
	if out := p.must("status"); !strings.Contains(out, "of the pages on topic (") {
		t.Errorf("status does not print the harvest:\n%s", out)
	}
}
