package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/linkeddata"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

func TestMetadata(t *testing.T) {
	for name, c := range map[string]struct {
		page string
		want Document
	}{
		"all": {
			`<html lang="pt-BR"><head><title> A
			 title &amp; more</title><base href="/b/"><link rel="alternate canonical" href="/c">
			<meta name=ROBOTS content="noindex, follow"><meta http-equiv=Refresh content="5; URL='next.html'"></head>`,
			Document{Title: "A title & more", Lang: "pt", Base: "/b/", Canonical: "/c", Refresh: "next.html", Robots: robots.Directives{NoIndex: true}},
		},
		"nothing":              {`text`, Document{}},
		"title from h1":        {`<h2>no</h2><h1>The <i>h1</i></h1><h1>second</h1>`, Document{Title: "The h1"}},
		"title from og":        {`<meta property=og:title content=" of  graph ">`, Document{Title: "of graph"}},
		"title of a drawing":   {`<svg><title>icon</title></svg><h1>page</h1>`, Document{Title: "page"}},
		"first base wins":      {`<base href=a><base href=b>`, Document{Base: "a"}},
		"base without href":    {`<base target=x>`, Document{}},
		"content-language":     {`<meta http-equiv=content-language content="de-AT">`, Document{Lang: "de"}},
		"html lang wins":       {`<html lang=fr><meta http-equiv=content-language content=de>`, Document{Lang: "fr"}},
		"lang is nonsense":     {`<html lang="english!">`, Document{}},
		"robots none":          {`<meta name=robots content=NONE>`, Document{Robots: robots.Directives{NoIndex: true, NoFollow: true}}},
		"robots add up":        {`<meta name=robots content=nofollow><meta name=robots content=noindex>`, Document{Robots: robots.Directives{NoIndex: true, NoFollow: true}}},
		"refresh of itself":    {`<meta http-equiv=refresh content=30>`, Document{}},
		"refresh without '='":  {`<meta http-equiv=refresh content="0;url x">`, Document{}},
		"refresh, bare spaces": {`<meta http-equiv=refresh content="0; url = x ">`, Document{Refresh: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Parse([]byte(c.page))
			if diff := cmp.Diff(&c.want, got, cmpopts.IgnoreUnexported(Document{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestShortcomings reads pages that are too large in some way, have another charset than declared,
// or need scripts, and checks that the Document says so.
func TestShortcomings(t *testing.T) {
	const shell = `<title>App</title><script src=app.js></script><noscript>Please turn on JavaScript.</noscript><div id=root></div>`
	for name, c := range map[string]struct {
		body, contentType string
		want              Document
	}{
		"nothing wrong":          {`<p>text<script>x()</script>`, "text/html", Document{}},
		"many links":             {strings.Repeat("<a href=x>y</a>", hypertext.MaxReferences+3), "text/html", Document{Omitted: []string{"3 of 100003 links"}}},
		"much text":              {"<p>" + strings.Repeat("word ", MaxBody/5+2), "text/html", Document{Omitted: []string{"text beyond 4 MiB"}}},
		"much markup":            {strings.Repeat(" ", hypertext.MaxBytes) + "<p>", "text/html", Document{Omitted: []string{"3 bytes of markup beyond 16 MiB"}}},
		"many headings":          {strings.Repeat("<h2>x</h2>", MaxHeadings+1), "text/html", Document{Omitted: []string{"1 of 10001 headings"}}},
		"many attributes":        {"<p " + strings.Repeat("a=b ", hypertext.MaxAttributes+2) + ">text", "text/html", Document{Omitted: []string{"2 attributes beyond 64 of a tag"}}},
		"a long address":         {"<a href=/" + strings.Repeat("a", hypertext.MaxValue) + ">text</a>", "text/html", Document{Omitted: []string{"the end of 1 attributes beyond 16 KiB"}}},
		"an image in an address": {"<img src='data:image/png;base64," + strings.Repeat("A", hypertext.MaxValue) + "'>text", "text/html", Document{}},
		"many meta elements":     {strings.Repeat("<meta name=a><link rel=b>", hypertext.MaxMetas+1) + "text", "text/html", Document{Omitted: []string{"2 meta and link elements beyond 256 of each"}}},
		"much JSON-LD":           {strings.Repeat(`<script type="application/ld+json">"`+strings.Repeat("a", hypertext.MaxData/2-2)+`"</script>`, 3) + "text", "text/html", Document{Omitted: []string{"524288 bytes of JSON-LD beyond 1 MiB"}}},
		"many objects":           {`<script type="application/ld+json">` + strings.Repeat("{}", linkeddata.MaxObjects+1) + "</script>text", "text/html", Document{Omitted: []string{"JSON-LD beyond 64 levels, 20000 objects or 50000 values"}}},
		"much plain text":        {strings.Repeat("a", MaxBody+2), "text/plain", Document{Omitted: []string{"2 of 4194306 bytes of text"}}},
		"long feed":              {"<rss><item><title>" + strings.Repeat("a", 5<<20), "application/rss+xml", Document{Omitted: []string{"text beyond 4 MiB"}}},
		"other charset":          {"<p>caf\xE9 cr\xE8me", "text/html; charset=utf-8", Document{Recoded: "not utf-8 but windows-1252"}},
		"scripts alone":          {`<script src=app.js></script><div id=root></div>`, "text/html", Document{NeedsScripts: true}},
		"a note on scripts":      {shell, "text/html", Document{NeedsScripts: true}},
		"frames":                 {`<script src=nav.js></script><frameset cols="20%,80%"><frame src=list.html><frame src=overview.html><noframes></noframes></frameset><noscript>JavaScript is disabled on your browser.</noscript>`, "text/html", Document{}},
		"a frame that counts":    {shell + `<noscript><iframe src=count.html></iframe></noscript>`, "text/html", Document{NeedsScripts: true}},
		"a note below much text": {shell + strings.Repeat("<p>Text that needs no scripts.", 9), "text/html", Document{}},
		"nothing, no scripts":    {`<div id=root></div>`, "text/html", Document{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read([]byte(c.body), c.contentType)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&c.want, got, cmpopts.IgnoreUnexported(Document{}), cmpopts.IgnoreFields(Document{}, "Title")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
