package web

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Brand is what an operator sets to make the search page look like the rest of a site. The zero Brand is
// that of Bucketsearch.
type Brand struct {
	Name   string // name of the search page; "" for Bucketsearch
	Logo   Logo
	Colour *Colour // colour of buttons and links; nil for the standard one
}

// maxName is the greatest number of characters of Brand.Name.
const maxName = 60

// ParseName returns the name of a search page without spaces around it.
func ParseName(text string) (string, error) {
	if n := utf8.RuneCountInString(text); n > maxName {
		return "", fmt.Errorf("the name has %d characters; use at most %d", n, maxName)
	}
	return strings.TrimSpace(text), nil
}

// Title returns the name of the search page.
func (b *Brand) Title() string {
	if b.Name == "" {
		return "Bucketsearch"
	}
	return b.Name
}

// HasLogo reports whether the brand has a logo.
func (b *Brand) HasLogo() bool { return b.Logo.address != "" }

// LogoAddress returns the address at which the logo is served.
func (b *Brand) LogoAddress() string { return b.Logo.address }

// Logo is an image that the search page shows beside its name. The zero Logo is none.
type Logo struct{ asset }

// MaxLogo is the greatest size of a logo, in bytes.
const MaxLogo = 256 << 10

// ParseLogo returns the logo whose file has the given content: a PNG, JPEG, GIF, WebP or SVG image.
func ParseLogo(content []byte) (Logo, error) {
	if len(content) > MaxLogo {
		return Logo{}, fmt.Errorf("the logo has more than %d bytes; use a smaller image", MaxLogo)
	}
	media := http.DetectContentType(content)
	if start := content[:min(len(content), 1024)]; bytes.Contains(start, []byte("<svg")) {
		media = "image/svg+xml"
	}
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"}, media) {
		return Logo{}, fmt.Errorf("the logo is %s; use a PNG, JPEG, GIF, WebP or SVG image", media)
	}
	return Logo{newAsset("/logo", media, content)}, nil
}

// Colour is a colour in sRGB.
type Colour struct{ Red, Green, Blue uint8 }

// The colours of style.css against which links and buttons must have enough contrast, in the light and in
// the dark theme.
var (
	lightPage = Colour{0xFF, 0xFF, 0xFF} // also the text of buttons
	lightMark = Colour{0xFF, 0xEC, 0x99}
	darkPage  = Colour{0x14, 0x17, 0x1D}
	darkField = Colour{0x1D, 0x21, 0x2A}
	darkMark  = Colour{0x45, 0x3A, 0x06}
)

// enough is the least contrast of text that WCAG 2.2 asks for (1.4.3, level AA).
const enough = 4.5

// ParseColour reads a colour such as #2457c5 or #25c.
func ParseColour(text string) (Colour, error) {
	digits := strings.TrimPrefix(text, "#")
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	var c Colour
	if n, err := fmt.Sscanf(digits, "%02x%02x%02x", &c.Red, &c.Green, &c.Blue); err != nil || n != 3 || len(digits) != 6 || strings.ContainsAny(digits, "+- ") {
		return Colour{}, fmt.Errorf("%q is no colour; write it like #2457c5", text)
	}
	return c, nil
}

// String returns the colour in CSS.
func (c Colour) String() string { return fmt.Sprintf("#%02x%02x%02x", c.Red, c.Green, c.Blue) }

// luminance returns the relative luminance of a colour, from 0 for black to 1 for white (WCAG 2.2).
func (c Colour) luminance() float64 {
	linear := func(channel uint8) float64 {
		v := float64(channel) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.Red) + 0.7152*linear(c.Green) + 0.0722*linear(c.Blue)
}

// contrast returns the contrast ratio of two colours, from 1 to 21 (WCAG 2.2).
func contrast(a, b Colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// against returns a colour that has enough contrast to every given background. It moves in small steps from
// c towards the colour to, and returns the first colour with enough contrast.
func (c Colour) against(to Colour, backgrounds ...Colour) Colour {
	const steps = 64
	for step := range steps {
		mixed := Colour{mix(c.Red, to.Red, step, steps), mix(c.Green, to.Green, step, steps), mix(c.Blue, to.Blue, step, steps)}
		if !slices.ContainsFunc(backgrounds, func(b Colour) bool { return contrast(mixed, b) < enough }) {
			return mixed
		}
	}
	return to
}

func mix(from, to uint8, step, steps int) uint8 {
	return uint8((int(from)*(steps-step) + int(to)*step) / steps)
}

// style returns the style sheet of a brand: the standard one, with the brand's colour for links and buttons.
// In each theme, the colour is made darker or lighter as far as is necessary for readable text.
func (b *Brand) style() []byte {
	sheet := file("style.css")
	if b.Colour == nil {
		return sheet
	}
	onLight := b.Colour.against(Colour{}, lightPage, lightMark)
	onDark := b.Colour.against(Colour{0xFF, 0xFF, 0xFF}, darkPage, darkField, darkMark)
	return fmt.Appendf(sheet, "\n:root { --link: %s; --button: %[1]s; }\n@media (prefers-color-scheme: dark) { :root { --link: %s; } }\n", onLight, onDark)
}
