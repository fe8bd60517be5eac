package tests

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// chapters returns a host with a chain of pages in each directory. The front page links to the
// first page of each directory, and each page to the next one of its directory.
func chapters(pages int, directories ...string) host {
	g := generator{rand.New(rand.NewPCG(7, 0))}
	h := make(host)
	var contents string
	for _, dir := range directories {
		contents += link("/" + dir + "/" + pageName(0))
		for i := range pages {
			h["/"+dir+"/"+pageName(i)] = answer{status: http.StatusOK, contentType: "text/html",
				body: fmt.Sprintf("<title>%s, page %d</title><p>A heron. %s%s", dir, i, g.sentences(8), link(pageName((i+1)%pages)))}
		}
	}
	h["/"] = answer{status: http.StatusOK, contentType: "text/html", body: "<title>Contents</title>" + contents}
	return h
}

// coast returns a host with two groups of pages, each with the given number of chapters. The front
// page links to all chapters about a lighthouse. Another page links to all chapters about a heron.
func coast(parts int) host {
	g := generator{rand.New(rand.NewPCG(8, 0))}
	h := make(host)
	put := func(path, title, text string) {
		h[path] = answer{status: http.StatusOK, contentType: "text/html", body: fmt.Sprintf("<title>%s</title><h1>%[1]s</h1><p>%s", title, text)}
	}
	var lights, herons string
	for i := range parts {
		put(fmt.Sprintf("/light%d.html", i), fmt.Sprintf("The lighthouse lamp, chapter %d", i),
			"The keeper of the lighthouse lights its lamp. "+g.sentences(8)+" The lamp of the lighthouse turns.")
		put(fmt.Sprintf("/heron%d.html", i), fmt.Sprintf("A heron, chapter %d", i), "A heron flies. "+g.sentences(8))
		lights += fmt.Sprintf("<p><a href=light%d.html>The lighthouse lamp, chapter %[1]d</a></p>", i)
		herons += fmt.Sprintf("<p><a href=heron%d.html>A heron, chapter %[1]d</a></p>", i)
	}
	put("/other.html", "Other chapters", g.sentences(8)+herons)
	put("/", "Contents", lights+"<p>"+g.sentences(20)+"</p>"+link("/other.html"))
	return h
}

// under returns the sorted addresses of the first pages in a directory of a site. The caller
// says how many pages.
func (s *site) under(dir string, pages int) []string {
	var urls []string
	for i := range pages {
		urls = append(urls, s.origins[0]+"/"+dir+"/"+pageName(i))
	}
	slices.Sort(urls)
	return urls
}

// asked returns, by address, the number of requests for each page since asked was last called.
func (s *site) asked() map[string]int {
	times := make(map[string]int)
	for _, v := range s.forget() {
		if v.isPage() {
			times[v.url]++
		}
	}
	return times
}

// Collections have scopes that overlap. A page in several scopes must be requested once, and a
// search in each of these collections must find it. Later, collections are added that contain only
// stored pages. Their crawls may request these pages once more, to follow the links for the new
// collection, but no other pages. Repeating the last crawl must request nothing.
func TestOverlap(t *testing.T) {
	t.Parallel()
	const pages = 9
	s := serve(t, 1, func(int, []string) http.Handler { return chapters(pages, "birds", "ships") })
	p := newPlace(t)
	seed := func(path string) []string { return []string{s.origins[0] + path} }
	find := func(collection string, want ...string) {
		t.Helper()
		hits := p.search("--collection", collection, "heron")
		if !slices.Equal(hits, want) {
			t.Errorf("collection %s: found %d pages %q, want %d", collection, len(hits), hits, len(want))
		}
		if status := p.status("--collection", collection); status.Stored < len(want) || status.Pending != 0 {
			t.Errorf("collection %s: status %+v, want %d stored", collection, status, len(want))
		}
	}
	birds, ships := s.under("birds", pages), s.under("ships", pages)
	all := slices.Concat(birds, ships) // in the order of the search results

	p.must("crawl", "--collection", p.file("whole", seed("/"), ""), "--collection", p.file("birds", seed("/birds/"+pageName(0)), `scope = "prefix"`))
	p.verify()
	find("whole", all...)
	find("birds", birds...)
	for url, times := range s.asked() {
		if times != 1 {
			t.Errorf("%s is asked for %d times", url, times)
		}
	}

	p.must("crawl", "--collection", p.file("ships", seed("/ships/"+pageName(0)), `scope = "prefix"`))
	p.verify()
	find("whole", all...)
	find("birds", birds...)
	find("ships", ships...)
	for url, times := range s.asked() {
		if times != 1 || !strings.Contains(url, "/ships/") {
			t.Errorf("%s is asked for %d times by a collection of ships", url, times)
		}
	}

	p.must("crawl", "--collection", p.file("near", seed("/birds/"+pageName(4)), "scope = \"prefix\"\ndepth = 2"))
	p.verify()
	find("near", s.under("birds", pages)[4:7]...)
	p.must("crawl", "--collection", p.file("far", seed("/ships/"+pageName(7)), "scope = \"any\"\ndepth = 1"))
	p.verify()
	find("far", s.under("ships", pages)[7:9]...)
	s.forget()
	p.must("crawl", "--collection", p.file("far", seed("/ships/"+pageName(7)), "scope = \"any\"\ndepth = 1"))
	if again := s.asked(); len(again) > 0 {
		t.Errorf("asked for again, though nothing is lacking: %v", again)
	}
}

