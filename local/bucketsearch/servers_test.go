package main

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
)

// TestServers parses the command lines in the files by which servers run the program. On Kubernetes, every
// function must be run.
func TestServers(t *testing.T) {
	t.Parallel()
	variable := regexp.MustCompile(`\$[({](\w+)[)}]`)
	values := map[string]string{"BUCKETSEARCH_S3": "http://127.0.0.1:9000/pages", "BUCKETSEARCH_REDIS": "redis://127.0.0.1:6379/0"}
	parse := func(where string, args []string) (functions []string) {
		t.Helper()
		for i := range args {
			args[i] = variable.ReplaceAllStringFunc(args[i], func(v string) string { return values[v[2:len(v)-1]] })
		}
		root, _ := command()
		cmd, rest, err := root.Find(args)
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err == nil {
			err = cmd.ValidateArgs(cmd.Flags().Args())
		}
		if err == nil && cmd.PreRunE != nil {
			err = cmd.PreRunE(cmd, cmd.Flags().Args())
		}
		if err != nil || cmd == root {
			t.Errorf("%s: bucketsearch %q: %v", where, args, err)
			return nil
		}
		if f := cmd.Flags().Lookup("functions"); f != nil && cmd.Name() == "work" {
			return strings.Split(f.Value.String(), ",")
		}
		return nil
	}
	units, err := filepath.Glob("../../infra/servers/*.service")
	if err != nil || len(units) == 0 {
		t.Fatalf("no units: %v", err)
	}
	for _, unit := range units {
		content, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		line := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/bucketsearch (.+)$`).FindSubmatch(content)
		if line == nil {
			t.Errorf("%s starts nothing", unit)
			continue
		}
		parse(unit, strings.Fields(string(line[1])))
	}
	deployedFunctions := make(map[string]bool)
	for _, args := range deployed(t) {
		for _, function := range parse("kubernetes.yaml", args) {
			deployedFunctions[function] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(task.Queues)), slices.Sorted(maps.Keys(deployedFunctions))); diff != "" {
		t.Errorf("functions that run on Kubernetes (-want +got):\n%s", diff)
	}
}

// deployed returns the arguments of the program in all containers of kubernetes.yaml.
func deployed(t *testing.T) (all [][]string) {
	t.Helper()
	content, err := os.ReadFile("../../infra/servers/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for documents := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var d struct {
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct {
							Image string
							Args  []string
						}
					}
				}
			}
		}
		if err := documents.Decode(&d); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		for _, c := range d.Spec.Template.Spec.Containers {
			if strings.Contains(c.Image, "/bucketsearch:") {
				all = append(all, c.Args)
			}
		}
	}
}
