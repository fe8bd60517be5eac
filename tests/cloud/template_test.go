package cloud

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const small = `
Parameters:
  Partitions: {Type: CommaDelimitedList, Default: "0,1"}
  Topic: {Type: String, Default: ""}
  Most: {Type: Number, Default: 7}
Conditions:
  Told: !Not [!Equals [!Ref Topic, ""]]
  Both: !And [!Condition Told, !Equals [!Ref Topic, me]]
Resources:
  Fn::ForEach::Clocks:
    - Crawl
    - !Ref Partitions
    - Clock${Crawl}: {Type: Clock, Properties: {Input: !Sub '{"crawl":${Crawl}}'}}
  Alarm:
    Type: Alarm
    Condition: Both
    Properties: {To: !Ref Topic}
  Jobs:
    Type: AWS::SQS::Queue
    Properties: {QueueName: !Sub "${AWS::StackName}-jobs", To: [!If [Told, !Ref Topic, !Ref AWS::NoValue]], Zone: !Select [0, !GetAZs ""]}
  Work:
    Type: Work
    Properties: {Most: !Ref Most, Arn: !GetAtt Jobs.Arn, URL: !Ref Jobs, Text: !Sub "${Jobs.QueueName}/${Redis.Port}", Other: !GetAtt Alarm.Colour,
      Block: !Select [0, !Cidr [!Select [0, !GetAtt Alarm.Blocks], 1, 64]], ID: !Join ["-", [id, !Select [1, !Split ["/", !Ref AWS::StackId]]]]}
`

func TestTemplate(t *testing.T) {
	t.Parallel()
	const jobs = `{"QueueName":"bucketsearch-jobs","To":[],"Zone":"us-east-1a"}`
	want := map[string]string{
		"Clock0": `{"Input":"{\"crawl\":0}"}`, "Clock1": `{"Input":"{\"crawl\":1}"}`, "Jobs": jobs,
		"Work": `{"Arn":"arn:aws:sqs:us-east-1:000000000000:bucketsearch-jobs","Block":"Alarm.Blocks","ID":"id-bucketsearch","Most":7,"Other":"Alarm.Colour",` +
			`"Text":"bucketsearch-jobs/6379","URL":"https://sqs.us-east-1.amazonaws.com/000000000000/bucketsearch-jobs"}`,
	}
	mustRead(t, small, nil, want)
	want["Alarm"], want["Jobs"] = `{"To":"me"}`, strings.Replace(jobs, "[]", `["me"]`, 1)
	mustRead(t, small, map[string]string{"Topic": "me"}, want)
}

// mustRead checks the properties of all resources that are read from a template, with the given values of
// parameters.
func mustRead(t *testing.T, text string, given, want map[string]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "template.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := readTemplate[template](path, map[string]string{"Redis.Port": "6379"}, given)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for name, r := range read.Resources {
		var properties any
		if err := json.Unmarshal(r.Properties, &properties); err != nil {
			t.Fatal(err)
		}
		sorted, _ := json.Marshal(properties)
		got[name] = string(sorted)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
}

// TestCacheName checks that a stack of any name can have a serverless Redis: the name of the Redis does not depend on
// it, is short, and has no capital letters.
func TestCacheName(t *testing.T) {
	t.Parallel()
	read, err := readTemplate[template]("../../infra/template.yaml", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	caches, err := resourcesOf[struct{ ServerlessCacheName string }](read, "AWS::ElastiCache::ServerlessCache")
	if err != nil {
		t.Fatal(err)
	}
	name := caches["RedisServerless"].ServerlessCacheName
	if !regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`).MatchString(name) || strings.Contains(name, stackName) {
		t.Errorf("the name is %q", name)
	}
}

func TestTemplateRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"A: {Properties: !Ref Nothing}":                "no parameter or resource Nothing",
		"A: {Properties: !GetAtt Nothing.Arn}":         "no resource Nothing",
		"A: {Properties: !ImportValue x}":              "!ImportValue is not supported",
		"A: {Properties: !If [Never, 1, 2]}":           "no condition Never",
		"A: {Properties: {To: !Sub '${Nothing}/x'}}":   "no parameter or resource Nothing",
		"A: {Type: X, Condition: Never, Properties: }": "no condition Never",
	} {
		path := filepath.Join(t.TempDir(), "template.yaml")
		if err := os.WriteFile(path, []byte("Parameters: {}\nResources:\n  "+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readTemplate[template](path, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Parameters are refused that the template would ignore beside others.
func TestParametersThatDoNotGoTogether(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		given map[string]string
		want  string
	}{
		{map[string]string{"ExistingBucket": "pages", "RarelyReadDays": "90"}, "RarelyReadDays is only for a bucket that the stack makes"},
		{map[string]string{"ExistingBucket": "pages", "Replica": "copies"}, "Replica is only for a bucket that the stack makes"},
		{map[string]string{"Key": everything["Key"], "Replica": "copies"}, "Leave Key or Replica empty"},
		{map[string]string{"Domain": onDomain["Domain"], "Certificate": onDomain["Certificate"]}, "Domain needs CloudFront"},
		{map[string]string{"Domain": onDomain["Domain"], "FrontKey": onDomain["FrontKey"]}, "Domain needs a Certificate"},
		{map[string]string{"FrontKey": onDomain["FrontKey"]}, "FrontKey needs a Domain"},
	} {
		if _, err := readTemplate[template]("../../infra/template.yaml", nil, test.given); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %q", test.given, err, test.want)
		}
	}
}
