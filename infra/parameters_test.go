package infra

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
)

// With the parameter Boundary, all roles have the permissions boundary: those that SAM makes for functions, and
// those of the template.
func TestBoundary(t *testing.T) {
	t.Parallel()
	const boundary = "PermissionsBoundary: !If [Bounded, !Ref Boundary, !Ref AWS::NoValue]\n"
	globals, _, _ := strings.Cut(source(t, "template.yaml"), "\nResources:\n")
	if !strings.Contains(globals, "\nGlobals:\n  Function:\n") || strings.Count(globals, boundary) != 1 {
		t.Error("roles of functions have no boundary")
	}
	for name, role := range resources[struct{ PermissionsBoundary string }](t, "AWS::IAM::Role") {
		if role.PermissionsBoundary != "Boundary" {
			t.Errorf("%s has no boundary", name)
		}
	}
}

// With the parameter Key, the key encrypts the bucket, and all functions may use it.
func TestKey(t *testing.T) {
	t.Parallel()
	type encryption struct {
		ServerSideEncryptionByDefault struct{ SSEAlgorithm, KMSMasterKeyID string }
		BucketKeyEnabled              bool
	}
	type bucket struct {
		BucketEncryption struct{ ServerSideEncryptionConfiguration []encryption }
	}
	var want encryption
	want.ServerSideEncryptionByDefault.SSEAlgorithm, want.ServerSideEncryptionByDefault.KMSMasterKeyID = "aws:kms", "Key"
	want.BucketKeyEnabled = true // or each request would be one of the key, too, which is paid for
	got := resources[bucket](t, "AWS::S3::Bucket")["Bucket"].BucketEncryption.ServerSideEncryptionConfiguration
	if diff := cmp.Diff([]encryption{want}, got); diff != "" {
		t.Errorf("encryption (-want +got):\n%s", diff)
	}
	type policy struct {
		Roles          []string
		PolicyDocument struct {
			Statement []struct{ Action, Resource oneOrMore }
		}
	}
	granted := resources[policy](t, "AWS::IAM::ManagedPolicy")["KeyPolicy"]
	var roles []string
	for name := range resources[function](t, "AWS::Serverless::Function") {
		roles = append(roles, name+"Role")
	}
	if diff := cmp.Diff(unique(roles), unique(granted.Roles)); diff != "" {
		t.Errorf("roles that may use the key (-want +got):\n%s", diff)
	}
	if s := granted.PolicyDocument.Statement; len(s) != 1 || !slices.Equal(s[0].Action, []string{"kms:Decrypt", "kms:GenerateDataKey"}) || !slices.Equal(s[0].Resource, []string{"Key"}) {
		t.Errorf("grants %+v", s)
	}
}

// Only packages, which searches do not read, go to the class of storage in which reads cost.
func TestRarelyRead(t *testing.T) {
	t.Parallel()
	type bucket struct {
		LifecycleConfiguration struct {
			Rules []struct {
				Prefix      string
				Transitions []struct{ StorageClass, TransitionInDays string }
			}
		}
	}
	rules := resources[bucket](t, "AWS::S3::Bucket")["Bucket"].LifecycleConfiguration.Rules
	if len(rules) != 2 || len(rules[0].Transitions) != 0 {
		t.Fatalf("want two rules, of which the second moves packages: %+v", rules)
	}
	if r := rules[1]; r.Prefix != layout.Packages || len(r.Transitions) != 1 || r.Transitions[0].TransitionInDays != "RarelyReadDays" {
		t.Errorf("rule %+v", r)
	}
}