// Three collections whose pages overlap are crawled at the same time. Each gets all of its
// pages, even those that already wait to be requested for another collection.
func TestOverlapAtOnce(t *testing.T) {
	t.Parallel()
	const pages = 9
	s := serve(t, 1, func(int, []string) http.Handler { return chapters(pages, "birds", "ships") })
	p := newPlace(t)
	file := func(name, path, more string) string { return p.file(name, []string{s.origins[0] + path}, more) }
	p.must("crawl", "--collection", file("whole", "/", ""),
		"--collection", file("near", "/birds/"+pageName(5), "scope = \"prefix\"\ndepth = 3"),
		"--collection", file("far", "/ships/"+pageName(2), "scope = \"any\"\ndepth = 4"))
	p.verify()
	for name, want := range map[string][]string{
		"whole": slices.Concat(s.under("birds", pages), s.under("ships", pages)),
		"near":  s.under("birds", pages)[5:9],
		"far":   s.under("ships", pages)[2:7],
	} {
		if hits := p.search("--collection", name, "heron"); !slices.Equal(hits, want) {
			t.Errorf("collection %s: found %q, want %q", name, hits, want)
		}
	}
}

// A collection with a topic contains those pages of another collection that are on its topic,
// whichever of the two is crawled first.
func TestOverlapTopic(t *testing.T) {
	t.Parallel()
	const parts = 4
	s := serve(t, 1, func(int, []string) http.Handler { return coast(parts) })
	var want []string
	for i := range parts {
		want = append(want, fmt.Sprintf("%s/light%d.html", s.origins[0], i))
	}
	p := newPlace(t) // place for the collection files
	whole := p.file("whole", []string{s.origins[0] + "/"}, "")
	lights := p.file("lights", []string{s.origins[0] + "/"}, "[topic]\nwords = [\"lighthouse\", \"lamp\"]\nthreshold = 0.6")
	for _, test := range []struct {
		name   string
		crawls [][]string
	}{
		{"at once", [][]string{{whole, lights}}},
		{"the topic later", [][]string{{whole}, {lights}}},
		{"the topic before", [][]string{{lights}, {whole}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t)
			for _, files := range test.crawls {
				var args []string
				for _, file := range files {
					args = append(args, "--collection", file)
				}
				p.must("crawl", args...)
			}
			p.verify()
			if hits := p.search("--collection", "lights", "keeper"); !slices.Equal(hits, want) {
				t.Errorf("found %q, want %q", hits, want)
			}
			if hits := p.search("--collection", "lights", "flies"); len(hits) > 0 {
				t.Errorf("found %q, which are about herons", hits)
			}
			if status := p.status("--collection", "whole"); status.Stored != 2*parts+2 {
				t.Errorf("the other collection: status %+v, want %d stored", status, 2*parts+2)
			}
		})
	}
}

// chain returns a host with a chain of pages: each page below /c/ links to the next one. The
// address /old redirects to the first page, and the page /all links to every page.
func chain(pages int) http.Handler {
	g := generator{rand.New(rand.NewPCG(9, 0))}
	h := make(host)
	all := ""
	for i := range pages {
		next := ""
		if i+1 < pages {
			next = link(pageName(i + 1))
		}
		h["/c/"+pageName(i)] = answer{status: http.StatusOK, contentType: "text/html", body: fmt.Sprintf("<title>Page %d</title><p>%s%s", i, g.sentences(8), next)}
		all += link("/c/" + pageName(i))
	}
	h["/all"] = answer{status: http.StatusOK, contentType: "text/html", body: "<title>All</title>" + all}
	mux := http.NewServeMux()
	mux.Handle("/", h)
	mux.Handle("/old", http.RedirectHandler("/c/"+pageName(0), http.StatusMovedPermanently))
	return mux
}

