package judged

import (
	"flag"
	"log"
)

// Main runs a command that makes judged sets. It reads the flags -in, -base and -out, whose meanings the
// parameters say, and passes them to run.
func Main(in, base, out string, run func(in, base, out string) error) {
	from := flag.String("in", "", in)
	address := flag.String("base", "", base)
	to := flag.String("out", "", out)
	flag.Parse()
	if err := run(*from, *address, *to); err != nil {
		log.Fatal(err)
	}
}
