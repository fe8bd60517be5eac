package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestCloudInit reads infra/servers/cloud-init.yaml, which installs the Debian package of a release: the keys must be
// those of cloud-init, the script one of the shell, and the package must have the unit that it starts, which reads
// the file of variables that is written.
func TestCloudInit(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../servers/cloud-init.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(content, []byte("#cloud-config\n")) {
		t.Error("cloud-init does not take this for its configuration")
	}
	var config struct {
		PackageUpdate bool `yaml:"package_update"`
		Packages      []string
		WriteFiles    []struct{ Path, Permissions, Content string } `yaml:"write_files"`
		Runcmd        []string
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&config); err != nil || len(config.Runcmd) != 1 {
		t.Fatalf("cannot read the configuration: %v\n%+v", err, config)
	}
	script := config.Runcmd[0]
	if said, err := exec.CommandContext(t.Context(), "sh", "-n", "-c", script).CombinedOutput(); err != nil {
		t.Errorf("the script is none: %v\n%s", err, said)
	}
	written := make(map[string]string)
	for _, f := range config.WriteFiles {
		written[f.Path] = f.Content
		if strings.Contains(f.Content, "SECRET") && f.Permissions != "0600" {
			t.Errorf("%s has secrets, and the permissions %q", f.Path, f.Permissions)
		}
	}
	for _, path := range regexp.MustCompile(`/etc/\S+`).FindAllString(script, -1) {
		if written[path] == "" {
			t.Errorf("the script reads %s, which is not written", path)
		}
	}

	e := example
	e.units = nil
	paths, err := filepath.Glob("../servers/*.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		unit, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		e.units = append(e.units, file{path: filepath.Base(path), mode: 0o644, content: unit})
	}
	p, _ := buildExample(platform{"amd64", "linux"})
	deb, err := e.debian(p)
	if err != nil {
		t.Fatal(err)
	}
	installed := untar(t, unzip(t, unar(t, deb)["data.tar.gz"]))
	started := regexp.MustCompile(`(?m)^systemctl enable --now (.+)$`).FindStringSubmatch(script)
	if started == nil {
		t.Fatal("the script starts nothing")
	}
	at := slices.IndexFunc(installed, func(f file) bool { return f.path == "usr/lib/systemd/system/"+started[1]+".service" })
	if at < 0 {
		t.Fatalf("the package has no unit %s", started[1])
	}
	for _, read := range regexp.MustCompile(`(?m)^EnvironmentFile=-?(.+)$`).FindAllStringSubmatch(string(installed[at].content), -1) {
		if written[read[1]] == "" {
			t.Errorf("%s reads %s, which is not written", started[1], read[1])
		}
	}
}