// Each collection gets as many pages as it would get alone, whatever other collections request
// at the same time or have requested before.
func TestOverlapAsAlone(t *testing.T) {
	t.Parallel()
	const pages = 12
	s := serve(t, 1, func(int, []string) http.Handler { return chain(pages) })
	type crawl map[string]string // name of a collection → its seeds and further lines of its file
	for name, test := range map[string]struct {
		crawls []crawl
		want   map[string]int // number of stored pages of each collection
	}{
		"depths at once": {[]crawl{{"a": "/c/p2.html|depth = 3", "b": "/c/p0.html|depth = 2"}}, map[string]int{"a": 4, "b": 3}},
		"depths":         {[]crawl{{"b": "/c/p0.html|depth = 2"}, {"a": "/c/p2.html|depth = 3"}}, map[string]int{"a": 4, "b": 3}},
		"two later": {[]crawl{{"whole": "/c/p0.html|"}, {"a": "/c/p0.html|depth = 3", "b": "/c/p0.html|depth = 3"}},
			map[string]int{"whole": pages, "a": 4, "b": 4}},
		"a seed that redirects": {[]crawl{{"a": "/old|depth = 4", "b": "/old|depth = 2"}, {"c": "/old|depth = 3"}},
			map[string]int{"a": 5, "b": 3, "c": 4}},
		"a limit of one": {[]crawl{{"few": "/all|host_pages = 2", "whole": "/c/p0.html|scope = \"prefix\""}},
			map[string]int{"few": 2, "whole": pages}},
		"a seed more": {[]crawl{{"a": "/c/p0.html|depth = 3", "b": "/c/p0.html|depth = 3"}, {"b": "/c/p0.html /c/p3.html|depth = 3"}},
			map[string]int{"a": 4, "b": 7}},
		"more pages": {[]crawl{{"whole": "/c/p0.html|depth = 4", "few": "/all|scope = \"any\"\npages = 3"}, {"few": "/all|scope = \"any\"\npages = 7"}},
			map[string]int{"whole": 5, "few": 7}},
		"so many pages": {[]crawl{{"whole": "/all|"}, {"few": "/all|scope = \"any\"\npages = 5"}},
			map[string]int{"whole": pages + 1, "few": 5}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			for _, crawl := range test.crawls {
				var args []string
				for name, file := range crawl {
					paths, more, _ := strings.Cut(file, "|")
					var seeds []string
					for path := range strings.FieldsSeq(paths) {
						seeds = append(seeds, s.origins[0]+path)
					}
					args = append(args, "--collection", p.file(name, seeds, more))
				}
				p.must("crawl", args...)
			}
			p.verify()
			for name, want := range test.want {
				if status := p.status("--collection", name); status.Stored != want {
					t.Errorf("collection %s: status %+v, want %d stored", name, status, want)
				}
			}
		})
	}
}

// Each collection stops at its own limit of pages, whatever other collections request, and goes
// on when the limit is raised.
func TestPagesOfEach(t *testing.T) {
	t.Parallel()
	const pages = 30
	s := serve(t, 1, func(int, []string) http.Handler { return chapters(pages, "few", "many") })
	p := newPlace(t)
	few := func(most int) string {
		return p.file("few", []string{s.origins[0] + "/few/" + pageName(0)}, fmt.Sprintf("scope = \"prefix\"\npages = %d", most))
	}
	p.must("crawl", "--collection", few(7), "--collection", p.file("many", []string{s.origins[0] + "/many/" + pageName(0)}, `scope = "prefix"`))
	p.verify()
	if status := p.status("--collection", "many"); status.Stored != pages || status.Pending != 0 {
		t.Errorf("collection many: status %+v, want all %d pages", status, pages)
	}
	if status := p.status("--collection", "few"); status.Stored != 7 || status.Pending != 1 {
		t.Errorf("collection few: status %+v, want 7 pages, and the next to be pending", status)
	}
	p.must("crawl", "--collection", few(12))
	p.verify()
	if status := p.status("--collection", "few"); status.Stored != 12 || status.Pending != 1 {
		t.Errorf("collection few: status %+v, want 12 pages, and the next to be pending", status)
	}
}
