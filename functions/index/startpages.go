package index

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// nameStartPages gives the start page of each host the names of its site, by which people search
// for it. These are the parts that titles of the host repeat, and the start page's own title. (The
// name of the host is found anyway, because it is in the address.) The pages are those of one
// package, sorted by site and URL.
func nameStartPages(pages []*draft) {
	for host := range byStart(pages, 1) {
		found := startPages(host)
		if len(found) == 0 {
			continue
		}
		names := slices.Sorted(maps.Keys(repeatedParts(host)))
		for _, p := range found {
			p.SiteNames = append(slices.Clone(names), p.Title)
		}
	}
}

// startPages returns the start pages of a host: the pages at the root under any of its addresses,
// such as / and /index.html. If a host of many pages has none at the root, they are those of the
// directory in which all its pages lie.
func startPages(host []*draft) (found []*draft) {
	root := start(host[0].URL, 1)
	of := func(directory string) (found []*draft) {
		for _, p := range host {
			if rest, inside := strings.CutPrefix(p.URL, directory); inside && isIndex(rest) && !p.Silent {
				found = append(found, p)
			}
		}
		return found
	}
	if found = of(root); len(found) > 0 || len(host) < minPages {
		return found
	}
	first, last := host[0].URL, host[len(host)-1].URL // in between, all share their beginning
	n := 0
	for n < min(len(first), len(last)) && first[n] == last[n] {
		n++
	}
	if n = strings.LastIndexByte(first[:n], '/') + 1; n > len(root) {
		return of(first[:n])
	}
	return nil
}

// isIndex reports whether a path relative to a directory is that of the directory's start page:
// "", or a name such as index.html or default.asp.
func isIndex(name string) bool {
	base := strings.TrimSuffix(name, path.Ext(name))
	return name == "" || base == "index" || base == "default" || base == "home"
}

// separators stand between the parts of titles: of the page, of a chapter, of the site.
var separators = []string{" - ", " – ", " — ", " | ", " :: ", " · ", " • ", " » ", " « ", " / ", ": "}

// repeatedParts returns the parts of titles that are probably the name of the site. Such a part is
// at the beginning or at the end of the title, together with other parts, on at least minPages of
// the pages and on at least the share minShare of them.
func repeatedParts(pages []*draft) map[string]bool {
	counts := make(map[string]int)
	for _, p := range pages {
		if parts := partsOf(p.Title); len(parts) > 1 {
			counts[parts[0]]++
			if last := parts[len(parts)-1]; last != parts[0] {
				counts[last]++
			}
		}
	}
	least := max(minPages, int(minShare*float64(len(pages))))
	repeated := make(map[string]bool)
	for text, n := range counts {
		if n >= least {
			repeated[text] = true
		}
	}
	return repeated
}

// partsOf returns the parts of a title between its separators, without those that are empty.
func partsOf(title string) (parts []string) {
	for at := 0; at <= len(title); {
		end, next := len(title), len(title)+1
		for _, s := range separators {
			if i := strings.Index(title[at:], s); i >= 0 && at+i < end {
				end, next = at+i, at+i+len(s)
			}
		}
		if text := strings.TrimSpace(title[at:end]); text != "" {
			parts = append(parts, text)
		}
		at = next
	}
	return parts
}
