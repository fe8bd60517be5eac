package infra

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
)

func TestEveryFunctionIsDeployed(t *testing.T) {
	t.Parallel()
	var deployed, want []string
	for name, f := range resources[function](t, "AWS::Serverless::Function") {
		deployed = append(deployed, f.CodeUri)
		if f.CodeUri != "build/"+strings.ToLower(name) {
			t.Errorf("%s runs %s", name, f.CodeUri)
		}
	}
	for _, main := range glob(t, "../functions/lambda/*/main.go") {
		want = append(want, "build/"+path.Base(path.Dir(main)))
	}
	slices.Sort(deployed)
	if diff := cmp.Diff(want, deployed); diff != "" {
		t.Errorf("functions (-there +deployed):\n%s", diff)
	}
}

// Every queue in the template invokes the function that has the queue's name. The settings of the
// queue are those that AWS recommends for queues that invoke functions, and agree with those of the
// queue on one machine.
func TestQueues(t *testing.T) {
	t.Parallel()
	functions := resources[function](t, "AWS::Serverless::Function")
	queues := resources[queue](t, "AWS::SQS::Queue")
	mappings := resources[mapping](t, "AWS::Lambda::EventSourceMapping")
	read := slices.DeleteFunc(slices.Clone(task.Queues), task.IsOnlyTicked)
	if len(mappings) != len(read) || len(queues) != len(read)+1 {
		t.Errorf("%d queues and %d mappings for %d tasks and one for dead letters", len(queues), len(mappings), len(read))
	}
	for _, name := range read {
		title := strings.ToUpper(name[:1]) + name[1:]
		q, m, f := queues[title+"Queue"], mappings[title+"Mapping"], functions[title]
		if m.EventSourceArn != title+"Queue.Arn" || m.FunctionName != title+"Live" || f.Policies[0].SQSPollerPolicy.QueueName != title+"Queue.QueueName" {
			t.Errorf("queue %s does not feed its function: %+v", name, m)
		}
		if !slices.Equal(m.FunctionResponseTypes, []string{"ReportBatchItemFailures"}) {
			t.Errorf("%s: failures of messages are not reported", name)
		}
		if window := time.Duration(m.MaximumBatchingWindowInSeconds) * time.Second; m.BatchSize != task.BatchSize(name) || window != task.Window(name) {
			t.Errorf("%s: %d messages gathered for %v, on one machine %d for %v", name, m.BatchSize, window, task.BatchSize(name), task.Window(name))
		}
		if want := task.Timeout(name); time.Duration(f.Timeout)*time.Second != want || want == 0 {
			t.Errorf("%s: timeout %d s, on one machine it is %v", name, f.Timeout, want)
		}
		least := 6 * task.Timeout(name)
		if name == task.Fetch { // see task.Visibility
			least = 2*task.Timeout(name) + task.Window(name)
		}
		if want := task.Visibility(name); time.Duration(q.VisibilityTimeout)*time.Second != want || want < least {
			t.Errorf("%s: visibility %d s, on one machine it is %v", name, q.VisibilityTimeout, want)
		}
		if prefix := f.Environment.Variables["BUCKETSEARCH_QUEUES"]; prefix != "" && !strings.HasSuffix(prefix+name, "/"+q.QueueName) {
			t.Errorf("%s: senders look for it at %s, but it is called %s", name, prefix+name, q.QueueName)
		}
		if q.RedrivePolicy.DeadLetterTargetArn != "DeadLetters.Arn" || q.RedrivePolicy.MaxReceiveCount != message.MaxReceives {
			t.Errorf("%s: want dead letters after %d receives: %+v", name, message.MaxReceives, q.RedrivePolicy)
		}
		if q.ReceiveMessageWaitTimeSeconds != 20 || q.MaximumMessageSize != message.MaxBody {
			t.Errorf("%s: waits %d s, takes %d bytes", name, q.ReceiveMessageWaitTimeSeconds, q.MaximumMessageSize)
		}
	}
}

func TestEveryVariableIsRead(t *testing.T) {
	t.Parallel()
	variable := regexp.MustCompile(`BUCKETSEARCH_[A-Z0-9_]+`)
	set, read := variable.FindAllString(source(t, "template.yaml"), -1), []string{}
	for _, call := range regexp.MustCompile(`getenv\("BUCKETSEARCH_\w+"`).FindAllString(source(t, "../functions/shared/environment/*.go"), -1) {
		read = append(read, variable.FindString(call))
	}
	if diff := cmp.Diff(unique(read), unique(set)); diff != "" {
		t.Errorf("variables (-read +set):\n%s", diff)
	}
}

