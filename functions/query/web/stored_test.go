package web

import "testing"

func TestServedType(t *testing.T) {
	for stored, want := range map[string]string{
		"text/html":                           "text/html",
		"Text/HTML; Charset=\"windows-1252\"": "text/html; charset=windows-1252",
		"text/html; charset=a\x00b":           "text/html",
		"text/html; charset":                  "text/html",
		"application/xhtml+xml":               "application/xhtml+xml",
		"text/plain; charset=koi8-r":          "text/plain; charset=koi8-r",
		"text/xml":                            "text/plain",
		"application/atom+xml;charset=utf-8":  "text/plain; charset=utf-8",
		"image/svg+xml":                       "text/plain",
		"Image/PNG; x=y":                      "image/png",
		"image/jpeg":                          "image/jpeg",
		"image/tiff":                          "application/octet-stream",
		"text/javascript":                     "text/plain",
		"application/pdf":                     "application/octet-stream",
		"multipart/x-mixed-replace":           "application/octet-stream",
		"":                                    "application/octet-stream",
	} {
		got, attachment := servedType(stored, false)
		if got != want || attachment != (want == "application/octet-stream") {
			t.Errorf("%q is served as %q, attachment %v; want %q", stored, got, attachment, want)
		}
	}
	if got, attachment := servedType("image/svg+xml", true); got != "image/svg+xml" || attachment {
		t.Errorf("SVG as an image is served as %q, attachment %v", got, attachment)
	}
	if got, _ := servedType("text/html", true); got != "text/html" {
		t.Errorf("HTML as an image is served as %q", got)
	}
}
