package infra

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// standIns are programs in place of those that the script deploy calls. Releases are named 1, 2, 3 and so on. The stack
// is in the files Releases, Live and tags, which are absent until it is created. A function whose ARN is in the file bad
// cannot work; with the word throttled in it, nothing can be read of the stack. The file done gets a line for each update
// of the stack, and for each function that is invoked.
var standIns = map[string]string{
	"go":   "#!/bin/sh\n",
	"date": "#!/bin/sh\necho x >>clock; grep -c x clock\n",
	"aws": `#!/bin/sh
case "$*" in
*describe-stacks*Outputs*) ;;
*describe-stacks*)
	! grep throttled bad >&2 || exit 254
	[ -e Live ] || { echo "Stack with id search does not exist" >&2; exit 254; }
	case "$*" in *Releases*) cat Releases ;; *Live*) cat Live ;; *Tags*) cat tags ;; esac ;;
*"cloudformation deploy"*)
	: >tags # those that are not given are taken away
	for word; do
		case "$word" in
		Releases=* | Live=*) echo "${word#*=}" >"${word%%=*}" ;;
		team=* | project=*) echo "$word" >>tags ;;
		esac
	done
	echo "$(basename "$4"): $(cat Releases), $(cat Live) is live, $(cat tags | tr '\n' ' ')" >>done ;;
*list-stack-resources*) printf 'arn:pack:1\tarn:query:2\n' ;;
*"lambda wait"*) : >"active-$5" ;;
*"lambda invoke"*)
	[ -e "active-$4" ] || exit 254
	echo "$4" >>done
	for word; do file=$word; done # the last one
	echo '{"errorMessage":"cannot reach Redis"}' >"$file"
	if grep -q "$4" bad; then echo Unhandled; else echo None; fi ;;
esac
`}

// TestDeploy checks that a release becomes live only after all of its functions have said that they can work, that the
// tags of the stack stay, and that one command makes the other release live.
func TestDeploy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(content), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, program := range standIns {
		write("bin/"+name, program)
	}
	write("infra/deploy", source(t, "deploy"))
	write("functions/lambda/pack/main.go", "package main")

	const tried = "arn:pack:1\narn:query:2\n"
	for _, step := range []struct {
		arguments, bad string
		done, says     string
		fails          bool
	}{
		{"--back search code", "", "", "has no release before its first one", true},
		{"search code --tags team=search project=x", "", "packaged.yaml: 1, 1 is live, team=search project=x \n" + tried, "", false},
		{"--back search code", "", "", "has no release before its first one", true},
		{"search code LogDays=3", "", "packaged.yaml: 2,1, 1 is live, team=search project=x \n" + tried +
			"packaged.yaml: 2,1, 2 is live, team=search project=x \n", "", false},
		{"search code", "throttled", "", "cannot read the stack search: throttled", true},
		{"--back search code LogDays=5", "", "", "takes no parameters", true},
		{"--back search code", "arn:pack:1", tried, "the release 1 cannot work, and 2 stays live", true},
		{"--back search code", "", tried + "deployed.yaml: 2,1, 1 is live, team=search project=x \n", "The release 1 is live, and 2 is kept", false},
		{"--back search code", "", tried + "deployed.yaml: 2,1, 2 is live, team=search project=x \n", "The release 2 is live, and 1 is kept", false},
		{"search code --tags team=other", "arn:query:2", "packaged.yaml: 3,2, 2 is live, team=other \n" + tried,
			"the release 3 cannot work, and 2 stays live:\narn:query:2: {\"errorMessage\":\"cannot reach Redis\"}", true},
		{"search code", "", "packaged.yaml: 4,2, 2 is live, team=other \n" + tried + "packaged.yaml: 4,2, 4 is live, team=other \n", "", false},
	} {
		write("bad", step.bad)
		write("done", "")
		deploy := exec.CommandContext(t.Context(), "bash", append([]string{"infra/deploy"}, strings.Fields(step.arguments)...)...)
		deploy.Dir, deploy.Env = dir, append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		said, err := deploy.CombinedOutput()
		if (err != nil) != step.fails || !strings.Contains(string(said), step.says) {
			t.Errorf("%s: %v\n%s", step.arguments, err, said)
		}
		done, err := os.ReadFile(filepath.Join(dir, "done"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.done, string(done)); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", step.arguments, diff, said)
		}
	}
}
