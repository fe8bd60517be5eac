// Package client asks a Bucketsearch server by its HTTP API, which the server describes at /v1/. A
// program needs nothing else of the repository:
//
//	import "github.com/bucketsearch/bucketsearch/functions/query/client"
//
//	c := client.Client{URL: "https://search.example.org", Key: os.Getenv("SEARCH_KEY")}
//	answer, err := c.Search(ctx, client.Query{Text: "vacuum table"})
//
// Members of answers that a later server adds are ignored.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Client asks one server. It is safe for concurrent use, unless its fields are changed.
type Client struct {
	URL  string       // address of the server, such as https://search.example.org
	Key  string       // key of the API; "" if the server needs none
	HTTP *http.Client // nil for http.DefaultClient

	// Wait waits for the time d before a request is repeated. It returns ctx's error if ctx ends before. If
	// Wait is nil, a timer is used.
	Wait func(ctx context.Context, d time.Duration) error
}

const (
	attempts  = 4           // greatest number of attempts of a request
	maxWait   = time.Minute // greatest pause between two attempts; if the server asks for a longer one, the request fails
	maxAnswer = 64 << 20    // greatest size of an answer, in bytes
)

// Problem is the error of a request that the server has refused or could not answer.
type Problem struct {
	Status     int    `json:"status"` // HTTP status
	Title      string `json:"title"`
	Detail     string `json:"detail"`    // sentence that says what to do
	Parameter  string `json:"parameter"` // name of the parameter that is wrong; "" if it is not about one
	RetryAfter time.Duration
}

// Error implements error.
func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Title, p.Detail) }

// Search searches.
func (c *Client) Search(ctx context.Context, q Query) (answer Answer, err error) {
	err = c.json(ctx, "/v1/search?"+q.values().Encode(), &answer)
	return answer, err
}

// All returns the results of a query one after the other, from number q.From on to the last one that the
// server shows. It requests one page of q.N results after the other, as the caller needs them. After an
// error it ends.
func (c *Client) All(ctx context.Context, q Query) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		for path := "/v1/search?" + q.values().Encode(); path != ""; {
			var answer Answer
			if err := c.json(ctx, path, &answer); err != nil {
				yield(Result{}, err)
				return
			}
			for _, result := range answer.Results {
				if !yield(result, nil) {
					return
				}
			}
			path = answer.Next
			if len(answer.Results) == 0 {
				return
			}
		}
	}
}

// Facets counts the pages that match a query by facets, such as site and language: by those that q.Facets names
// or, if it is empty, by all that exist. The answer has no results, so the fields N, From, ByDate, FoldSites,
// Highlight and ExplainScore of the query are ignored.
func (c *Client) Facets(ctx context.Context, q Query) (answer Answer, err error) {
	q.N, q.From, q.ByDate, q.FoldSites, q.Highlight, q.ExplainScore = 0, 0, false, false, false, false
	err = c.json(ctx, "/v1/facets?"+q.values().Encode(), &answer)
	return answer, err
}

// Suggest returns titles, headings, texts of links and words that continue what somebody types, the best first. The
// parameter n is the greatest number of suggestions, 1 to 50.
func (c *Client) Suggest(ctx context.Context, typed string, n int) ([]Suggestion, error) {
	var answer struct{ Suggestions []Suggestion }
	err := c.json(ctx, "/v1/suggest?"+url.Values{"q": {typed}, "n": {strconv.Itoa(n)}}.Encode(), &answer)
	return answer.Suggestions, err
}

// Outcome is the result of one of several queries: an answer or, if Err is not nil, an error of the type
// *Problem.
type Outcome struct {
	Answer Answer
	Err    error
}

