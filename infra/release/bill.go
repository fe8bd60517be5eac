package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// pdfium is the version of the npm package @hyzyla/pdfium from which functions/shared/document/pdf has PDFium, the
// only library in the program that is no module of Go.
const pdfium = "2.1.13"

// bill returns the bill of materials of a program, in JSON of CycloneDX 1.6: Go's standard library, PDFium, and the
// modules that the program itself lists, each with the hash that go.sum has of it. It fails if NOTICE has no
// licence of a module.
func (e edition) bill(p program) ([]byte, error) {
	stdlib := strings.TrimPrefix(p.info.GoVersion, "go")
	parts := []object{
		library("stdlib", stdlib, purl("stdlib", stdlib), ""),
		library("@hyzyla/pdfium", pdfium, "pkg:npm/%40hyzyla/pdfium@"+pdfium, ""),
	}
	for _, module := range p.info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		if !bytes.Contains(e.notice, []byte("\n"+module.Path+" "+module.Version+"\n")) {
			return nil, fmt.Errorf("NOTICE has no licence of %s %s, which is linked in", module.Path, module.Version)
		}
		parts = append(parts, library(module.Path, module.Version, purl(module.Path, module.Version), module.Sum))
	}
	return json.MarshalIndent(object{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": object{
			"timestamp": e.date.Format("2006-01-02T15:04:05Z"),
			"component": object{
				"type": "application", "bom-ref": "bucketsearch", "name": "bucketsearch", "version": e.version,
				"purl":     fmt.Sprintf("%s?goarch=%s&goos=%s", purl(p.info.Main.Path, "v"+e.version), p.Architecture, p.OS),
				"licenses": []object{{"license": object{"id": "Apache-2.0"}}},
				"hashes":   []object{{"alg": "SHA-256", "content": sha256Of(p.binary)}},
			},
		},
		"components": parts,
	}, "", "  ")
}

// library returns the entry of a library. The parameter at is its package URL, sum its hash as in go.sum, or "".
func library(name, version, at, sum string) object {
	entry := object{"type": "library", "bom-ref": at, "name": name, "version": version, "purl": at}
	if hash, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:")); err == nil && len(hash) > 0 {
		entry["hashes"] = []object{{"alg": "SHA-256", "content": hex.EncodeToString(hash)}}
	}
	return entry
}

// purl returns the package URL of a module of Go, by which scanners look up known vulnerabilities.
func purl(name, version string) string {
	return "pkg:golang/" + strings.ToLower(name) + "@" + strings.ReplaceAll(version, "+", "%2B")
}
