package document

import (
	"testing"
	"time"
)

func TestDate(t *testing.T) {
	fetched := time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)
	meta := func(name, content string) string { return `<meta property="` + name + `" content="` + content + `">` }
	for name, test := range map[string]struct{ html, modified, want string }{
		"published":                  {meta("article:published_time", "2025-03-04T05:06:07+02:00"), "", "2025-03-04"},
		"changed later":              {meta("article:published_time", "2024-01-01") + meta("article:modified_time", "2025-02-03"), "", "2025-02-03"},
		"JSON-LD":                    {`<script type="application/ld+json">{"@type":"Article","datePublished":"2025-06-07"}</script>`, "", "2025-06-07"},
		"words":                      {meta("dc.date", "January 2, 2023"), "", "2023-01-02"},
		"before the metadata":        {meta("dc.date", "2023-01-02"), "Mon, 04 May 2026 10:00:00 GMT", "2023-01-02"},
		"header":                     {"", "Mon, 04 May 2026 10:00:00 GMT", "2026-05-04"},
		"header of a page made anew": {"", "Wed, 20 May 2026 11:59:00 GMT", ""},
		"header of the future":       {"", "Wed, 20 May 2028 11:59:00 GMT", ""},
		"future":                     {meta("dc.date", "2028-01-01"), "", ""},
		"before computers":           {meta("dc.date", "1815-06-18"), "", ""},
		"no date":                    {meta("dc.date", "last summer"), "yesterday", ""},
		"none":                       {"", "", ""},
	} {
		d, err := Read([]byte("<html><head>"+test.html+"</head><body><p>Text.</p></body></html>"), "text/html")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if at := d.Date(test.modified, fetched); !at.IsZero() {
			got = at.Format(time.DateOnly)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	text, err := Read([]byte("Only text."), "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	if at := text.Date("Mon, 04 May 2026 10:00:00 GMT", fetched); at.Format(time.DateOnly) != "2026-05-04" {
		t.Errorf("plain text: %v", at)
	}
}
