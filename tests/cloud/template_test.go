package cloud

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
  Fn::ForEach::Versions:
    - Function
    - [Pack]
    - Fn::ForEach::VersionsOfFunction:
        - Release
        - !Ref Partitions
        - ${Function}${Release}: {Type: "AWS::Lambda::Version", Properties: {FunctionName: {Ref: !Ref Function}, Of: !GetAtt [!Sub "${Function}0", Version]}}
  Pack:
    Type: AWS::Serverless::Function
    Properties: {}
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
		"Pack": `{}`, "Pack0": `{"FunctionName":"Pack","Of":"1"}`, "Pack1": `{"FunctionName":"Pack","Of":"1"}`,
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
		{map[string]string{"Releases": "9,8", "Live": "7"}, "there is no resource"},
		{map[string]string{"FetchSubnets": everything["FetchSubnets"]}, "FetchSubnets need a FetchGroup"},
		{map[string]string{"Budget": "20"}, "Budget needs a BudgetMail"},
		{map[string]string{"ExistingBucket": "pages", "RarelyReadDays": "90"}, "RarelyReadDays is only for a bucket that the stack makes"},
		{map[string]string{"ExistingBucket": "pages", "Replica": "copies"}, "Replica is only for a bucket that the stack makes"},
		{map[string]string{"Key": everything["Key"], "Replica": "copies"}, "Replica with a Key needs a ReplicaKey"},
		{map[string]string{"Key": everything["Key"], "ReplicaKey": replicaKey}, "ReplicaKey is for a Replica"},
		{map[string]string{"Replica": "copies", "ReplicaKey": replicaKey}, "ReplicaKey is for a Replica"},
		{map[string]string{"Domain": onDomain["Domain"], "Certificate": onDomain["Certificate"]}, "Domain needs CloudFront"},
		{map[string]string{"Domain": onDomain["Domain"], "FrontKey": onDomain["FrontKey"]}, "Domain needs a Certificate"},
		{map[string]string{"FrontKey": onDomain["FrontKey"]}, "FrontKey needs a Domain"},
		{map[string]string{"WebACL": "arn:aws:wafv2:us-east-1:000000000000:global/webacl/limit/one"}, "WebACL needs CloudFront"},
	} {
		if _, err := readTemplate[template]("../../infra/template.yaml", nil, test.given); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %q", test.given, err, test.want)
		}
	}
}

// Each release has a version of every function, and all that invokes functions invokes the version of the release that
// is live, by the function's alias. A release that is published is invoked by nothing before it is live.
func TestReleases(t *testing.T) {
	t.Parallel()
	versions := make(map[string]string) // numbers of versions, by their attribute in the template
	functions := []string{"Fetch", "Index", "Merge", "Pack", "Query", "Rank", "Schedule", "Sweep", "Watch"}
	for _, name := range functions {
		versions[name+"8.Version"], versions[name+"7.Version"] = "18", "17"
	}
	read, err := readTemplate[template]("../../infra/template.yaml", versions, map[string]string{"Releases": "8,7", "Live": "7"})
	if err != nil {
		t.Fatal(err)
	}
	published := mustHave[struct{ FunctionName string }](t, read, "AWS::Lambda::Version")
	aliases := mustHave[struct{ FunctionName, Name, FunctionVersion string }](t, read, "AWS::Lambda::Alias")
	live := make(map[string]bool) // ARNs of the aliases
	for _, a := range aliases {
		if published[a.FunctionName+"8"].FunctionName != a.FunctionName || published[a.FunctionName+"7"].FunctionName != a.FunctionName || a.FunctionVersion != "17" {
			t.Errorf("want version 17 of two, got %+v of %+v", a, published)
		}
		live[functionARN(a.FunctionName)+":"+a.Name] = true
	}
	if n := len(mustHave[functionProperties](t, read, "AWS::Serverless::Function")); n != len(functions) || len(live) != n || len(published) != 2*n {
		t.Errorf("%d functions, %d aliases and %d versions", n, len(live), len(published))
	}
	invoked := make(map[string]string) // ARN that is invoked, by the resource that does it
	for name, m := range mustHave[mapping](t, read, "AWS::Lambda::EventSourceMapping") {
		invoked[name] = m.FunctionName
	}
	for name, p := range mustHave[struct{ FunctionName string }](t, read, "AWS::Lambda::Permission") {
		invoked[name] = p.FunctionName
	}
	for name, u := range mustHave[struct{ TargetFunctionArn, Qualifier string }](t, read, "AWS::Lambda::Url") {
		invoked[name] = functionARN(u.TargetFunctionArn) + ":" + u.Qualifier
	}
	type settings struct {
		FunctionName, Qualifier                        string
		MaximumRetryAttempts, MaximumEventAgeInSeconds *int
	}
	dropped := make(map[string]bool) // ARNs whose failed and late ticks are dropped, because another one follows
	for name, s := range mustHave[settings](t, read, "AWS::Lambda::EventInvokeConfig") {
		invoked[name] = functionARN(s.FunctionName) + ":" + s.Qualifier
		dropped[invoked[name]] = s.MaximumRetryAttempts != nil && *s.MaximumRetryAttempts == 0 && *s.MaximumEventAgeInSeconds == 900
	}
	for name, c := range mustHave[clock](t, read, "AWS::Scheduler::Schedule") {
		if invoked[name] = c.Target.Arn; !dropped[c.Target.Arn] {
			t.Errorf("%s repeats ticks that fail", name)
		}
	}
	for name, arn := range invoked {
		if !live[arn] {
			t.Errorf("%s is about %s, which is no alias", name, arn)
		}
	}
}

