package docsearch

import (
	"bytes"
	"encoding/json"
)

// why says, for each key that has no equivalent in a collection file, why it has none. A key inside of an
// element of start_urls is named like "start_urls.tags".
var why = map[string]string{
	"selectors":                   "not needed: the title, the main part and the sections of a page are found without selectors",
	"selectors_exclude":           "not needed: navigation, headers and footers are told from the main part without selectors",
	"min_indexed_level":           "not needed: a result is a page with its best section, whatever the level of its heading",
	"only_content_level":          "not needed: a result is a page with its best section, whatever the level of its heading",
	"custom_settings":             "settings of another search engine, such as its synonyms and ranking, have no effect here",
	"strip_chars":                 "not needed: signs around words are no part of them",
	"keep_tags":                   "not needed: results are text",
	"use_anchors":                 "not needed: results lead to the section that was found",
	"js_render":                   "pages are stored as they are served; bucketsearch collections check tells which seeds need scripts",
	"js_wait":                     "pages are stored as they are served; bucketsearch collections check tells which seeds need scripts",
	"scrap_start_urls":            "start pages are indexed as all others",
	"scrape_start_urls":           "start pages are indexed as all others",
	"sitemap_urls_regexs":         "pages of sitemaps are crawled if they begin with a start URL; add expressions to include",
	"sitemap_alternate_links":     "alternates in sitemaps are not read; links on pages lead to them",
	"force_sitemap_urls_crawling": "pages of sitemaps are crawled only if they begin with a start URL; add seeds for the others",
	"strict_redirect":             "a redirect is followed if its target belongs to the collection",
	"stop_content":                "pages are not left out because of their content",
	"hash_strip":                  "not needed: fragments are no part of an address",
	"nb_hits":                     "a count of earlier crawls; it steers nothing",
	"nb_hits_max":                 "a count of earlier crawls; to stop at a number of pages, set pages",
	"conversation_id":             "a note for people; it steers nothing",
	"comments":                    "a note for people; it steers nothing",
	"_comment":                    "a note for people; it steers nothing",
	"start_urls.selectors_key":    "not needed, as selectors are not",
	"start_urls.tags":             "pages have no tags; make a collection of each part, and search by collection:NAME, or by site:",
	"start_urls.extra_attributes": "pages have no attributes of their own; make a collection of each part, and search by collection:NAME",
	"start_urls.page_rank":        "ranks are computed from links, titles and words",
}

// isUsual has values of keys for which this program does the same without a setting. A key with this
// value needs no Note.
var isUsual = map[string]string{
	"scrap_start_urls": "true", "scrape_start_urls": "true", "js_render": "false", "force_sitemap_urls_crawling": "false",
	"sitemap_alternate_links": "false", "strict_redirect": "true", "use_anchors": "false",
}

// without notes why a key has no equivalent.
func (c *converter) without(key string) {
	text, known := why[key]
	switch value := string(bytes.TrimSpace(c.values[key])); {
	case known && value != "" && isUsual[key] == value:
		return
	case known:
	default:
		text = "not known here, and without effect"
	}
	c.note(key, "%s", text)
}

// text returns the text under a key. Any other value is a problem.
func (c *converter) text(key string) (text string) {
	if json.Unmarshal(c.values[key], &text) != nil {
		c.wrong(key, "want a text in quotes")
	}
	return text
}

// texts returns the texts under a key: a list, or a text alone, or none if there is no such key. Any
// other value is a problem.
func (c *converter) texts(key string) (all []string) {
	content, found := c.values[key]
	if !found {
		return nil
	}
	var one string
	if json.Unmarshal(content, &one) == nil && one != "" {
		return []string{one}
	}
	if json.Unmarshal(content, &all) != nil {
		c.wrong(key, `want a list of texts such as ["a", "b"]`)
	}
	return all
}

// truth returns the boolean under a key. Any other value is a problem.
func (c *converter) truth(key string) (value bool) {
	if json.Unmarshal(c.values[key], &value) != nil {
		c.wrong(key, "want true or false")
	}
	return value
}

// linesOf returns the line of each key of the outermost object in a valid JSON document.
func linesOf(content []byte) map[string]int {
	lines := make(map[string]int)
	d := json.NewDecoder(bytes.NewReader(content))
	if _, err := d.Token(); err != nil {
		return lines
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return lines
		}
		name, _ := key.(string)
		lines[name] = 1 + bytes.Count(content[:d.InputOffset()], []byte("\n"))
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return lines
		}
	}
	return lines
}
