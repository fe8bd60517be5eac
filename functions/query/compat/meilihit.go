package compat

import (
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// hitForm says how hits are written.
type hitForm struct {
	tags      highlighter // without tags, if nothing is highlighted
	formatted bool        // whether the hits have the member _formatted
	marked    []string    // names of the attributes that are highlighted; * for all
	cropped   []string    // names of the attributes that are cropped; * for all
	words     int         // number of words of an attribute that is cropped
	marker    string      // stands where it is cut
}

// readForm reads how hits are written.
func readForm(p parameters) (f hitForm, err error) {
	if f.tags, err = readTags(p, "<em>", "</em>"); err != nil {
		return f, err
	}
	if f.marked, err = p.list("attributesToHighlight"); err != nil {
		return f, err
	}
	if f.cropped, err = p.list("attributesToCrop"); err != nil {
		return f, err
	}
	for i := range f.cropped {
		f.cropped[i], _, _ = strings.Cut(f.cropped[i], ":")
	}
	if f.words, _, err = p.number("cropLength", meiliCrop, maxCrop); err != nil {
		return f, err
	}
	if f.marker, err = p.text("cropMarker", "…"); err != nil {
		return f, err
	}
	f.formatted = len(f.marked)+len(f.cropped) > 0
	if len(f.marked) == 0 {
		f.tags = highlighter{}
	}
	return f, nil
}

// hit returns a record as a hit.
func (f hitForm) hit(r *record) map[string]any {
	texts := map[string][]search.Fragment{"title": r.title, "content": r.content}
	for i, name := range []string{"hierarchy_lvl0", "hierarchy_lvl1", "hierarchy_lvl2"}[:len(r.hierarchy())] {
		texts[name] = r.hierarchy()[i]
	}
	fields := func() map[string]any {
		all := map[string]any{
			"id": r.id, "url": r.url, "url_without_anchor": r.page, "type": r.kind, "site": r.site, "lang": r.lang, "collection": r.collectionsOf(), "media_type": r.media,
		}
		if anchor := r.anchor(); anchor != "" {
			all["anchor"] = anchor
		}
		if r.date != "" {
			all["date"] = r.date
		}
		return all
	}
	hit, formatted := fields(), fields()
	for name, text := range texts {
		if name == "title" {
			hit[name] = highlighter{}.plain(text)
		} else {
			hit[name] = f.tags.plain(text)
		}
		if named(f.cropped, name) {
			text = crop(text, f.words, f.tags.escape(f.marker))
		}
		if named(f.marked, name) {
			formatted[name] = f.tags.marked(text)
		} else {
			formatted[name] = f.tags.plain(text)
		}
	}
	if f.formatted {
		hit["_formatted"] = formatted
	}
	return hit
}

// named reports whether a list of attributes has a name, or all names.
func named(list []string, name string) bool {
	return slices.Contains(list, name) || slices.Contains(list, "*")
}
