package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBranding(t *testing.T) {
	dir := t.TempDir()
	logo, text := filepath.Join(dir, "logo.svg"), filepath.Join(dir, "text")
	for path, content := range map[string]string{logo: "<svg xmlns='http://www.w3.org/2000/svg'/>", text: "text"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	brand, err := (&branding{title: " Example ", logo: logo, colour: "#25c"}).brand()
	if err != nil || brand.Title() != "Example" || !brand.HasLogo() || brand.Colour.String() != "#2255cc" {
		t.Errorf("%q, %v, %v", brand.Title(), brand.Colour, err)
	}
	if plain, err := new(branding).brand(); err != nil || plain.Title() != "Bucketsearch" || plain.HasLogo() || plain.Colour != nil {
		t.Errorf("without flags: %+v, %v", plain, err)
	}
	for want, wrong := range map[string]branding{
		"--colour: ":          {colour: "blue"},
		"--title: ":           {title: strings.Repeat("x", 99)},
		"--logo " + text:      {logo: text},
		"--logo " + dir + "/": {logo: filepath.Join(dir, "absent")},
	} {
		if _, err := wrong.brand(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", wrong, err, want)
		}
	}
}
