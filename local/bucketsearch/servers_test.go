package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/local/system"
)

// TestServers parses the command lines in the units of systemd and in the file for cloud-init. None has the password of
// Redis, which is in a variable.
func TestServers(t *testing.T) {
	t.Setenv("BUCKETSEARCH_S3", "http://127.0.0.1:9000/pages")
	t.Setenv("BUCKETSEARCH_REDIS", "redis://:secret@127.0.0.1:6379/0")
	line := regexp.MustCompile(`(?m)^(?:ExecStart=/usr/local/bin/|    )bucketsearch (.+)$`)
	for _, path := range append(units(t), "../../infra/servers/cloud-init.yaml") {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := line.FindSubmatch(content)
		if found == nil {
			t.Errorf("%s starts nothing", path)
			continue
		}
		expanded := os.ExpandEnv(string(found[1]))
		if strings.Contains(expanded, "secret") {
			t.Errorf("%s shows the password of Redis: %s", path, expanded)
		}
		args := strings.Fields(strings.ReplaceAll(expanded, `"`, ""))
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
			t.Errorf("%s: bucketsearch %q: %v", path, args, err)
		}
	}
}

// TestGrace checks that systemd and Kubernetes kill no program that has not had the time to end by itself.
func TestGrace(t *testing.T) {
	t.Parallel()
	seconds := func(path, pattern string) time.Duration {
		t.Helper()
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).FindSubmatch(content)
		if found == nil {
			t.Fatalf("%s has nothing like %s", path, pattern)
		}
		duration, err := time.ParseDuration(string(found[1]) + "s")
		if err != nil {
			t.Fatal(err)
		}
		return duration
	}
	least := max(drain, system.WorkerGrace) + system.LastSigns
	for _, unit := range units(t) {
		if grace := seconds(unit, `(?m)^TimeoutStopSec=(\d+)$`); grace < least {
			t.Errorf("%s kills the program after %v, want at least %v", unit, grace, least)
		}
	}
	const templates = "../../infra/servers/chart/templates/"
	told := seconds(templates+"query.yaml", `preStop: {sleep: {seconds: (\d+)}}`) // from the beginning of the grace until the program is told to end
	if grace := seconds(templates+"_helpers.tpl", `terminationGracePeriodSeconds: (\d+)`); grace < told+least {
		t.Errorf("Kubernetes kills the program after %v, want at least %v", grace, told+least)
	}
}

// TestVersions checks that the files for servers install this version of the program.
func TestVersions(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"chart/Chart.yaml": "\nversion: " + release + "\nappVersion: " + release + "\n",
		"cloud-init.yaml":  "/bucketsearch_" + release + "_amd64.deb\n",
	} {
		content, err := os.ReadFile("../../infra/servers/" + path)
		if err != nil || !strings.Contains(string(content), want) {
			t.Errorf("%s has no %q: %v", path, want, err)
		}
	}
}

// units returns the paths of the units of systemd.
func units(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../../infra/servers/*.service")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no units: %v", err)
	}
	return paths
}
