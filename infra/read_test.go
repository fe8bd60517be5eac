package infra

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

type function struct {
	CodeUri   string
	Timeout   int
	VpcConfig *struct {
		SubnetIds, SecurityGroupIds []string
		Ipv6AllowedForDualStack     bool
	}
	Environment struct{ Variables map[string]string }
	Policies    []struct {
		SQSPollerPolicy, SQSSendMessagePolicy struct{ QueueName string }
		Statement                             []struct {
			Action, Resource oneOrMore
			Condition        map[string]any
		}
	}
}

// grants returns what the permissions of a function allow: the actions, such as s3:GetObject, for
// each resource. The resource is a prefix of objects in the bucket, such as packages/, or the full
// name of something else.
func (f function) grants() map[string][]string {
	granted := make(map[string][]string)
	for _, s := range f.Policies[len(f.Policies)-1].Statement {
		if slices.Contains(s.Action, "s3:ListBucket") {
			continue
		}
		for _, resource := range s.Resource {
			prefix := strings.TrimPrefix(strings.TrimSuffix(resource, "*"), "${BucketArn.Value}/")
			granted[prefix] = append(granted[prefix], s.Action...)
		}
	}
	return granted
}

type queue struct {
	QueueName                     string
	VisibilityTimeout             int
	ReceiveMessageWaitTimeSeconds int
	MaximumMessageSize            int
	RedrivePolicy                 struct {
		DeadLetterTargetArn string
		MaxReceiveCount     int
	}
}

type mapping struct {
	EventSourceArn, FunctionName   string
	FunctionResponseTypes          []string
	BatchSize                      int
	MaximumBatchingWindowInSeconds int
}

// oneOrMore is a list of strings. In the YAML of the template, a single string may stand in its
// place.
type oneOrMore []string

func (o *oneOrMore) UnmarshalJSON(text []byte) error {
	if text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(o))
	}
	*o = make(oneOrMore, 1)
	return json.Unmarshal(text, &(*o)[0])
}

// resources returns the properties of all resources of a type in template.yaml (see resourcesOf).
func resources[T any](t *testing.T, kind string) map[string]T {
	t.Helper()
	return resourcesOf[T](t, "template.yaml", kind)
}

// resourcesOf returns the properties of all resources of a type in a template, by the name of the resource. It does not
// call CloudFormation's functions, but simplifies their short forms:
// !GetAtt Bucket.Arn becomes the string "Bucket.Arn", and !If becomes its value for a true condition.
func resourcesOf[T any](t *testing.T, file, kind string) map[string]T {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(source(t, file)), &root); err != nil {
		t.Fatal(err)
	}
	plain(&root)
	var template struct {
		Resources map[string]any `yaml:"Resources"`
	}
	if err := root.Decode(&template); err != nil {
		t.Fatal(err)
	}
	found := make(map[string]T)
	for name, node := range template.Resources {
		fields, single := node.(map[string]any)
		if !single || fields["Type"] != kind { // a loop (Fn::ForEach), not a single resource
			continue
		}
		text, err := json.Marshal(fields["Properties"]) // JSON, because its decoder matches the names of Go's fields
		if err != nil {
			t.Fatalf("resource %s: %v", name, err)
		}
		var properties T
		if err := json.Unmarshal(text, &properties); err != nil {
			t.Fatalf("resource %s: %v", name, err)
		}
		found[name] = properties
	}
	return found
}

func plain(node *yaml.Node) {
	if node.Tag == "!If" {
		*node = *node.Content[1]
	}
	if strings.HasPrefix(node.Tag, "!") && !strings.HasPrefix(node.Tag, "!!") {
		node.Tag = ""
	}
	for _, child := range node.Content {
		plain(child)
	}
}

// source returns the text of all files whose paths match the pattern, except Go tests.
func source(t *testing.T, pattern string) string {
	t.Helper()
	var text strings.Builder
	for _, name := range glob(t, pattern) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(content)
	}
	return text.String()
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return names
}

func unique(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}
