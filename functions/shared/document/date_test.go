package document

import (
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// dated is a page and the own date that is found in it.
type dated struct {
	head, body, url, modified string // content of both elements; address; header Last-Modified
	lang, date                string // the page's language; the date and its source: "2026-11-26 text", or "" for none
}

func TestDate(t *testing.T) {
	fetched := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	meta := func(name, content string) string { return `<meta property="` + name + `" content="` + content + `">` }
	long := "<p>" + strings.Repeat("Words of the page about cats. ", 20) + "</p>"
	many := strings.Repeat(long, 12)
	for name, test := range map[string]dated{
		"published":       {head: meta("article:published_time", "2025-03-04T05:06:07+02:00"), date: "2025-03-04 metadata"},
		"changed later":   {head: meta("article:published_time", "2024-01-01") + meta("article:modified_time", "2025-02-03"), date: "2025-02-03 metadata"},
		"JSON-LD":         {head: `<script type="application/ld+json">{"@type":"Article","datePublished":"2025-06-07"}</script>`, date: "2025-06-07 metadata"},
		"in words":        {head: meta("dc.date", "January 2, 2023"), date: "2023-01-02 metadata"},
		"of a paper":      {head: `<meta name="citation_publication_date" content="2023/01/02">`, date: "2023-01-02 metadata"},
		"microdata":       {head: `<meta itemprop="datePublished" content="2023-01-02T03:04:05-0400">`, date: "2023-01-02 metadata"},
		"of a comment":    {body: `<h1>Cats</h1><div><meta itemprop="datePublished" content="2023-01-02">Nice.</div>`},
		"before the text": {head: meta("dc.date", "2023-01-02"), body: "<h1>Cats</h1><p>Published May 6, 2024</p>", modified: "Mon, 04 May 2026 10:00:00 GMT", date: "2023-01-02 metadata"},
		"future":          {head: meta("dc.date", "2028-01-01")},
		"long ago":        {head: meta("dc.date", "1989-12-31")},
		"no date":         {head: meta("dc.date", "last summer"), modified: "yesterday"},
		"none":            {},

		"WordPress": {body: `<header class="entry-header"><h1 class="entry-title">Cats</h1><div class="entry-meta"><span class="posted-on"><a href="/cats" rel="bookmark">` +
			`<time class="entry-date published" datetime="2026-01-02T10:00:00+00:00">2 January</time><time class="updated" datetime="2026-03-04T10:00:00+00:00">4 March</time></a></span></div></header>` + long, date: "2026-03-04 time"},
		"Hugo":            {body: `<article><h1>Cats</h1><time datetime="2026-01-02">Jan 2</time>` + long + `</article>`, date: "2026-01-02 time"},
		"list of news":    {body: `<h1>News</h1><time datetime="2026-01-03">a</time><time datetime="2026-01-02">b</time><time datetime="2026-01-05">c</time>`, date: "2026-01-03 time"},
		"time of comment": {body: `<h1>Cats</h1>` + many + `<time datetime="2026-01-02">Jan 2</time>`},
		"time beside":     {body: `<aside><time datetime="2026-01-02">Jan 2</time></aside><h1>Cats</h1>`},

		"address":         {url: "http://a/2026/05/06/cats", body: "<h1>Cats</h1><p>May 7, 2026</p>", date: "2026-05-06 address"},
		"name of address": {url: "http://a/news/2026-05-06-cats.html", date: "2026-05-06 address"},
		"old address":     {url: "http://a/1776/07/04/independence"},

		"Sphinx": {body: "<h1>json</h1>" + many + `<div class="footer">&copy; <a href="c">Copyright</a> 2001-2026, Python Software Foundation.<br>
			Last updated on Nov 26, 2026 (10:00 UTC).<br>Created using <a href="s">Sphinx</a> 8.1.</div>`, date: "2026-11-26 text"},
		"MDN":       {body: "<h1>Array</h1>" + many + `<p class="last-modified">This page was last modified on <time>Nov 6, 2026</time> by <a href="c">MDN contributors</a>.</p>`, date: "2026-11-06 text"},
		"MediaWiki": {body: "<h1>Cat</h1>" + many + `<footer><ul><li id="footer-info-lastmod"> This page was last edited on 6 May 2026, at 10:00<span>&#160;(UTC)</span>.</li></ul></footer>`, date: "2026-05-06 text"},
		"MediaWiki in Japanese": {lang: "ja", body: "<h1>ネコ</h1>" + many + `<footer><ul><li>最終更新 2026年5月6日 (水) 10:00 （日時は個人設定で未設定ならばUTC）。</li></ul></footer>`,
			date: "2026-05-06 text"},
		"Docusaurus":          {body: "<h1>Cats</h1>" + many + `<footer><span>Last updated<!-- --> on <b>May 6, 2026</b> by <b>Ann</b></span></footer>`, date: "2026-05-06 text"},
		"German office":       {lang: "de", body: "<h1>Katzen</h1>" + many + `<p>Zuletzt geändert: 06.05.2026</p>`, date: "2026-05-06 text"},
		"French":              {lang: "fr", body: "<h1>Chats</h1><p>Mis à jour le 06/05/2026</p>", date: "2026-05-06 text"},
		"order not known":     {lang: "en", body: "<h1>Cats</h1><p>Updated 06/05/2026</p>"},
		"American":            {lang: "en-US", body: "<h1>Cats</h1><p>Updated 06/05/2026</p>", date: "2026-06-05 text"},
		"news":                {body: `<p>Home</p><h1>Cats</h1><p>By Ann Smith</p><p>May 6, 2026 · 5 min read</p>` + long, date: "2026-05-06 text"},
		"label before bare":   {body: `<h1>Cats</h1><p>May 8, 2026</p><p>Published: May 6, 2026</p>`, date: "2026-05-06 text"},
		"above the title":     {body: `<p>6 May 2026</p><h1>Cats</h1>`, date: "2026-05-06 text"},
		"today on every page": {body: `<p>Saturday, November 28, 2026</p><h1>Cats</h1>`},
		"date as a heading":   {body: `<h1>Diary</h1><h2>Wednesday, 6 May 2026</h2>`, date: "2026-05-06 text"},
		"heading with a date": {body: `<h1>Diary</h1><h2>What the cats did on 6 May 2026</h2>`},
		"of the subject":      {body: `<h1>Cats</h1><p>On 4 July 2016 all cats of the town came together at the river, which nobody had seen before.</p>`},
		"before computers":    {body: `<h1>Declaration</h1><p>4 July 1776</p>`},
		"a range":             {body: `<h1>Fair</h1><p>6 May 2026 – 9 May 2026</p>`},
		"label of a teaser":   {body: `<h1>Cats</h1>` + many + `<p>Published May 6, 2026</p>`},
		"in a quote":          {body: `<h1>Cats</h1><blockquote><p>Published May 6, 2026</p></blockquote>`},
		"hidden":              {body: `<h1>Cats</h1><p hidden>Published May 6, 2026</p>`},
		"no heading":          {body: `<p>Published May 6, 2026</p>`, date: "2026-05-06 text"},

		"header":                     {modified: "Mon, 04 May 2026 10:00:00 GMT", date: "2026-05-04 header"},
		"header of a page made anew": {modified: "Sat, 28 Nov 2026 11:59:00 GMT"},
		"header of the future":       {modified: "Wed, 20 May 2028 11:59:00 GMT"},
	} {
		o := webobject.Object{
			URL: test.url, MIME: "text/html", Downloaded: fetched,
			Data: []byte(`<html lang="` + test.lang + `"><head>` + test.head + "</head><body>" + test.body + "<p>Text.</p></body></html>"),
		}
		checkDate(t, name, o, test)
	}
	for name, test := range map[string]dated{
		"plain text":         {body: "Only text.", modified: "Mon, 04 May 2026 10:00:00 GMT", date: "2026-05-04 header"},
		"dated plain text":   {body: "Cats\n\nLast modified: 2026-05-06\n\nText.", date: "2026-05-06 text"},
		"end of a long text": {body: "Cats\n" + many + "\nLast modified: 2026-05-06\n", date: "2026-05-06 text"},
	} {
		checkDate(t, name, webobject.Object{MIME: "text/plain", Downloaded: fetched, Data: []byte(test.body)}, test)
	}
	file := `<html><head><meta name="last-modified" content="20260504"></head><body><main>`
	for name, test := range map[string]dated{
		"PDF file":                   {body: file + "Cats<br>Text.", date: "2026-05-04 file"},
		"PDF file that shows a date": {body: file + "Cats<br>Last revised 6 May 2026<br>Text.", date: "2026-05-06 text"},
	} {
		conversion := webobject.Conversion{HTML: []byte(test.body), Reader: conversionVersion}
		checkDate(t, name, webobject.Object{MIME: "application/pdf", Downloaded: fetched, Data: []byte("%PDF-"), Conversion: &conversion}, test)
	}
}

// checkDate checks the date of a page, which gets the header Last-Modified of the test.
func checkDate(t *testing.T, name string, o webobject.Object, test dated) {
	t.Helper()
	if test.modified != "" {
		o.Header = []webobject.Field{{Name: "Last-Modified", Value: test.modified}}
	}
	d, err := Stored(o)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	if at, source := d.Date(o); !at.IsZero() {
		got = at.Format(time.DateOnly) + " " + string(source)
	}
	if got != test.date {
		t.Errorf("%s: %q, want %q", name, got, test.date)
	}
}
