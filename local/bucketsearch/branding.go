package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/bucketsearch/bucketsearch/functions/query/web"
)

// branding holds the flags --title, --logo and --colour, which say how the search page looks.
type branding struct {
	title, logo, colour string
}

func (b *branding) flags(flags *pflag.FlagSet) {
	flags.StringVar(&b.title, "title", "", "call the search page so, instead of Bucketsearch: `text`")
	flags.StringVar(&b.logo, "logo", "", "show the image in this `file` beside the title: PNG, JPEG, GIF,\nWebP or SVG")
	flags.StringVar(&b.colour, "colour", "", "`colour` of buttons and links, such as '#2457c5'; made darker or\nlighter where it would be hard to read")
}

// brand returns what the flags say. It reads the file of the logo.
func (b *branding) brand() (brand web.Brand, err error) {
	if brand.Name, err = web.ParseName(b.title); err != nil {
		return brand, fmt.Errorf("--title: %w", err)
	}
	if b.colour != "" {
		colour, err := web.ParseColour(b.colour)
		if err != nil {
			return brand, fmt.Errorf("--colour: %w", err)
		}
		brand.Colour = &colour
	}
	if b.logo != "" {
		content, err := readAtMost(b.logo, web.MaxLogo)
		if err == nil {
			brand.Logo, err = web.ParseLogo(content)
		}
		if err != nil {
			return brand, fmt.Errorf("--logo %s: %w", b.logo, err)
		}
	}
	return brand, nil
}