// In the template, each function must have the environment variables that its main package uses. It
// must be allowed to send messages to exactly the queues that the code of its own package names
// (such as task.Pack, or task.AskSweep).
func TestFunctionsAreGivenWhatTheyUse(t *testing.T) {
	t.Parallel()
	uses := map[string]string{
		"BUCKETSEARCH_REDIS": "e.Redis", "BUCKETSEARCH_QUEUES": "e.Sender", "BUCKETSEARCH_ALLOW_PRIVATE": "e.AllowPrivate",
		"BUCKETSEARCH_JUDGES": "e.Judges", "BUCKETSEARCH_CLICKS": "e.Clicks",
		"BUCKETSEARCH_LEAVES": "e.Leaves", "BUCKETSEARCH_LEAF_KEY": "e.Leaves",
		"BUCKETSEARCH_FRONT_KEY": "e.Serve",
	}
	for name, f := range resources[function](t, "AWS::Serverless::Function") {
		directory := strings.ToLower(name)
		main := source(t, "../functions/lambda/"+directory+"/main.go")
		for variable, use := range uses {
			if _, set := f.Environment.Variables[variable]; set != strings.Contains(main, use) {
				t.Errorf("%s: %s is set: %v", name, variable, set)
			}
		}
		var granted, sends []string
		for _, p := range f.Policies {
			if p.SQSSendMessagePolicy.QueueName != "" {
				granted = append(granted, strings.TrimSuffix(p.SQSSendMessagePolicy.QueueName, "Queue.QueueName"))
			}
		}
		own := source(t, "../functions/"+directory+"/*.go")
		for _, found := range regexp.MustCompile(`task\.(?:Ask)?(Schedule|Fetch|Pack|Index|Merge|Rank|Sweep)\b`).FindAllStringSubmatch(own, -1) {
			if strings.Contains(own, "task.Sender") {
				sends = append(sends, found[1])
			}
		}
		if name == "Sweep" { // the sweep sends dead letters again to all queues
			sends = []string{"Schedule", "Fetch", "Pack", "Index", "Merge", "Sweep"}
		}
		if diff := cmp.Diff(unique(sends), unique(granted)); diff != "" {
			t.Errorf("%s: queues (-used +granted):\n%s", name, diff)
		}
	}
}

// Each function may list the bucket: without that permission, S3 answers 403 instead of 404 for
// an absent object. Its permissions on objects are only for key prefixes that package layout
// defines.
func TestGrants(t *testing.T) {
	t.Parallel()
	for name, f := range resources[function](t, "AWS::Serverless::Function") {
		lists := false
		for _, s := range f.Policies[len(f.Policies)-1].Statement {
			if slices.Equal(s.Action, []string{"s3:ListBucket"}) {
				lists = slices.Equal(s.Resource, []string{"BucketArn.Value"}) && s.Condition == nil
			}
		}
		if !lists {
			t.Errorf("%s may not list the bucket", name)
		}
		for prefix := range f.grants() {
			if !slices.Contains(layout.Prefixes, prefix) {
				t.Errorf("%s may use %q, which is no prefix of the bucket", name, prefix)
			}
		}
	}
}

// Each function has the permissions for what all functions do, such as to read settings and to
// write vital signs.
func TestFunctionsAreGrantedWhatTheyShare(t *testing.T) {
	t.Parallel()
	const get, put = "s3:GetObject", "s3:PutObject"
	for name, f := range resources[function](t, "AWS::Serverless::Function") {
		needs := map[string][]string{layout.Feedback: {get, put}}
		if slices.Contains(task.Queues, strings.ToLower(name)) {
			needs[layout.DeadLetters] = []string{get, put}
		}
		directory := strings.ToLower(name)
		own := source(t, "../functions/"+directory+"/*.go") + source(t, "../functions/lambda/"+directory+"/main.go")
		if strings.Contains(own, "strategy/settings") || strings.Contains(own, "e.Settings") {
			for _, prefix := range append(slices.Clip(layout.Published), layout.Copies, layout.Hints) {
				needs[prefix] = []string{get}
			}
		}
		granted := f.grants()
		for prefix, actions := range needs {
			for _, action := range actions {
				if !slices.Contains(granted[prefix], action) {
					t.Errorf("%s is not granted %s of %s", name, action, prefix)
				}
			}
		}
	}
}

