package collection

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/literal/tables"
	"golang.org/x/net/html"
)

// maxSampleFile is the maximum size of a sample file of a topic, in bytes.
const maxSampleFile = 1 << 20

// readTopic reads the table [topic], and the sample files that this table names. The paths of these
// files are relative to the root of the given file system. Without such a table, readTopic returns nil.
func readTopic(t *tables.Table, beside fs.FS) *Topic {
	t = t.Table("topic")
	if t == nil {
		return nil
	}
	topic := &Topic{Threshold: DefaultThreshold}
	t.Texts("words", appendValid(&topic.Words, func(string) error { return nil }))
	t.Texts("samples", func(sample string) error {
		if strings.Contains(sample, "://") {
			topic.Pages = append(topic.Pages, sample)
			return validSample(sample)
		}
		text, err := readSample(beside, sample)
		topic.Texts = append(topic.Texts, text)
		return err
	})
	topic.Threshold = t.Share("threshold", DefaultThreshold)
	t.End()
	if t.IsSound() {
		if err := topic.validate(); err != nil {
			t.Wrong("", err)
		}
	}
	return topic
}

func validSample(url string) error {
	if _, err := address.Parse(url); err != nil {
		return fmt.Errorf("sample: %w", err)
	}
	return nil
}

var errNotText = errors.New("it is no text in UTF-8")

// readSample returns the text of a sample file in UTF-8, cut by CutSample. The name is the path of
// the file, relative to the root of the given file system. If the name has the extension of an HTML
// file, only the text between the tags is returned.
func readSample(beside fs.FS, name string) (string, error) {
	content, err := readAtMost(beside, name, maxSampleFile)
	if err != nil {
		return "", fmt.Errorf("sample: %w", err)
	}
	if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
		return "", fmt.Errorf("sample %s: %w", name, errNotText)
	}
	switch path.Ext(name) {
	case ".html", ".htm", ".xhtml":
		content = textOf(content)
	}
	return CutSample(string(content)), nil
}

// textOf returns the text between the tags of an HTML page, without scripts and styles.
func textOf(page []byte) []byte {
	var text bytes.Buffer
	tokens, skip := html.NewTokenizer(bytes.NewReader(page)), false
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return bytes.TrimSpace(text.Bytes())
		case html.StartTagToken:
			name, _ := tokens.TagName()
			skip = string(name) == "script" || string(name) == "style"
		case html.EndTagToken:
			skip = false
		case html.TextToken:
			if words := bytes.TrimSpace(tokens.Text()); !skip && len(words) > 0 {
				text.Write(words)
				text.WriteByte('\n')
			}
		}
	}
}

// readAtMost returns the content of a file. It fails if the file is larger than the given number of
// bytes.
func readAtMost(from fs.FS, name string, most int64) ([]byte, error) {
	file, err := from.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) > most {
		return nil, fmt.Errorf("%s is longer than %d bytes", name, most)
	}
	return content, nil
}
