package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/shared/reply"
)

// timeForm is the layout of times that people read. The times are in UTC.
const timeForm = time.DateTime

// printJSON prints a value as indented JSON.
func printJSON(out io.Writer, value any) error {
	content, err := reply.Marshal(value, true)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	return err
}

// count returns a number with a noun in the right form: "1 batch", "2 batches".
func count[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "ch") || strings.HasSuffix(thing, "ss") {
		thing += "e"
	}
	if rest, found := strings.CutSuffix(thing, "ry"); found {
		thing = rest + "rie"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// bytesText returns a number of bytes with a unit, such as "1.5 KiB".
func bytesText(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, prefix := float64(n)/unit, 0
	for value >= unit && prefix < 3 {
		value /= unit
		prefix++
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGT"[prefix])
}

// printable returns a text of a web site without control characters, and without those that change the direction of
// writing. So a page cannot send commands to the terminal that shows its title.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
}

// tellFaults prints sentences about lost or damaged objects on standard error, because the figures
// that the command has printed do not include these objects.
func tellFaults(cmd *cobra.Command, faults []string) {
	for _, fault := range faults {
		fmt.Fprintln(cmd.ErrOrStderr(), "Not counted here:", fault)
	}
}
