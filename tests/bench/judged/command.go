package judged

import (
	"flag"
	"io"
	"log"
	"net/url"
	"os"
	"path/filepath"
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

// OfFile returns a function for Main that makes judged sets from one file, which the flag -in names. read gets the
// file, and the address of its page: its name below -base. The key of a set is the beginning of the names of its
// files, such as "terms-".
func OfFile(read func(file io.Reader, page *url.URL) (map[string]Set, error)) func(in, base, out string) error {
	return func(in, base, out string) error {
		directory, err := url.Parse(base)
		if err != nil {
			return err
		}
		file, err := os.Open(in)
		if err != nil {
			return err
		}
		defer file.Close() //nolint:errcheck // it was only read
		sets, err := read(file, directory.JoinPath(filepath.Base(in)))
		if err != nil {
			return err
		}
		for prefix, set := range sets {
			if err := set.Write(out + "/" + prefix); err != nil {
				return err
			}
		}
		return nil
	}
}
