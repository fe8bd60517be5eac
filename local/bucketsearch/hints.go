package main

import (
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"

	"golang.org/x/term"
)

// A hint is a command in a sentence: "to mend it: bucketsearch verify --repair". The
// package that writes the sentence does not know the flags --data, --s3 and --redis
// with which the person named the bucket. The output adds them, so that the command
// can be copied and works.

// hinted matches a bucketsearch command in a sentence, such as "bucketsearch status". A match
// includes a --help after the command. The function completed adds flags such as --data DIR to each
// match that does not end with --help.
var hinted = regexp.MustCompile(`\bbucketsearch ((?:` + strings.Join([]string{
	"up", "query", "work", "publish", "crawl", "search", "page", "mcp", "export", "import", "eval", "status", "why", "verify", "list", "urls", "report", "collections", "strategy", "pause", "resume", "limits", "keys", "curate",
	"forget", "resend", "rebuild", "reindex",
}, "|") + `)\b(?: [a-z]+)?(?: --help)?)`)

// flagsOf returns the flags by which the user has named the bucket, such as " --data DIR";
// "" if all have their default values.
func (l *location) flagsOf() string {
	var all strings.Builder
	for _, flag := range []struct{ name, value, usual string }{{"data", l.data, usualData}, {"s3", l.s3, ""}, {"redis", l.redis, ""}} {
		if flag.value != flag.usual {
			all.WriteString(" --" + flag.name + " " + quoted(flag.value))
		}
	}
	return all.String()
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// quoted returns a word in quotes for the shell, if it needs any.
func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// quotedAll returns words with spaces between them, each in quotes for the shell if it needs any.
func quotedAll(words []string) string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = quoted(word)
	}
	return strings.Join(all, " ")
}

// complete adds the flags that name the bucket (see flagsOf) to every bucketsearch command
// in a text, so that the command works when it is copied.
func (l *location) complete(text string) string { return completed(text, l.flagsOf()) }

// completed adds flags to every bucketsearch command in a text, except to one with --help.
func completed(text, flags string) string {
	if flags == "" {
		return text
	}
	return hinted.ReplaceAllStringFunc(text, func(hint string) string {
		if strings.HasSuffix(hint, " --help") {
			return hint
		}
		return strings.Replace(hint, "bucketsearch", "bucketsearch"+flags, 1)
	})
}

// hints is a writer that adds flags to every bucketsearch command in the text written to it. The
// flags are those that name the bucket (see flagsOf). Text of web sites must not be written to it,
// because commands in that text would be changed, too.
type hints struct {
	io.Writer
	where  *location
	asJSON bool
}

// sentences returns a writer that writes to out, and adds the flags that name the bucket to each
// bucketsearch command in the text (see complete). The text must be sentences of the program
// itself, such as "to mend it: bucketsearch verify --repair". If asJSON is true, the text is JSON,
// and the flags are escaped as in a string of JSON.
func (l *location) sentences(out io.Writer, asJSON bool) io.Writer { return hints{out, l, asJSON} }

// Write implements io.Writer. The text of one call must have whole commands: a command that is
// divided between two calls is not recognized, and gets no flags.
func (h hints) Write(text []byte) (int, error) {
	flags := h.where.flagsOf()
	if h.asJSON {
		escaped, err := json.Marshal(flags)
		if err != nil {
			return 0, err
		}
		flags = string(escaped[1 : len(escaped)-1])
	}
	if _, err := io.WriteString(h.Writer, completed(string(text), flags)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// terminalOf returns the terminal to which out writes; nil if out writes elsewhere.
func terminalOf(out io.Writer) *os.File {
	if h, ok := out.(hints); ok {
		out = h.Writer
	}
	if file, isFile := out.(*os.File); isFile && term.IsTerminal(int(file.Fd())) {
		return file
	}
	return nil
}
