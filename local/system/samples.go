package system

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/text/topic"
)

// sampleReader downloads the sample pages of topics, with the limits of fetch on time and
// size. It requests each page once, without a delay and whatever robots.txt says: a person
// has named the page, as if to look at it in a browser.
type sampleReader struct {
	client http.Client
	most   int64 // maximum size of a page in bytes
}

func newSamples(transport *http.Transport) sampleReader {
	limits := fetch.DefaultLimits()
	return sampleReader{http.Client{Transport: transport, Timeout: limits.Request}, limits.Page}
}

// describe completes collections that were read from files. It sets the User-Agent of a collection
// that has none. It also downloads the sample pages of the topics, and adds their texts (see read).
func (s sampleReader) describe(ctx context.Context, files []collection.Collection, agent string) ([]collection.Collection, error) {
	var all []collection.Collection
	for _, c := range files {
		c.Agent = cmp.Or(c.Agent, agent)
		c, err := s.read(ctx, c)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// read downloads the sample pages of a collection's topic, and returns the collection with the
// texts of these pages in its topic. It fails if a page cannot be fetched, or if topic.New cannot
// make a topic of the given words and the texts.
func (s *sampleReader) read(ctx context.Context, c collection.Collection) (collection.Collection, error) {
	if c.Topic == nil {
		return c, nil
	}
	ctx, err := fetch.Allow(ctx, c.Allow)
	if err != nil {
		return collection.Collection{}, fmt.Errorf("cannot read the samples of collection %s: %w", c.Name, err)
	}
	described := *c.Topic
	described.Texts = slices.Clone(described.Texts)
	for _, page := range described.Pages {
		text, err := s.text(ctx, page, c.Agent)
		if err != nil {
			return collection.Collection{}, fmt.Errorf("cannot read sample %s of collection %s: %w", page, c.Name, err)
		}
		described.Texts = append(described.Texts, collection.CutSample(text))
	}
	c.Topic = &described
	if _, err := topic.New(described.Words, described.Texts, c.Language); err != nil {
		return collection.Collection{}, fmt.Errorf("cannot crawl collection %s: %w", c.Name, err)
	}
	return c, nil
}

// text downloads the page at an address, with the given User-Agent, and returns its visible text.
func (s *sampleReader) text(ctx context.Context, page, agent string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("User-Agent", agent)
	response, err := s.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the answer is %s", response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, s.most+1))
	if err != nil {
		return "", err
	}
	if int64(len(body)) > s.most {
		return "", fmt.Errorf("the page has more than %d bytes", s.most)
	}
	read, err := document.Read(body, response.Header.Get("Content-Type"))
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(read.Visible())
	if text == "" {
		return "", errors.New("the page has no text")
	}
	return text, nil
}
