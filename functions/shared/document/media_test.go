package document

import (
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/office"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/ole"
)

func TestSniff(t *testing.T) {
	png := "\x89PNG\x0D\x0A\x1A\x0A and so on"
	odt := odtOf(t)
	for name, c := range map[string]struct{ body, contentType, want string }{
		"as claimed":            {"<p>", "Text/HTML; charset=utf-8", "text/html"},
		"plain is not HTML":     {"<html><p>", "text/plain", "text/plain"},
		"nothing claimed":       {"<html><p>", "", "text/html"},
		"nothing at all":        {"", "", "text/plain"},
		"empty HTML":            {"", "text/html", "text/html"},
		"image as HTML":         {png, "text/html", "image/png"},
		"zeros as HTML":         {"\x00\x01\x02\x03", "text/html", "application/octet-stream"},
		"HTML as an image":      {"<html>", "image/png", "image/png"},
		"UTF-16 without a mark": {"<\x00p\x00>\x00", "text/html; charset=utf-16le", "text/html"},
		"feed":                  {"<?xml?>", "application/rss+xml", "application/rss+xml"},
		"PDF as HTML":           {"%PDF-1.4\n\xE2\xE3", "text/html", "application/pdf"},
		"PDF as bytes":          {"%PDF-1.4\n", "application/octet-stream", "application/pdf"},
		"PDF after blanks":      {"\r\n\r\n%PDF-1.4\n", "application/pdf", "application/pdf"},
		"HTML about PDF":        {"<html>%PDF-1.4", "text/html", "text/html"},
		"HTML as PDF":           {"<!doctype html><p>Please log in", "application/pdf", "text/html"},
		"ODT as DOCX":           {odt, office.DOCX, office.ODT},
		"ODT as an archive":     {odt, "application/zip", office.ODT},
		"ODT as nothing":        {odt, "", office.ODT},
		"archive":               {zipOf(t, "a: b"), "application/zip", "application/zip"},
		"archive as EPUB":       {zipOf(t, "a: b"), office.EPUB, "application/zip"},
		"DOC as bytes":          {oleOf("WordDocument"), "application/octet-stream", ole.DOC},
		"XLS as DOC":            {oleOf("Workbook"), ole.DOC, ole.XLS},
		"RTF as DOC":            {`{\rtf1 x}`, ole.DOC, "application/rtf"},
		"text as bytes":         {"some text", "application/octet-stream", "application/octet-stream"},
		"HTML as bytes":         {"<html><p>", "application/octet-stream", "text/html"},
		"gzip as HTML":          {"\x1F\x8B\x08\x00", "text/html", "application/x-gzip"},
		"empty bytes":           {"", "application/octet-stream", "application/octet-stream"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Sniff([]byte(c.body), c.contentType); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestIsText(t *testing.T) {
	for media, want := range map[string]bool{
		"text/html": true, "application/xhtml+xml": true, "text/plain": true, "text/markdown": true, "text/xml": true,
		"application/atom+xml": true, "image/svg+xml": false, "text/css": false, "application/octet-stream": false, "": false,
	} {
		if got := IsText(media); got != want {
			t.Errorf("IsText(%q) = %v", media, got)
		}
	}
}

func TestMayBeReadable(t *testing.T) {
	for contentType, want := range map[string]bool{
		"": true, "text/html; charset=x": true, "application/pdf": true, "Application/Octet-Stream": true, office.PPTX: true, ole.PPT: true,
		"application/zip": true, "image/png": false, "text/css": false, ole.XLS: false, "video/mp4": false,
	} {
		if got := MayBeReadable(contentType); got != want {
			t.Errorf("MayBeReadable(%q) = %v", contentType, got)
		}
		if got := IsReadable(mediaType(contentType)); got && !want {
			t.Errorf("IsReadable(%q) = %v", contentType, got)
		}
	}
}

func TestSearchable(t *testing.T) {
	for contentType, want := range map[string]bool{"text/html; charset=x": true, "application/pdf": true, "application/zip": false, "": true} {
		if got := Searchable([]byte("x"), contentType); got != want {
			t.Errorf("Searchable(%q) = %v", contentType, got)
		}
	}
	if Searchable(nil, "text/html") {
		t.Error("nothing is searchable")
	}
}

// TestMarkdown reads Markdown: as people see it, but for the marks of the heading in the title.
func TestMarkdown(t *testing.T) {
	for first, title := range map[string]string{"# Marmosets": "Marmosets", "### On <b>": "On <b>", "#!/bin/sh -e": "#!/bin/sh -e", "plain text": "plain text"} {
		d, err := Read([]byte(first+"\n\nA *marmoset* <eats>."), "text/markdown")
		if err != nil {
			t.Fatal(err)
		}
		if c := d.Content(); c.Title != title || c.Body != first+"\n\nA *marmoset* <eats>." {
			t.Errorf("%s: title %q, text %q", first, c.Title, c.Body)
		}
	}
}