// Multi sends up to 10 queries in one request. It returns one outcome for each query, in the same order. The
// error of Multi means that the request as a whole failed.
func (c *Client) Multi(ctx context.Context, queries ...Query) ([]Outcome, error) {
	var asked struct {
		Searches []url.Values `json:"searches"`
	}
	for _, q := range queries {
		asked.Searches = append(asked.Searches, q.values())
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	content, err := c.ask(ctx, http.MethodPost, "/v1/multi", body)
	if err != nil {
		return nil, err
	}
	var answers struct {
		Answers []struct {
			Answer  Answer
			Problem *Problem
		}
	}
	if err := json.Unmarshal(content, &answers); err != nil {
		return nil, fmt.Errorf("cannot read the answer of /v1/multi: %w", err)
	}
	outcomes := make([]Outcome, len(answers.Answers))
	for i, a := range answers.Answers {
		outcomes[i].Answer = a.Answer
		if a.Problem != nil {
			outcomes[i].Err = a.Problem
		}
	}
	return outcomes, nil
}

// Page returns the main part of the stored copy of a page. If asOf is not zero, it is the copy that was
// stored at that time; otherwise it is the present copy.
func (c *Client) Page(ctx context.Context, address string, asOf time.Time) (page Page, err error) {
	err = c.json(ctx, pagePath(address, asOf, "json"), &page)
	return page, err
}

// Markdown returns the main part of the stored copy of a page as Markdown. The parameter asOf chooses the
// copy, as in Page.
func (c *Client) Markdown(ctx context.Context, address string, asOf time.Time) (string, error) {
	content, err := c.ask(ctx, http.MethodGet, pagePath(address, asOf, "markdown"), nil)
	return string(content), err
}

// Stored returns the stored copy of a page: its bytes as they are stored, such as HTML. The parameter asOf
// chooses the copy, as in Page.
func (c *Client) Stored(ctx context.Context, address string, asOf time.Time) ([]byte, error) {
	return c.ask(ctx, http.MethodGet, pagePath(address, asOf, "html"), nil)
}

func pagePath(address string, asOf time.Time, format string) string {
	values := url.Values{"url": {address}, "format": {format}}
	setTime(values, "asof", asOf)
	return "/v1/page?" + values.Encode()
}

// json asks by GET, and decodes the answer.
func (c *Client) json(ctx context.Context, path string, into any) error {
	content, err := c.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("cannot read the answer of %s: %w", path, err)
	}
	return nil
}

// ask sends a request, and returns the content of the answer. If the server refuses the request and says in
// Retry-After when to try again, ask waits and repeats the request, at most until attempts requests were
// sent. It does not wait longer than maxWait at a time.
func (c *Client) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		content, refused, err := c.once(ctx, method, path, body)
		switch {
		case err != nil:
			return nil, err
		case refused == nil:
			return content, nil
		case refused.RetryAfter == 0 || refused.RetryAfter > maxWait || attempt == attempts:
			return nil, refused
		}
		wait := c.Wait
		if wait == nil {
			wait = sleep
		}
		if err := wait(ctx, refused.RetryAfter); err != nil {
			return nil, fmt.Errorf("%w (%w)", refused, err)
		}
	}
}

// once sends a request once. If the server answers with an error status, the result refused is the problem
// in the answer; err is nil then.
func (c *Client) once(ctx context.Context, method, path string, body []byte) (content []byte, refused *Problem, err error) {
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}
	by := c.HTTP
	if by == nil {
		by = http.DefaultClient
	}
	response, err := by.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	content, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the answer of %s: %w", path, err)
	}
	if len(content) > maxAnswer {
		return nil, nil, fmt.Errorf("the answer of %s has more than %d bytes", path, maxAnswer)
	}
	if response.StatusCode < 300 {
		return content, nil, nil
	}
	return nil, problemOf(response, content), nil
}

// problemOf returns the problem in an answer with an error status. If the content is not a problem, perhaps
// because a proxy has answered, the field Detail is the beginning of the content.
func problemOf(response *http.Response, content []byte) *Problem {
	var p Problem
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if media != "application/problem+json" || json.Unmarshal(content, &p) != nil {
		p = Problem{Detail: strings.TrimSpace(strings.ToValidUTF8(string(content[:min(len(content), 200)]), ""))}
	}
	p.Status = response.StatusCode
	if p.Title == "" {
		p.Title = http.StatusText(p.Status)
	}
	if p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable {
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
			p.RetryAfter = time.Duration(min(seconds, 1<<30)) * time.Second
		}
	}
	return &p
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
