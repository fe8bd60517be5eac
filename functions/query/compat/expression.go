package compat

import (
	"errors"
	"fmt"
	"strings"
)

const (
	maxConditions = 100 // greatest number of conditions in an expression
	maxDepth      = 20  // greatest number of parentheses around a condition, and of NOT before it
)

// parseExpression reads a filter that is an expression, as Algolia and Meilisearch have it:
//
//	lang:en AND (site:a.org OR site:b.org) AND NOT type:pdf
//	lang = en AND site IN [a.org, b.org] AND date >= "2026-01-31"
//
// NOT binds more than AND, and AND more than OR. A value in quotes may have spaces. An expression is
// refused if it is no list of alternatives, such as (lang:en AND site:a.org) OR lang:de.
func parseExpression(text string) ([]alternatives, error) {
	p := &parser{tokens: tokensOf(text)}
	if len(p.tokens) == 0 {
		return nil, nil
	}
	all, err := p.or(0)
	switch {
	case err != nil:
		return nil, err
	case len(p.tokens) > 0:
		return nil, fmt.Errorf("%.40q is not expected; write AND or OR before it", p.tokens[0].text)
	}
	return all, nil
}

// token is a word, a text in quotes, an operator or a bracket.
type token struct {
	text   string
	quoted bool
}

// signs are the characters that end a word.
const signs = "()[],=!<>:\"'"

// tokensOf splits an expression into tokens. In lang:en, the colon is a token. A value after a colon may
// itself have colons: url:https://a.org is three tokens.
func tokensOf(text string) (tokens []token) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		afterColon := len(tokens) > 0 && tokens[len(tokens)-1] == token{text: ":"}
		switch end := strings.IndexAny(text, signs+" \t\r\n"); {
		case text[0] == '"' || text[0] == '\'':
			value, rest := cutQuoted(text)
			tokens, text = append(tokens, token{value, true}), rest
		case end == 0 && strings.IndexByte("<>!", text[0]) >= 0 && len(text) > 1 && text[1] == '=':
			tokens, text = append(tokens, token{text: text[:2]}), text[2:]
		case end == 0:
			tokens, text = append(tokens, token{text: text[:1]}), text[1:]
		default:
			if afterColon {
				end = strings.IndexAny(text, "()[], \t\r\n")
			}
			if end < 0 {
				end = len(text)
			}
			tokens, text = append(tokens, token{text: text[:end]}), text[end:]
		}
	}
	return tokens
}

// cutQuoted takes a text in quotes from the beginning of text. The result value is the text without its
// quotes, and rest is what follows. A backslash in it makes the next character, such as a quote, a part of
// the value. If the closing quote is missing, the value reaches to the end.
func cutQuoted(text string) (value, rest string) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case text[i] == text[0]:
			return b.String(), text[i+1:]
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String(), ""
}

// parser reads an expression token by token. The parameter depth of its methods counts the parentheses
// around a condition and the words NOT before it.
type parser struct {
	tokens     []token
	conditions int
}

// next takes the first token if it is one of the given words or signs; upper and lower case are the same. It
// returns the word as the parameter has it.
func (p *parser) next(words ...string) (taken string, found bool) {
	if len(p.tokens) == 0 || p.tokens[0].quoted {
		return "", false
	}
	for _, word := range words {
		if strings.EqualFold(p.tokens[0].text, word) {
			p.tokens = p.tokens[1:]
			return word, true
		}
	}
	return "", false
}

func (p *parser) or(depth int) ([]alternatives, error) {
	all, err := p.and(depth)
	for err == nil {
		if _, found := p.next("OR"); !found {
			return all, nil
		}
		var other []alternatives
		if other, err = p.and(depth); err == nil {
			if len(all) != 1 || len(other) != 1 {
				return nil, errors.New("OR joins only single conditions here; write it as conditions with AND, of which each may have alternatives with OR in parentheses")
			}
			all = []alternatives{append(all[0], other[0]...)}
		}
	}
	return nil, err
}

