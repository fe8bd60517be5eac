package cloud

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// everything has values of parameters with which all optional parts of the template are used.
var everything = map[string]string{
	"AlarmTopic": "arn:aws:sns:us-east-1:000000000000:trouble", "Budget": "20", "BudgetMail": "ops@example.org", "Boundary": "arn:aws:iam::000000000000:policy/bound", "Dashboard": "1",
	"Clicks": "0123456789abcdef", "FetchGroup": "sg-0123abcd", "FetchSubnets": "subnet-0123abcd,subnet-4567ef01", "Judges": "ann:0123456789abcdef", "Key": "arn:aws:kms:us-east-1:000000000000:key/one",
	"QueryConcurrency": "20", "RarelyReadDays": "90",
}

// replicaKey is a key in another region.
const replicaKey = "arn:aws:kms:eu-west-1:000000000000:key/two"

// onDomain has the values of parameters with which the search page is on a domain of its owner.
var onDomain = map[string]string{
	"FrontKey": "0123456789abcdef", "Domain": "search.example.org", "Certificate": "arn:aws:acm:us-east-1:000000000000:certificate/one",
}

// TestSchemas checks the properties of all resources against the schemas of their types, by which CloudFormation
// itself checks them: names, kinds of values, limits, and what must be there. testdata/schemas/README.md says
// where the schemas are from.
func TestSchemas(t *testing.T) {
	t.Parallel()
	type anyTemplate struct {
		Globals   struct{ Function map[string]any }
		Resources map[string]struct {
			Type       string
			Properties map[string]any
		}
	}
	schemas := readSchemas(t)
	const stack, replica, limit = "../../infra/template.yaml", "../../infra/replica.yaml", "../../infra/limit.yaml"
	for name, test := range map[string]struct {
		template string
		given    map[string]string
	}{
		"by default":               {stack, nil},
		"of two releases":          {stack, map[string]string{"Releases": "20261126180000,20261120093000", "Live": "20261120093000"}},
		"with everything":          {stack, everything},
		"on a node":                {stack, map[string]string{"RedisNode": "cache.t4g.micro"}},
		"on an existing bucket":    {stack, map[string]string{"ExistingBucket": "pages"}},
		"with a replica":           {stack, map[string]string{"Replica": "copies", "Boundary": everything["Boundary"]}},
		"with a replica and keys":  {stack, map[string]string{"Replica": "copies", "Key": everything["Key"], "ReplicaKey": replicaKey}},
		"on a domain":              {stack, onDomain},
		"on a domain with a limit": {stack, merged(onDomain, map[string]string{"WebACL": "arn:aws:wafv2:us-east-1:000000000000:global/webacl/limit/one"})},
		"with a Redis elsewhere":   {stack, map[string]string{"RedisURL": "rediss://redis.example.org:6379/0"}},
		"a replica":                {replica, nil},
		"a replica without copies": {replica, map[string]string{"Closed": "1"}},
		"a replica with a key":     {replica, map[string]string{"Key": replicaKey}},
		"a limit":                  {limit, nil},
	} {
		read, err := readTemplate[anyTemplate](test.template, map[string]string{"ClockRole.Arn": "arn:aws:iam::000000000000:role/clock"}, test.given)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		check := func(id, kind string, properties map[string]any) {
			if schema := schemas[kind]; schema == nil {
				t.Errorf("%s, %s: there is no schema of %s", name, id, kind)
			} else if err := schema.Validate(properties); err != nil {
				t.Errorf("%s, %s: %v", name, id, err)
			}
		}
		for id, r := range read.Resources {
			if r.Type != "AWS::Serverless::Function" {
				check(id, r.Type, r.Properties)
				continue
			}
			properties := maps.Clone(read.Globals.Function)
			maps.Copy(properties, r.Properties)
			check(id, "AWS::Lambda::Function", expand(properties))
		}
	}
}

// expand returns what SAM makes of a function: the properties of a function of Lambda.
func expand(properties map[string]any) map[string]any {
	made := map[string]any{"Code": map[string]any{}, "Role": "arn:aws:iam::000000000000:role/function"}
	for name, value := range properties {
		switch name {
		case "CodeUri", "Policies", "PermissionsBoundary": // are in the code and in the role
		default:
			made[name] = value
		}
	}
	return made
}

// readSchemas reads all schemas, by the type of resource, such as "AWS::S3::Bucket".
func readSchemas(t *testing.T) map[string]*jsonschema.Resolved {
	t.Helper()
	files, err := filepath.Glob("testdata/schemas/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no schemas: %v", err)
	}
	schemas := make(map[string]*jsonschema.Resolved)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var tree map[string]any
		if err := json.Unmarshal(content, &tree); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		delete(tree, "$schema") // CloudFormation's dialect, which only adds keywords
		dropPatterns(tree)
		if content, err = json.Marshal(tree); err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(content, &schema); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if schemas[tree["typeName"].(string)], err = schema.Resolve(nil); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return schemas
}

// dropPatterns leaves out the patterns of a schema that are no regular expressions of Go, such as those that look
// ahead.
func dropPatterns(tree any) {
	switch tree := tree.(type) {
	case []any:
		for _, part := range tree {
			dropPatterns(part)
		}
	case map[string]any:
		if pattern, isText := tree["pattern"].(string); isText {
			if _, err := regexp.Compile(pattern); err != nil {
				delete(tree, "pattern")
			}
		}
		for _, part := range tree {
			dropPatterns(part)
		}
	}
}