// The function sweep publishes: controls that pause a crawl at a limit, and takedowns that become final.
func TestSweepPublishes(t *testing.T) {
	t.Parallel()
	granted := resources[function](t, "AWS::Serverless::Function")["Sweep"].grants()
	for _, prefix := range []string{layout.Controls, layout.Takedowns, layout.Copies, layout.Hints} {
		if !slices.Contains(granted[prefix], "s3:PutObject") {
			t.Errorf("sweep may not write %s", prefix)
		}
	}
}

// Only the function sweep may delete objects. It may not delete published documents, such as
// collections.
func TestWhoDeletes(t *testing.T) {
	t.Parallel()
	var deletes []string
	for name, f := range resources[function](t, "AWS::Serverless::Function") {
		for prefix, actions := range f.grants() {
			if slices.Contains(actions, "s3:DeleteObject") {
				deletes = append(deletes, name+" "+prefix)
			}
		}
	}
	var want []string
	for _, prefix := range []string{
		layout.Books, layout.Clicks, layout.DeadLetters, layout.Due, layout.Feedback, layout.Judgments, layout.Manifests, layout.Overlays, layout.Packages,
		layout.Quarantine, layout.Runs, layout.Segments, layout.Spool,
	} {
		want = append(want, "Sweep "+prefix)
	}
	if diff := cmp.Diff(want, unique(deletes)); diff != "" {
		t.Errorf("who may delete (-want +got):\n%s", diff)
	}
}

// The function query answers anyone, and so may write only three kinds of objects: vital signs;
// judgments, but only if the template names judges; and clicks, but only if clicks are counted.
func TestWhatQueryWrites(t *testing.T) {
	t.Parallel()
	var writes []string
	for prefix, actions := range resources[function](t, "AWS::Serverless::Function")["Query"].grants() {
		if slices.Contains(actions, "s3:PutObject") {
			writes = append(writes, prefix)
		}
	}
	if diff := cmp.Diff([]string{layout.Clicks, layout.Feedback, layout.Judgments}, unique(writes)); diff != "" {
		t.Errorf("query may write (-want +got):\n%s", diff)
	}
	text := source(t, "template.yaml")
	for condition, prefix := range map[string]string{"Judged": layout.Judgments, "Clicked": layout.Clicks} {
		if at := strings.Index(text, "!If\n              - "+condition+"\n"); at < 0 || strings.Count(text[at:], "/"+prefix+"*") != 1 {
			t.Errorf("query may write %s although the stack is not %s", prefix, condition)
		}
	}
}

// Dead letters raise an alarm, whether they wait in their queue or the sweep has just taken them. So it ends when they
// are taken, and no dead letter is taken before it is counted.
func TestDeadLettersAreSeen(t *testing.T) {
	t.Parallel()
	type alarm struct {
		Metrics []struct {
			ID, Expression string
			MetricStat     struct {
				Metric struct {
					Namespace, MetricName string
					Dimensions            []struct{ Name, Value string }
				}
				Stat string
			}
		}
		Threshold float64
	}
	a := resources[alarm](t, "AWS::CloudWatch::Alarm")["DeadLettersAlarm"]
	counted := make(map[string]string)
	for _, m := range a.Metrics {
		if m.Expression != "" {
			counted[m.ID] = m.Expression
			continue
		}
		if len(m.MetricStat.Metric.Dimensions) != 1 || m.MetricStat.Metric.Dimensions[0].Value != "DeadLetters.QueueName" {
			t.Errorf("%s counts %+v", m.ID, m)
		}
		counted[m.ID] = m.MetricStat.Stat + " of " + m.MetricStat.Metric.Namespace + " " + m.MetricStat.Metric.MetricName
	}
	want := map[string]string{
		"failed":  "FILL(waiting, 0) + FILL(taken, 0)",
		"waiting": "Maximum of AWS/SQS ApproximateNumberOfMessagesVisible",
		"taken":   "Sum of AWS/SQS NumberOfMessagesDeleted",
	}
	if diff := cmp.Diff(want, counted); diff != "" || a.Threshold != 0 {
		t.Errorf("threshold %v, metrics (-want +got):\n%s", a.Threshold, diff)
	}
	taken := false
	for _, p := range resources[function](t, "AWS::Serverless::Function")["Sweep"].Policies {
		taken = taken || p.SQSPollerPolicy.QueueName == "DeadLetters.QueueName"
	}
	if !taken {
		t.Error("the sweep may not take dead letters")
	}
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	for name, f := range resources[function](t, "AWS::Serverless::Function") {
		if name == "Fetch" { // is in another VPC, or in none
			continue
		}
		outside := name == "Query" || name == "Rank" || name == "Watch"
		if (f.VpcConfig == nil) != outside {
			t.Errorf("%s is in the VPC: %v", name, f.VpcConfig != nil)
		}
		if f.VpcConfig != nil && (len(f.VpcConfig.SubnetIds) == 0 || len(f.VpcConfig.SecurityGroupIds) == 0 || !f.VpcConfig.Ipv6AllowedForDualStack) {
			t.Errorf("%s has no place in the VPC: %+v", name, *f.VpcConfig)
		}
	}
	ways := make(map[string]string)
	for _, e := range resources[struct{ VpcEndpointType, ServiceName string }](t, "AWS::EC2::VPCEndpoint") {
		ways[path.Ext(e.ServiceName)] = e.VpcEndpointType
	}
	if diff := cmp.Diff(map[string]string{".s3": "Gateway"}, ways); diff != "" {
		t.Errorf("endpoints, of which others than gateways are paid for (-want +got):\n%s", diff)
	}
	if nat := resources[any](t, "AWS::EC2::NatGateway"); len(nat) > 0 {
		t.Errorf("a NAT costs more than all the rest: %v", nat)
	}
}

