package web

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
)

func TestParseColour(t *testing.T) {
	for text, want := range map[string]string{"#2457c5": "#2457c5", "2457C5": "#2457c5", "#25c": "#2255cc", "#000": "#000000"} {
		if got, err := ParseColour(text); err != nil || got.String() != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "#", "#12345", "#1234567", "blue", "#+1+1+1", "# 1 1 1", "#2457c5;"} {
		if got, err := ParseColour(text); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}

var (
	variable = regexp.MustCompile(`--([a-z]+): (#[0-9a-f]+);`)
	darkRule = regexp.MustCompile(`(?s)@media \(prefers-color-scheme: dark\) \{.*?\}\s*\}`)
)

// themes returns the colours of a style sheet's variables, in light and in dark.
func themes(t *testing.T, sheet string) (light, dark map[string]Colour) {
	t.Helper()
	light, dark = make(map[string]Colour), make(map[string]Colour)
	read := func(rules string, into ...map[string]Colour) {
		for _, match := range variable.FindAllStringSubmatch(rules, -1) {
			c, err := ParseColour(match[2])
			if err != nil {
				t.Fatal(err)
			}
			for _, theme := range into {
				theme[match[1]] = c
			}
		}
	}
	read(darkRule.ReplaceAllString(sheet, ""), light, dark)
	for _, rules := range darkRule.FindAllString(sheet, -1) {
		read(rules, dark)
	}
	return light, dark
}

// TestContrast checks that in the light and in the dark theme all text has enough contrast to its
// background, whatever colour an operator chooses. The measure is that of WCAG 2.2, level AA: a ratio of 4.5
// to 1 for text, and of 3 to 1 for the border of the search box.
func TestContrast(t *testing.T) {
	for _, text := range []string{"", "#ffffff", "#000000", "#ffff00", "#0000ff", "#ff0000", "#808080", "#2f9e44"} {
		var b Brand
		if text != "" {
			c, err := ParseColour(text)
			if err != nil {
				t.Fatal(err)
			}
			b.Colour = &c
		}
		light, dark := themes(t, string(b.style()))
		if light["page"] != lightPage || light["mark"] != lightMark || dark["page"] != darkPage || dark["field"] != darkField || dark["mark"] != darkMark {
			t.Fatalf("the colours of style.css are others: %v, %v", light, dark)
		}
		for scheme, theme := range map[string]map[string]Colour{"light": light, "dark": dark} {
			for _, pair := range [][2]string{
				{"text", "page"}, {"text", "field"}, {"text", "mark"}, {"faint", "page"}, {"faint", "field"},
				{"link", "page"}, {"link", "field"}, {"link", "mark"}, {"visited", "page"}, {"visited", "mark"}, {"address", "page"}, {"address", "field"},
			} {
				if got := contrast(theme[pair[0]], theme[pair[1]]); got < enough {
					t.Errorf("%s, %s: %s on %s has a contrast of %.2f", text, scheme, pair[0], pair[1], got)
				}
			}
			if got := contrast(Colour{0xFF, 0xFF, 0xFF}, theme["button"]); got < enough {
				t.Errorf("%s, %s: the text of buttons has a contrast of %.2f", text, scheme, got)
			}
		}
	}
	if got := contrast(Colour{}, lightPage); got < 20.9 || got > 21 {
		t.Errorf("black on white has a contrast of %v, want 21", got)
	}
}

// TestBrand checks that the pages of a brand show its name and logo, and that nothing but an image is
// taken for a logo.
func TestBrand(t *testing.T) {
	svg := []byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"></svg>`)
	logo, err := ParseLogo(svg)
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(t, 1)
	h := Handler(Site{Engine: s.engine(s.Bucket), Brand: Brand{Name: "Example <b>", Logo: logo}})
	page := parsed(t, querytest.Ask(h, "GET", "/").Body.String())
	if got := page.Find("header .name").Text(); got != "Example <b>" || page.Find("title").Text() != got {
		t.Errorf("called %q, %q", got, page.Find("title").Text())
	}
	w := querytest.Ask(h, "GET", page.Find("header .name img").AttrOr("src", ""))
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/svg+xml" || !bytes.Equal(w.Body.Bytes(), svg) {
		t.Errorf("logo: %d %v", w.Code, w.Header())
	}
	if plain := Handler(Site{Engine: s.engine(s.Bucket)}); querytest.Ask(plain, "GET", "/logo").Code != http.StatusNotFound {
		t.Error("there is a logo without one")
	}
	for content, want := range map[string]string{
		"<html><title>no": "is text/html", "": "is text/plain", strings.Repeat("x", MaxLogo+1): "more than 262144 bytes",
	} {
		if _, err := ParseLogo([]byte(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", content, err, want)
		}
	}
	if _, err := ParseName(strings.Repeat("ä", maxName+1)); err == nil {
		t.Error("a name may be too long")
	}
}
