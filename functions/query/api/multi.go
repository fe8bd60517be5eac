package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/shared/reply"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

const (
	maxSearches = 10      // greatest number of searches in a request to /v1/multi
	maxBody     = 1 << 16 // greatest size of the body of a request, in bytes
	atOnce      = 2       // number of searches of a request that run at the same time
)

// multiRequest is the body of a request to /v1/multi. A search is an object with parameters of
// /v1/search:
//
//	{"searches": [{"q": "vacuum", "n": 3}, {"q": "index", "site": ["example.org", "example.com"]}]}
type multiRequest struct {
	Searches []map[string]json.RawMessage `json:"searches"`
}

// Answers is the answer to a request to /v1/multi: one element for each search, in the same order.
type Answers struct {
	Answers []AnswerOrProblem `json:"answers"`
}

// AnswerOrProblem is what became of one of several searches. Exactly one of its members is set.
type AnswerOrProblem struct {
	Answer  *Answer  `json:"answer,omitempty"`
	Problem *Problem `json:"problem,omitempty"`
}

// multi answers several searches in one request. If a search fails, the others are answered nevertheless.
// For a key with a limit, each search counts as a request.
func (a *api) multi(w http.ResponseWriter, r *http.Request, _ url.Values) error {
	searches, err := readSearches(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return err
	}
	a.guard.Count(r, len(searches)-1)
	all := Answers{make([]AnswerOrProblem, len(searches))}
	reader := request.Languages(r)
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, fields := range searches {
		group.Go(func() error {
			answer, err := a.one(r.Context(), fields, reader)
			if err != nil {
				p := problemOf(a.failure(r, err))
				all.Answers[i].Problem = &p
			} else {
				all.Answers[i].Answer = &answer
			}
			return nil
		})
	}
	_ = group.Wait() // its functions return no errors
	if err := r.Context().Err(); err != nil {
		return err
	}
	content, err := reply.Marshal(all, false)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(content) // fails when the client has gone
	return nil
}

// one answers one of several searches.
func (a *api) one(ctx context.Context, fields map[string]json.RawMessage, reader []string) (Answer, error) {
	values, err := valuesOf(fields)
	if err != nil {
		return Answer{}, err
	}
	if values.Has("format") {
		return Answer{}, request.WrongIn("format", "The format of several searches is always json; leave format out.")
	}
	if err := request.Only(values, searchParameters); err != nil {
		return Answer{}, err
	}
	return a.find(ctx, values, reader, "/v1/search")
}

// readSearches reads the body of a request to /v1/multi.
func readSearches(body io.Reader) ([]map[string]json.RawMessage, error) {
	content, err := io.ReadAll(body)
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return nil, request.Failure{Status: http.StatusRequestEntityTooLarge, Sentence: fmt.Sprintf("The body is too long; send at most %d bytes.", maxBody)}
	}
	if err != nil {
		return nil, request.Wrong("The body ended too early; send it again.")
	}
	var wanted multiRequest
	if err := literal.JSON(content, &wanted); err != nil {
		return nil, request.WrongIn("searches", `The body cannot be read: %v. Send JSON like {"searches": [{"q": "words"}]}.`, err)
	}
	if n := len(wanted.Searches); n == 0 || n > maxSearches {
		return nil, request.WrongIn("searches", "The body has %d searches; send 1 to %d.", n, maxSearches)
	}
	return wanted.Searches, nil
}

// valuesOf returns the members of a JSON object as parameters. A member is a text or a number, or a list of
// texts and numbers for a parameter that is repeated.
func valuesOf(fields map[string]json.RawMessage) (url.Values, error) {
	values := url.Values{}
	for name, raw := range fields {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			list = []json.RawMessage{raw}
		}
		for _, one := range list {
			var text string
			var number json.Number
			switch {
			case len(one) > 0 && one[0] == '"' && json.Unmarshal(one, &text) == nil:
				values.Add(name, text)
			case json.Unmarshal(one, &number) == nil && number != "":
				values.Add(name, number.String())
			default:
				return nil, request.WrongIn(name, "%.40s is %.60s; write a text, a number, or a list of them.", name, one)
			}
		}
	}
	return values, nil
}
