package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// flagValue is the value of a flag. Its text is parsed by a function of package literal. If the
// text is wrong, the error of this function names the flag and gives an example of a right text.
// The types of values in package pflag do not give such errors.
type flagValue[T any] struct {
	name string                             // name of the flag with its dashes, for error messages
	to   *T                                 // variable to which the value is assigned
	read func(name, text string) (T, error) // function that parses a text as a value; its errors name the flag
	show func(T) string                     // function that formats a value as text
}

// Set implements pflag.Value.
func (v flagValue[T]) Set(text string) error {
	read, err := v.read(v.name, text)
	if err == nil {
		*v.to = read
	}
	return err
}

// String implements pflag.Value.
func (v flagValue[T]) String() string {
	if v.to == nil {
		return ""
	}
	return v.show(*v.to)
}

// Type implements pflag.Value. pflag asks for a name to show in --help for the value of the flag.
// It does not show this one, because the usage text of every flag has a better name in backquotes.
func (flagValue[T]) Type() string { return "value" }

// durationVar defines a flag for a duration, with a default and a maximum. The minimum is 0.
func durationVar(flags *pflag.FlagSet, to *time.Duration, name string, usual, most time.Duration, usage string) {
	*to = usual
	flags.Var(flagValue[time.Duration]{"--" + name, to, func(name, text string) (time.Duration, error) {
		return literal.Duration(name, text, most)
	}, literal.Span}, name, usage)
}

// wholeVar defines a flag for a whole number, with a default, a minimum and a maximum. The short
// name of the flag is one letter; "" if it has none.
func wholeVar[N int | int64 | uint64](flags *pflag.FlagSet, to *N, name, short string, usual N, least, most int64, usage string) {
	*to = usual
	flags.VarP(flagValue[N]{"--" + name, to, func(name, text string) (N, error) {
		n, err := literal.Whole(name, text, least, most)
		return N(n), err
	}, func(n N) string { return strconv.FormatInt(int64(n), 10) }}, name, short, usage)
}

// depthVar defines a flag for a depth: a number of links, or "unlimited", which stands for
// collection.Unlimited and is the default.
func depthVar(flags *pflag.FlagSet, to *int, name, usage string) {
	*to = collection.Unlimited
	flags.Var(flagValue[int]{"--" + name, to, func(name, text string) (int, error) {
		if text == "unlimited" || text == strconv.Itoa(collection.Unlimited) {
			return collection.Unlimited, nil
		}
		n, err := literal.Whole(name, text, 0, math.MaxUint16)
		if err != nil {
			return 0, literal.Wrong(name, text, `a number of links such as 3, or "unlimited"`)
		}
		return int(n), nil
	}, func(n int) string {
		if n == collection.Unlimited {
			return "unlimited"
		}
		return strconv.Itoa(n)
	}}, name, usage)
}

// amountVar defines a flag for a number of at least 0, such as 0.5.
func amountVar(flags *pflag.FlagSet, to *float64, name, usage string) {
	flags.Var(flagValue[float64]{"--" + name, to, literal.Amount, func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }}, name, usage)
}

// sizeVar defines a flag for a size such as 50GB or 1.5TiB, and stores the number of bytes.
func sizeVar(flags *pflag.FlagSet, to *int64, name, usage string) {
	flags.Var(flagValue[int64]{"--" + name, to, literal.Size, func(n int64) string { return strconv.FormatInt(n, 10) }}, name, usage)
}

// timeVar defines a flag for a date such as 2026-11-21, which means its first moment in UTC,
// or for a time such as 2026-11-21T09:30:00Z.
func timeVar(flags *pflag.FlagSet, to *time.Time, name, usage string) {
	flags.Var(flagValue[time.Time]{"--" + name, to, literal.Time, func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Format(time.RFC3339)
	}}, name, usage)
}

// languageVar defines a flag for one language, such as de or de-AT. It stores the primary subtag: de.
func languageVar(flags *pflag.FlagSet, to *string, name, usage string) {
	read := func(name, text string) (string, error) {
		primary, _, _ := strings.Cut(text, "-")
		language, err := literal.Languages(name, primary, 1)
		if err != nil {
			return "", literal.Wrong(name, text, "a language such as de")
		}
		return strings.Join(language, ""), nil
	}
	flags.Var(flagValue[string]{"--" + name, to, read, func(language string) string { return language }}, name, usage)
}

// acrossVar defines the flag --across, a list of languages into which a query is translated.
func acrossVar(flags *pflag.FlagSet, to *[]string, usage string) {
	read := func(name, text string) ([]string, error) { return literal.Languages(name, text, search.MaxAcross) }
	flags.Var(flagValue[[]string]{"--across", to, read, func(all []string) string { return strings.Join(all, ",") }}, "across", usage)
}

// asofVar defines the flag --asof, a moment that is not in the future.
func asofVar(flags *pflag.FlagSet, to *time.Time, usage string) {
	timeVar(flags, to, "asof", usage)
	value := flags.Lookup("asof").Value.(flagValue[time.Time])
	read := value.read
	value.read = func(name, text string) (time.Time, error) {
		t, err := read(name, text)
		if err == nil && t.After(time.Now()) {
			err = fmt.Errorf("%s is %q, which is still to come; write a time of the last seven days", name, text)
		}
		return t, err
	}
	flags.Lookup("asof").Value = value
}

// formerly maps names that flags had in version 0.1.0 to their present names.
var formerly = map[string]string{"connections": "host-connections", "max-pages": "pages", "requests": "requests-a-day", "usd": "usd-a-day"}

// flagError rewords an error of pflag about a flag, and adds advice, such as the right flag or the
// command whose --help lists the flags.
func flagError(cmd *cobra.Command, err error) error {
	see := "; see: " + cmd.CommandPath() + " --help"
	if none, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := "--" + none.GetSpecifiedName()
		if none.GetSpecifiedShortnames() != "" {
			name = name[1:]
		}
		if now := formerly[none.GetSpecifiedName()]; now != "" {
			return fmt.Errorf("there is no flag %s any more; write --%s", name, now)
		}
		var all []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, f.Name) })
		if near := literal.Nearest(none.GetSpecifiedName(), all); near != "" {
			return fmt.Errorf("there is no flag %s; perhaps --%s is meant%s", name, near, see)
		}
		return fmt.Errorf("there is no flag %s%s", name, see)
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		what, usage := pflag.UnquoteUsage(missing.GetFlag())
		return fmt.Errorf("--%s needs a value behind it, %s: %s", missing.GetFlag().Name, what, strings.Join(strings.Fields(usage), " "))
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if invalid.GetFlag().Value.Type() == "bool" {
			return literal.Wrong("--"+invalid.GetFlag().Name, invalid.GetValue(), "true or false, or the flag alone")
		}
		return errors.Unwrap(err)
	}
	if syntax, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return fmt.Errorf("%q is no flag%s", syntax.GetSpecifiedFlag(), see)
	}
	return fmt.Errorf("%w%s", err, see)
}
