package document

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
