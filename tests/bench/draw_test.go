package bench

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"testing"
)

func listenOn(b *testing.B, address string) net.Listener {
	b.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	return listener
}

// soakLines has the lines of the picture that BenchmarkSoak draws, by their names. The function of
// a line returns the line's value in a sample.
var soakLines = map[string]func(vitals) float64{
	"resident-MiB": func(v vitals) float64 { return v.resident },
	"goroutines":   func(v vitals) float64 { return v.goroutines },
	"descriptors":  func(v vitals) float64 { return v.descriptors },
	"documents":    func(v vitals) float64 { return v.documents },
	"slowest-ms":   func(v vitals) float64 { return v.slowest },
}

// Sizes in pixels: width of the picture, height of the strip that each line gets, and margin
// around a strip.
const (
	width, strip, margin = 1000, 130, 30
)

// drawSoak draws the samples as an SVG picture. For each figure in soakLines, it has a strip with a
// line that shows the figure over time. The bottom of a strip means zero, the top the highest value
// of the line.
func drawSoak(samples []vitals) []byte {
	var out bytes.Buffer
	var names []string
	for name := range soakLines {
		names = append(names, name)
	}
	slices.Sort(names)
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="13">`,
		width+2*margin, len(names)*(strip+margin)+margin)
	fmt.Fprint(&out, `<rect width="100%" height="100%" fill="white"/>`)
	last := samples[len(samples)-1].at
	for n, name := range names {
		of, top := soakLines[name], margin+n*(strip+margin)
		highest := 1e-9
		for _, s := range samples {
			highest = max(highest, of(s))
		}
		fmt.Fprintf(&out, `<text x="%d" y="%d">%s: at most %.0f, at the end %.0f</text>`, margin, top-6, name, highest, of(samples[len(samples)-1]))
		fmt.Fprintf(&out, `<path d="M%d,%dv%dh%d" fill="none" stroke="gray"/><polyline fill="none" stroke="#2060c0" points="`, margin, top, strip, width)
		for _, s := range samples {
			fmt.Fprintf(&out, "%.1f,%.1f ", margin+width*s.at.Seconds()/last.Seconds(), float64(top+strip)-strip*of(s)/highest)
		}
		fmt.Fprint(&out, `"/>`)
	}
	fmt.Fprintf(&out, `<text x="%d" y="%d">%v</text></svg>`, width-margin, len(names)*(strip+margin)+margin-8, last.Round(1e9))
	return out.Bytes()
}