// With the parameter Replica, S3 may copy what is new to the replica, and delete there what is deleted. A closed
// replica refuses all of that.
func TestReplica(t *testing.T) {
	t.Parallel()
	type policy struct {
		PolicyDocument struct {
			Statement []struct {
				Effect           string
				Action, Resource oneOrMore
			}
		}
	}
	const all = "arn:${AWS::Partition}:s3:::${Replica}/*"
	allowed := make(map[string][]string) // actions by resource
	for _, s := range resources[policy](t, "AWS::IAM::ManagedPolicy")["CopyPolicy"].PolicyDocument.Statement {
		allowed[s.Resource[0]] = unique(append(allowed[s.Resource[0]], s.Action...))
	}
	copies := allowed[all]
	if want := []string{"s3:ReplicateDelete", "s3:ReplicateObject", "s3:ReplicateTags"}; !slices.Equal(want, copies) {
		t.Errorf("S3 may use %q in the replica, want %q", copies, want)
	}
	if !slices.Equal(allowed["Key"], []string{"kms:Decrypt"}) || !slices.Equal(allowed["ReplicaKey"], []string{"kms:Encrypt", "kms:GenerateDataKey"}) {
		t.Errorf("S3 may use the keys for %q and %q", allowed["Key"], allowed["ReplicaKey"])
	}
	refused := resourcesOf[policy](t, "replica.yaml", "AWS::S3::BucketPolicy")["NoCopies"].PolicyDocument.Statement
	if len(refused) != 1 || refused[0].Effect != "Deny" || !slices.Equal(unique(refused[0].Action), copies) {
		t.Errorf("a closed replica refuses %+v, want %q", refused, copies)
	}
	type bucket struct {
		VersioningConfiguration  struct{ Status string }
		ReplicationConfiguration struct {
			Role  string
			Rules []struct {
				Filter                  struct{ Prefix string }
				DeleteMarkerReplication struct{ Status string }
				Destination             struct {
					Bucket                  string
					EncryptionConfiguration struct{ ReplicaKmsKeyID string }
				}
				SourceSelectionCriteria struct {
					SseKmsEncryptedObjects struct{ Status string }
				}
			}
		}
	}
	from, to := resources[bucket](t, "AWS::S3::Bucket")["Bucket"], resourcesOf[bucket](t, "replica.yaml", "AWS::S3::Bucket")["Bucket"]
	if from.VersioningConfiguration.Status != "Enabled" || to.VersioningConfiguration.Status != "Enabled" {
		t.Error("S3 copies only between buckets with versions")
	}
	rules := from.ReplicationConfiguration.Rules
	if len(rules) != 1 || rules[0].Filter.Prefix != "" || rules[0].DeleteMarkerReplication.Status != "Enabled" || rules[0].Destination.Bucket+"/*" != all {
		t.Errorf("want one rule for all objects and deletions: %+v", rules)
	}
	if r := rules[0]; r.SourceSelectionCriteria.SseKmsEncryptedObjects.Status != "Enabled" || r.Destination.EncryptionConfiguration.ReplicaKmsKeyID != "ReplicaKey" {
		t.Errorf("objects that a key encrypts are not copied with the key of the replica: %+v", r)
	}
}

// The parameter WebACL is the one of the only distribution, and limit.yaml refuses those who ask too often, and nobody
// else.
func TestWebACL(t *testing.T) {
	t.Parallel()
	type distribution struct{ DistributionConfig struct{ WebACLId string } }
	if d := resources[distribution](t, "AWS::CloudFront::Distribution")["Front"]; d.DistributionConfig.WebACLId != "WebACL" {
		t.Errorf("the distribution has the rules %q", d.DistributionConfig.WebACLId)
	}
	type rules struct {
		Scope         string
		DefaultAction map[string]any
		Rules         []struct {
			Statement struct {
				RateBasedStatement struct {
					AggregateKeyType, Limit string
					EvaluationWindowSec     int
				}
			}
			Action struct {
				Block struct {
					CustomResponse struct{ ResponseCode int }
				}
			}
		}
	}
	limit := resourcesOf[rules](t, "limit.yaml", "AWS::WAFv2::WebACL")["Limit"]
	if _, allows := limit.DefaultAction["Allow"]; !allows || limit.Scope != "CLOUDFRONT" || len(limit.Rules) != 1 {
		t.Fatalf("want one rule for CloudFront: %+v", limit)
	}
	r := limit.Rules[0]
	if by := r.Statement.RateBasedStatement; by.AggregateKeyType != "IP" || by.Limit != "PerMinute" || by.EvaluationWindowSec != 60 || r.Action.Block.CustomResponse.ResponseCode != 429 {
		t.Errorf("want those refused who ask too often in a minute: %+v", r)
	}
}