// With the parameter RedisURL the stack has neither a Redis nor a private network, and pays for neither.
func TestForeignRedis(t *testing.T) {
	t.Parallel()
	own, ofRedis := 0, regexp.MustCompile(`(?m)^    Condition: (OwnRedis|Serverless|OnNode)$`)
	for _, block := range regexp.MustCompile(`(?m)^  \w+:.*\n(    .*\n|\n)+`).FindAllString(source(t, "template.yaml"), -1) {
		private := strings.Contains(block, "Type: AWS::EC2::") || strings.Contains(block, "Type: AWS::ElastiCache::")
		if conditional := ofRedis.MatchString(block); conditional != private {
			t.Errorf("only with a Redis of its own: %v, want %v:\n%s", conditional, private, block)
		}
		if private {
			own++
		}
		if strings.Contains(block, "{SubnetIds: [!Ref Subnet]") && !strings.Contains(block, "VpcConfig: !If\n        - OwnRedis\n") {
			t.Errorf("always in the private network:\n%s", block)
		}
	}
	if own == 0 {
		t.Error("the template has no private network")
	}
}

// A new object below spool/ sends an event to the function pack, and one below packages/ to index, whether the
// stack has made the bucket, or it was there already and sends its events to EventBridge. S3 allows only one
// notification for each prefix of keys, so no prefix may occur twice.
func TestNotifications(t *testing.T) {
	t.Parallel()
	type bucket struct {
		NotificationConfiguration struct {
			QueueConfigurations []struct {
				Event, Queue string
				Filter       struct {
					S3Key struct {
						Rules []struct{ Name, Value string }
					}
				}
			}
		}
	}
	notified := make(map[string]string)
	for _, c := range resources[bucket](t, "AWS::S3::Bucket")["Bucket"].NotificationConfiguration.QueueConfigurations {
		rules := c.Filter.S3Key.Rules
		if len(rules) != 1 || rules[0].Name != "prefix" || notified[rules[0].Value] != "" || c.Event != "s3:ObjectCreated:*" {
			t.Fatalf("want the objects of one prefix each: %+v", c)
		}
		notified[rules[0].Value] = c.Queue
	}
	want := map[string]string{layout.Spool: "PackQueue.Arn", layout.Packages: "IndexQueue.Arn"}
	if diff := cmp.Diff(want, notified); diff != "" {
		t.Errorf("notifications (-want +got):\n%s", diff)
	}
	type rule struct {
		EventPattern struct {
			Detail struct {
				Bucket struct{ Name []string }
				Object struct{ Key []struct{ Prefix string } }
			}
		}
		Targets []struct{ Arn string }
	}
	bridged := make(map[string]string)
	for name, r := range resources[rule](t, "AWS::Events::Rule") {
		of := r.EventPattern.Detail
		if len(of.Object.Key) != 1 || len(r.Targets) != 1 || !slices.Equal(of.Bucket.Name, []string{"ExistingBucket"}) {
			t.Fatalf("%s: want the objects of one prefix of the bucket, for one queue: %+v", name, r)
		}
		bridged[of.Object.Key[0].Prefix] = r.Targets[0].Arn
	}
	if diff := cmp.Diff(want, bridged); diff != "" {
		t.Errorf("rules for an existing bucket (-want +got):\n%s", diff)
	}
}
