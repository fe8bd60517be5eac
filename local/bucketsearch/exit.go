package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/local/system"
)

// exitCode is the code with which the program ends. It says of what kind a failure was.
type exitCode int

// The exit codes; the table exitCodes says what they mean.
const (
	exitDone        exitCode = 0
	exitFailed      exitCode = 1
	exitUsage       exitCode = 2
	exitNothing     exitCode = 3
	exitDamaged     exitCode = 4
	exitUnreachable exitCode = 5
	exitStopped     exitCode = 130
)

// exitCodes lists the exit codes for --help.
var exitCodes = []struct {
	code    exitCode
	meaning string
}{
	{exitDone, "done; a search or a list may be empty"},
	{exitFailed, "failed for a reason that no other code names"},
	{exitUsage, "the command line or a file that it names is wrong"},
	{exitNothing, "nothing there: no crawl yet, no such page, or no seed led to a page"},
	{exitDamaged, "objects of the bucket are lost or damaged; see verify --repair"},
	{exitUnreachable, "the object store or Redis does not answer"},
	{exitStopped, "stopped by Ctrl-C or SIGTERM; up, query and work end with 0 then"},
}

// exitHelp returns the table of exit codes as text.
func exitHelp() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&b, "%5d  %s\n", e.code, e.meaning)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// coded is an error with the code with which the program ends because of it.
type coded struct {
	error
	code exitCode
}

// Unwrap returns the error without its code.
func (c coded) Unwrap() error { return c.error }

// endBy returns an error that makes the program end with the code and without a message. A command
// returns it when it has printed the message already.
func endBy(code exitCode) error { return coded{errSaid, code} }

// misuse returns the error err with the code exitUsage; nil if err is nil. The error must say what is
// wrong with the command line, or with a file that it names.
func misuse(err error) error {
	if err == nil {
		return nil
	}
	return coded{err, exitUsage}
}

// errSaid is the error inside of the result of endBy. It has no text, because the message is printed
// already.
var errSaid = errors.New("")

// codeOf returns the exit code for the error of a command; exitDone if err is nil. The parameter begun
// says whether the command had begun its work. An error without a code that comes before that is a
// mistake in the command line (exitUsage).
func codeOf(ctx context.Context, err error, begun bool) exitCode {
	_, noConnection := errors.AsType[*net.OpError](err)
	_, wrong := errors.AsType[system.WrongOption](err)
	_, lost := errors.AsType[system.LostStrategy](err)
	given, has := errors.AsType[coded](err)
	switch {
	case err == nil:
		return exitDone
	case has:
		return given.code
	case !begun, wrong:
		return exitUsage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitStopped
	case errors.Is(err, system.ErrEmpty), errors.Is(err, engine.ErrNoPage):
		return exitNothing
	case partition.IsFault(err), lost:
		return exitDamaged
	case errors.Is(err, blob.ErrRetryable), noConnection:
		return exitUnreachable
	}
	return exitFailed
}