// The parameter QueryConcurrency limits the function that strangers can invoke, and no other.
func TestQueryConcurrency(t *testing.T) {
	t.Parallel()
	for name, f := range resources[struct{ ReservedConcurrentExecutions string }](t, "AWS::Serverless::Function") {
		want := ""
		if name == "Query" {
			want = "QueryConcurrency"
		}
		if f.ReservedConcurrentExecutions != want {
			t.Errorf("%s reserves %q, want %q", name, f.ReservedConcurrentExecutions, want)
		}
	}
}

// A message of any queue that waits for two hours raises an alarm, unless its queue drops it earlier. A message
// that fails once does not: it is tried again before that.
func TestWaitingIsSeen(t *testing.T) {
	t.Parallel()
	text := source(t, "template.yaml")
	list := regexp.MustCompile(`Fn::ForEach::WaitingAlarms:.*\n    - Queue\n    - \[(.+)\]\n(?:.*\n)*? +Threshold: 7200\n`).FindStringSubmatch(text)
	if list == nil {
		t.Fatal("there are no alarms")
	}
	const threshold = 2 * time.Hour
	var want []string
	retentions := resources[struct{ MessageRetentionPeriod int }](t, "AWS::SQS::Queue")
	for _, name := range slices.DeleteFunc(slices.Clone(task.Queues), task.IsOnlyTicked) {
		retained := retentions[strings.ToUpper(name[:1])+name[1:]+"Queue"].MessageRetentionPeriod
		if retained == 0 || time.Duration(retained)*time.Second > threshold {
			want = append(want, name)
			if again := task.Visibility(name) + task.Timeout(name); again >= threshold {
				t.Errorf("%s: a message is done %v after one failure", name, again)
			}
		}
	}
	if diff := cmp.Diff(unique(want), unique(strings.Split(list[1], ", "))); diff != "" {
		t.Errorf("queues with an alarm (-want +got):\n%s", diff)
	}
}

// A function that a clock invokes raises an alarm if it fails again and again: its ticks are no dead letters.
func TestFailingClocksAreSeen(t *testing.T) {
	t.Parallel()
	type alarm struct {
		Metrics []struct {
			ID         string `json:"Id"`
			Expression string
			MetricStat struct {
				Metric struct {
					MetricName string
					Dimensions []struct{ Value string }
				}
			}
		}
	}
	type clock struct{ Target struct{ Arn string } }
	want := []string{"Schedule"} // its clocks are in a loop
	for _, c := range resources[clock](t, "AWS::Scheduler::Schedule") {
		want = append(want, strings.TrimSuffix(c.Target.Arn, "Live"))
	}
	var watched []string
	metrics := resources[alarm](t, "AWS::CloudWatch::Alarm")["ClocksAlarm"].Metrics
	for _, m := range metrics {
		if of := m.MetricStat.Metric; of.MetricName == "Errors" && strings.Contains(metrics[0].Expression, "FILL("+m.ID+", 0)") {
			watched = append(watched, of.Dimensions[0].Value)
		}
	}
	if diff := cmp.Diff(unique(want), unique(watched)); diff != "" {
		t.Errorf("functions with an alarm (-want +got):\n%s", diff)
	}
}

// The dashboard is JSON, and shows every queue and every function.
func TestDashboard(t *testing.T) {
	t.Parallel()
	body := resources[struct{ DashboardBody string }](t, "AWS::CloudWatch::Dashboard")["Overview"].DashboardBody
	var dashboard struct {
		Widgets []struct {
			Properties struct {
				Title   string
				Metrics [][]any
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &dashboard); err != nil {
		t.Fatal(err)
	}
	shown := make(map[string]int) // numbers of metrics, by title
	for _, w := range dashboard.Widgets {
		shown[w.Properties.Title] = len(w.Properties.Metrics)
	}
	queued := slices.DeleteFunc(slices.Clone(task.Queues), task.IsOnlyTicked)
	queues, functions := len(queued), len(resources[function](t, "AWS::Serverless::Function"))
	want := map[string]int{
		"Messages": queues + 1, "Age of the oldest message (s)": queues, "Errors": functions, "Time that is paid for (ms)": functions,
		"Searches": 4, "Bytes in the bucket": 2,
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	for _, name := range task.Queues {
		title, shown := strings.ToUpper(name[:1])+name[1:], 2
		if task.IsOnlyTicked(name) {
			shown = 0
		}
		if strings.Count(body, "${"+title+"Queue.QueueName}") != shown || strings.Count(body, "${"+title+"}") != 2 {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}
