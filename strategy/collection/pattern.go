package collection

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

const (
	maxPatterns     = 1000 // maximum number of patterns in Include or Exclude
	maxPatternBytes = 1024
)

// expressionMark is the beginning of a pattern that is a regular expression.
const expressionMark = "re:"

// pattern matches canonical URLs in linear time. It is either a text that matches the
// whole URL, in which '*' stands for any sequence of characters, or a regular expression
// (RE2) that matches a part of the URL.
type pattern struct {
	text       string         // the pattern as a person has written it
	parts      []string       // the parts of the pattern's text between the '*' in it
	expression *regexp.Regexp // the regular expression; nil if the pattern is a text
}

func parsePattern(text string) (pattern, error) {
	if len(text) > maxPatternBytes {
		return pattern{}, fmt.Errorf("pattern %.40q… has %d bytes: want at most %d", text, len(text), maxPatternBytes)
	}
	if expression, found := strings.CutPrefix(text, expressionMark); found {
		compiled, err := regexp.Compile(expression)
		if err != nil {
			if at, ok := errors.AsType[*syntax.Error](err); ok {
				err = fmt.Errorf("%s in %q", at.Code, at.Expr)
			}
			return pattern{}, fmt.Errorf(`pattern %q is no regular expression: %w; write it like "re:/release-[0-9]+/"`, text, err)
		}
		return pattern{text: text, expression: compiled}, nil
	}
	if !strings.HasPrefix(text, "*") && !strings.HasPrefix(text, "http") {
		return pattern{}, fmt.Errorf(`pattern %q matches no address: want one of a whole address such as "*/docs/*", or "re:" and a regular expression`, text)
	}
	return pattern{text: text, parts: strings.Split(address.NormalEscapes(text), "*")}, nil
}

func parsePatterns(texts []string) ([]pattern, error) {
	if len(texts) > maxPatterns {
		return nil, fmt.Errorf("%d patterns: want at most %d", len(texts), maxPatterns)
	}
	var all []pattern
	for _, text := range texts {
		p, err := parsePattern(text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func matchAny(patterns []pattern, url string) bool {
	return slices.ContainsFunc(patterns, func(p pattern) bool { return p.match(url) })
}

func (p pattern) match(url string) bool {
	if p.expression != nil {
		return p.expression.MatchString(url)
	}
	last := len(p.parts) - 1
	if last == 0 {
		return url == p.parts[0]
	}
	url, begins := strings.CutPrefix(url, p.parts[0])
	url, ends := strings.CutSuffix(url, p.parts[last])
	if !begins || !ends {
		return false
	}
	for _, part := range p.parts[1:last] {
		_, after, found := strings.Cut(url, part)
		if !found {
			return false
		}
		url = after
	}
	return true
}
