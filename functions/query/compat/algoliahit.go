package compat

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// algoliaHit is a record. See the package comment for its attributes.
type algoliaHit struct {
	ObjectID   string   `json:"objectID"`
	URL        string   `json:"url"`
	Page       string   `json:"url_without_anchor"`
	Anchor     *string  `json:"anchor"`
	Type       string   `json:"type"`
	Hierarchy  levels   `json:"hierarchy"`
	Title      string   `json:"title"`
	Content    *string  `json:"content"`
	Site       string   `json:"site"`
	Lang       string   `json:"lang"`
	Collection []string `json:"collection"`
	Media      string   `json:"media_type"`
	Date       string   `json:"date,omitempty"`
	Highlight  shown    `json:"_highlightResult"`
	Snippet    shown    `json:"_snippetResult"`
}

// levels has the texts of the levels of a record, such as place, title and heading; nil for a level that the
// record does not have.
type levels struct {
	Lvl0 *string `json:"lvl0"`
	Lvl1 *string `json:"lvl1"`
	Lvl2 *string `json:"lvl2"`
	Lvl3 *string `json:"lvl3"`
	Lvl4 *string `json:"lvl4"`
	Lvl5 *string `json:"lvl5"`
	Lvl6 *string `json:"lvl6"`
}

// shown has attributes of a record with the matching words marked.
type shown struct {
	Hierarchy map[string]highlight `json:"hierarchy"` // by level, such as lvl0
	Title     highlight            `json:"title"`
	Content   *highlight           `json:"content,omitempty"`
}

// highlight is a text with the words that match marked.
type highlight struct {
	Value            string   `json:"value"`
	MatchLevel       string   `json:"matchLevel"`       // none, partial or full: whether words of the query, or all of them, match
	FullyHighlighted bool     `json:"fullyHighlighted"` // whether all words of the text match
	MatchedWords     []string `json:"matchedWords"`     // as the text has them, in lower case
}

// algoliaHitOf returns a record in the form of Algolia's hits. The parameter crops has the number of words
// of the snippet by attribute, and ellipsis is what stands where a snippet is cut. The parameter words has
// the words of the query.
func algoliaHitOf(r *record, tags highlighter, crops map[string]int, ellipsis string, words map[string]bool) algoliaHit {
	hit := algoliaHit{
		ObjectID: r.id, URL: r.url, Page: r.page, Type: r.kind, Site: r.site, Lang: r.lang, Collection: r.collectionsOf(), Media: r.media, Date: r.date,
		Title: highlighter{}.plain(r.title), Highlight: shown{Hierarchy: map[string]highlight{}}, Snippet: shown{Hierarchy: map[string]highlight{}},
	}
	if anchor := r.anchor(); anchor != "" {
		hit.Anchor = &anchor
	}
	full := func(text []search.Fragment) highlight { return tags.highlight(text, words) }
	cropped := func(name string, text []search.Fragment) highlight {
		return full(crop(text, crops[name], tags.escape(ellipsis)))
	}
	names := []string{"lvl0", "lvl1", "lvl2"}
	for i, text := range r.hierarchy() {
		plain := tags.plain(text)
		*[]**string{&hit.Hierarchy.Lvl0, &hit.Hierarchy.Lvl1, &hit.Hierarchy.Lvl2}[i] = &plain
		hit.Highlight.Hierarchy[names[i]] = full(text)
		hit.Snippet.Hierarchy[names[i]] = cropped("hierarchy."+names[i], text)
	}
	hit.Highlight.Title, hit.Snippet.Title = full(r.title), cropped("title", r.title)
	if len(r.content) > 0 {
		plain, marked, snippet := tags.plain(r.content), full(r.content), cropped("content", r.content)
		hit.Content, hit.Highlight.Content, hit.Snippet.Content = &plain, &marked, &snippet
	}
	return hit
}

// highlight returns a text with the tags around its matches, and says how many of the words of the query it
// has.
func (h highlighter) highlight(text []search.Fragment, words map[string]bool) highlight {
	of := highlight{Value: h.marked(text), MatchLevel: "none", MatchedWords: matchesIn(text)}
	if n := len(of.MatchedWords); n > 0 {
		of.MatchLevel = "partial"
		if n >= len(words) {
			of.MatchLevel = "full"
		}
	}
	of.FullyHighlighted = len(of.MatchedWords) > 0 && !slices.ContainsFunc(text, func(f search.Fragment) bool { return !f.Match && strings.ContainsFunc(f.Text, isWord) })
	return of
}

// readSnippets reads from the parameters how long snippets are. The result words has the number of words by
// attribute: content:15 means 15, and content without a number means 10. The result ellipsis is what stands
// where a snippet is cut.
func readSnippets(p parameters) (words map[string]int, ellipsis string, err error) {
	attributes, err := p.list("attributesToSnippet")
	if err != nil {
		return nil, "", err
	}
	words = make(map[string]int)
	for _, attribute := range attributes {
		name, number, found := strings.Cut(attribute, ":")
		words[name] = 10
		if found {
			if words[name], _, err = (parameters{name: json.RawMessage(number)}).number(name, 10, maxCrop); err != nil {
				return nil, "", err
			}
		}
	}
	ellipsis, err = p.text("snippetEllipsisText", "…")
	return words, ellipsis, err
}
