package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/shared/reply"
)

// timeForm is the form of times for people, in UTC.
const timeForm = time.DateTime

// printJSON prints a value for programs, and for people who read JSON.
func printJSON(out io.Writer, value any) error {
	content, err := reply.Marshal(value, true)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	return err
}

// count formats a number with a noun for people.
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

// bytesText formats a number of bytes for people.
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

// tellFaults prints, beside an answer, what it omits because it is lost or damaged.
func tellFaults(cmd *cobra.Command, faults []string) {
	for _, fault := range faults {
		fmt.Fprintln(cmd.ErrOrStderr(), "Not counted here:", fault)
	}
}