func (p *parser) and(depth int) ([]alternatives, error) {
	all, err := p.not(depth)
	for err == nil {
		if _, found := p.next("AND"); !found {
			return all, nil
		}
		var other []alternatives
		other, err = p.not(depth)
		all = append(all, other...)
	}
	return nil, err
}

func (p *parser) not(depth int) ([]alternatives, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("it is nested more than %d times", maxDepth)
	}
	if _, found := p.next("NOT"); found {
		all, err := p.not(depth + 1)
		if err != nil {
			return nil, err
		}
		return negate(all)
	}
	if _, found := p.next("("); !found {
		return p.condition()
	}
	all, err := p.or(depth + 1)
	if err != nil {
		return nil, err
	}
	if _, found := p.next(")"); !found {
		return nil, errors.New("a parenthesis is not closed")
	}
	return all, nil
}

// condition reads a comparison, or a test for several values: site IN [a.org, b.org].
func (p *parser) condition() ([]alternatives, error) {
	attribute, err := p.word("an attribute")
	if err != nil {
		return nil, err
	}
	_, negated := p.next("NOT")
	if _, found := p.next("IN"); found {
		return p.values(attribute, negated)
	}
	if negated {
		return nil, fmt.Errorf("NOT stands before IN, or before the attribute %.40s", attribute)
	}
	operator, found := p.next("=", "!=", ">=", "<=", ">", "<", ":")
	if !found {
		return nil, fmt.Errorf("the attribute %.40s has no comparison; write it like lang = en", attribute)
	}
	if operator == ":" {
		operator = "="
	}
	value, err := p.word("a value")
	if err != nil {
		return nil, err
	}
	return []alternatives{{{attribute, operator, value}}}, nil
}

// values reads the list of values behind IN.
func (p *parser) values(attribute string, negated bool) ([]alternatives, error) {
	if _, found := p.next("["); !found {
		return nil, errors.New("the values behind IN stand in brackets, like [a.org, b.org]")
	}
	var either alternatives
	for closed := false; !closed; {
		value, err := p.word("a value")
		if err != nil {
			return nil, err
		}
		either = append(either, condition{attribute, "=", value})
		_, _ = p.next(",") // also before the closing bracket
		_, closed = p.next("]")
	}
	if negated {
		return negate([]alternatives{either})
	}
	return []alternatives{either}, nil
}

// word takes a word or a text in quotes. If there is none, the error says that what is expected; what is
// such as "a value".
func (p *parser) word(what string) (string, error) {
	if p.conditions++; p.conditions > 2*maxConditions {
		return "", fmt.Errorf("it has more than %d conditions", maxConditions)
	}
	if len(p.tokens) == 0 {
		return "", fmt.Errorf("it ends where %s is expected", what)
	}
	first := p.tokens[0]
	if !first.quoted && (first.text == "!=" || first.text == "<=" || first.text == ">=" || len(first.text) == 1 && strings.Contains(signs, first.text)) {
		return "", fmt.Errorf("%q stands where %s is expected", first.text, what)
	}
	p.tokens = p.tokens[1:]
	return first.text, nil
}

// negate returns a filter that holds exactly if the given one does not. It fails for a filter that joins
// conditions by both AND and OR.
func negate(all []alternatives) ([]alternatives, error) {
	var negated []alternatives
	switch {
	case len(all) == 1: // NOT (a OR b) is NOT a AND NOT b
		for _, c := range all[0] {
			negated = append(negated, alternatives{c})
		}
	default: // NOT (a AND b) is NOT a OR NOT b
		negated = make([]alternatives, 1)
		for _, either := range all {
			if len(either) > 1 {
				return nil, errors.New("NOT stands before conditions joined by AND or by OR, not by both")
			}
			negated[0] = append(negated[0], either...)
		}
	}
	for _, either := range negated {
		for i := range either {
			either[i].operator = opposites[either[i].operator]
		}
	}
	return negated, nil
}