// mustHave returns the properties of all resources of a type (see resourcesOf), of which there must be one or more.
func mustHave[T any](t *testing.T, from template, kind string) map[string]T {
	t.Helper()
	found, err := resourcesOf[T](from, kind)
	if err != nil || len(found) == 0 {
		t.Fatalf("%d resources of type %s, %v", len(found), kind, err)
	}
	return found
}

// TestBudgetOfStack checks that the budget is that of this stack, and that whom to tell hears of costs that have been
// reached and of those that are expected. Without the parameter there is no budget.
func TestBudgetOfStack(t *testing.T) {
	t.Parallel()
	type budget struct {
		Budget struct {
			BudgetLimit struct{ Amount int }
			CostFilters struct{ TagKeyValue []string }
		}
		NotificationsWithSubscribers []struct {
			Notification struct{ NotificationType string }
			Subscribers  []struct{ Address string }
		}
	}
	read, err := readTemplate[template]("../../infra/template.yaml", nil, map[string]string{"Budget": "20", "BudgetMail": "ops@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	b := mustHave[budget](t, read, "AWS::Budgets::Budget")["CostsOfMonth"]
	if b.Budget.BudgetLimit.Amount != 20 || !slices.Equal(b.Budget.CostFilters.TagKeyValue, []string{"aws:cloudformation:stack-name$" + stackName}) {
		t.Errorf("budget %+v", b.Budget)
	}
	var told []string
	for _, n := range b.NotificationsWithSubscribers {
		told = append(told, n.Notification.NotificationType+" "+n.Subscribers[0].Address)
	}
	if diff := cmp.Diff([]string{"ACTUAL ops@example.org", "FORECASTED ops@example.org"}, told); diff != "" {
		t.Errorf("who is told (-want +got):\n%s", diff)
	}
	if read, err = readTemplate[template]("../../infra/template.yaml", nil, nil); err != nil {
		t.Fatal(err)
	}
	if none, err := resourcesOf[budget](read, "AWS::Budgets::Budget"); len(none) > 0 || err != nil {
		t.Errorf("by default, there is a budget: %+v, %v", none, err)
	}
}

// TestFetchSubnets checks that fetch runs in the subnets of the parameter, and may use IPv6 there. Without the parameter
// it runs in no private network.
func TestFetchSubnets(t *testing.T) {
	t.Parallel()
	type function struct {
		VpcConfig *struct {
			SubnetIds, SecurityGroupIds []string
			Ipv6AllowedForDualStack     bool
		}
	}
	read := func(given map[string]string) function {
		t.Helper()
		read, err := readTemplate[template]("../../infra/template.yaml", nil, given)
		if err != nil {
			t.Fatal(err)
		}
		return mustHave[function](t, read, "AWS::Serverless::Function")["Fetch"]
	}
	if at := read(nil).VpcConfig; at != nil {
		t.Errorf("by default, fetch runs in %+v", *at)
	}
	at := read(map[string]string{"FetchSubnets": "subnet-1,subnet-2", "FetchGroup": "sg-1"}).VpcConfig
	if at == nil || !slices.Equal(at.SubnetIds, []string{"subnet-1", "subnet-2"}) || !slices.Equal(at.SecurityGroupIds, []string{"sg-1"}) || !at.Ipv6AllowedForDualStack {
		t.Errorf("fetch runs in %+v", at)
	}
}
