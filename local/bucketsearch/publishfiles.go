package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/curation"
	"github.com/bucketsearch/bucketsearch/strategy/literal/tables"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// publication holds what the files of the command publish say.
type publication struct {
	strategies  []rules.Document // at most one of each kind
	collections []collection.Collection
	forgotten   []target
	curation    *curation.Document // nil if no file has one

	files map[string]string // file of each document that may be given once only, by the document's name
}

// readPublication reads the files of the command publish. Its error lists the mistakes of all files.
func readPublication(files []string) (publication, error) {
	p := publication{files: make(map[string]string)}
	var errs []error
	for _, file := range files {
		errs = append(errs, p.read(file))
	}
	return p, errors.Join(errs...)
}

// read adds the content of one file. Its name says what it may hold, and its keys which of it:
//
//	name     keys                        content
//	*.json                               a strategy, as strategy show prints it
//	*.toml   forget                      addresses and sites to be forgotten
//	*.toml   synonyms, pins or bans      a curation, as the command curate reads it
//	*.toml   others                      a collection
func (p *publication) read(file string) error {
	switch filepath.Ext(file) {
	case ".json":
		d, err := readStrategy(nil, file)
		if err == nil {
			_, err = kindOf(string(d.Kind))
		}
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", file, err)
		}
		p.strategies = append(p.strategies, d)
		return p.once(strategyName(d.Kind), file)
	case ".toml":
		return p.readTOML(file)
	}
	return fmt.Errorf("%s: its name tells nothing of its content; want .toml for collections, curations and what is to be forgotten, or .json for strategies", file)
}

func (p *publication) readTOML(file string) error {
	content, err := readAtMost(file, collection.MaxBytes)
	if err == nil && len(content) > collection.MaxBytes {
		err = fmt.Errorf("it has more than %d bytes", collection.MaxBytes)
	}
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", file, err)
	}
	mistakes, root, err := tables.Parse(file, content)
	switch {
	case err != nil:
		return err
	case root.Has("forget"):
		root.Texts("forget", func(text string) error {
			targets, err := parseTargets([]string{text})
			p.forgotten = append(p.forgotten, targets...)
			return err
		})
		root.End()
		return mistakes.Err()
	case root.Has("synonyms") || root.Has("pins") || root.Has("bans"):
		d, err := curation.Parse(file, content)
		if err != nil {
			return err
		}
		p.curation = &d
		return p.once("curation", file)
	}
	c, err := collection.ReadFile(file)
	if err != nil {
		return err
	}
	p.collections = append(p.collections, c)
	return p.once(collectionName(c.Name), file)
}

// once returns an error if an earlier file has the document with this name, too.
func (p *publication) once(name, file string) error {
	if other, given := p.files[name]; given {
		return fmt.Errorf("%s and %s are both the %s; give one of them", other, file, name)
	}
	p.files[name] = file
	return nil
}

func strategyName(kind rules.Kind) string { return "strategy " + string(kind) }

func collectionName(name string) string { return "collection " + name }
