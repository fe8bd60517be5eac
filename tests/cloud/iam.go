package cloud

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// policy is one policy of a function or a role, in one of the forms in which the template has it.
type policy struct {
	SQSPollerPolicy, SQSSendMessagePolicy *struct{ QueueName string }
	Statement                             []statement
	PolicyDocument                        struct{ Statement []statement }
}

// statement is one statement of a policy.
type statement struct {
	Effect           string
	Action, Resource oneOrMore
	Principal        struct{ Service string }
	Condition        map[string]map[string]oneOrMore
}

// oneOrMore is a list of strings. In a policy, a single string may stand in its place.
type oneOrMore []string

func (o *oneOrMore) UnmarshalJSON(text []byte) error {
	if text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(o))
	}
	*o = make(oneOrMore, 1)
	return json.Unmarshal(text, &(*o)[0])
}

// statementsOf returns the statements of policies. It replaces SAM's policy templates by their statements.
func statementsOf(policies []policy) []statement {
	var all []statement
	for _, p := range policies {
		all = append(append(all, p.Statement...), p.PolicyDocument.Statement...)
		if q := p.SQSPollerPolicy; q != nil {
			all = append(all, statement{Effect: "Allow", Resource: oneOrMore{queueARN(q.QueueName)}, Action: oneOrMore{
				"sqs:ChangeMessageVisibility", "sqs:ChangeMessageVisibilityBatch", "sqs:DeleteMessage", "sqs:DeleteMessageBatch",
				"sqs:GetQueueAttributes", "sqs:ReceiveMessage",
			}})
		}
		if q := p.SQSSendMessagePolicy; q != nil {
			all = append(all, statement{Effect: "Allow", Resource: oneOrMore{queueARN(q.QueueName)}, Action: oneOrMore{"sqs:SendMessage*"}})
		}
	}
	return all
}

// anyone is the principal of the permissions that strangers have.
const anyone = "*"

// grant reads the policies of functions, roles and queues, and the permissions of others to invoke functions.
func (c *Cloud) grant(t template) error {
	functions, err := resourcesOf[functionProperties](t, "AWS::Serverless::Function")
	if err != nil {
		return err
	}
	for name, f := range functions {
		c.access.statements[name] = statementsOf(f.Policies)
	}
	roles, err := resourcesOf[struct{ Policies []policy }](t, "AWS::IAM::Role")
	if err != nil {
		return err
	}
	for name, r := range roles {
		c.access.statements[name] = statementsOf(r.Policies)
	}
	permissions, err := resourcesOf[struct{ FunctionName, Principal, Action string }](t, "AWS::Lambda::Permission")
	if err != nil {
		return err
	}
	for _, p := range permissions {
		s := statement{Effect: "Allow", Action: oneOrMore{p.Action}, Resource: oneOrMore{p.FunctionName}}
		c.access.statements[p.Principal] = append(c.access.statements[p.Principal], s)
	}
	policies, err := resourcesOf[struct {
		policy
		Queues []string
	}](t, "AWS::SQS::QueuePolicy")
	for _, p := range policies {
		for _, s := range p.PolicyDocument.Statement {
			s.Resource = nil
			for _, url := range p.Queues { // a queue's policy is about the queue
				s.Resource = append(s.Resource, queueARN(url[strings.LastIndex(url, "/")+1:]))
			}
			c.access.statements[s.Principal.Service] = append(c.access.statements[s.Principal.Service], s)
		}
	}
	return err
}

// access decides which requests are allowed, and counts those that are not. It is safe for concurrent use.
type access struct {
	statements map[string][]statement // by role; the role of a function is its name

	mu      sync.Mutex     // protects the field denials
	denials map[string]int // numbers of refused requests, by "role action resource"
}

// allows reports whether a role may use an action, such as s3:GetObject, on a resource, given by its ARN. As in IAM,
// a statement must allow it, and none may deny it.
func (a *access) allows(role, action, resource string) bool {
	return a.allowsFor("", role, action, resource)
}

// allowsFor does the same as allows. The parameter source is the ARN of the resource for which a service of AWS makes
// the request, such as a rule of EventBridge; "" if there is none.
func (a *access) allowsFor(source, role, action, resource string) bool {
	allowed, denied := false, false
	for _, s := range a.statements[role] {
		if s.matches(source, action, resource) {
			allowed, denied = allowed || s.Effect == "Allow", denied || s.Effect == "Deny"
		}
	}
	if allowed && !denied {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.denials[strings.Join([]string{role, action, resource}, " ")]++
	return false
}

// denied returns a sentence for each kind of request that was refused.
func (a *access) denied() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []string
	for _, what := range slices.Sorted(maps.Keys(a.denials)) {
		all = append(all, fmt.Sprintf("%s: refused %d times", what, a.denials[what]))
	}
	return all
}

// matches reports whether a statement is about an action on a resource. Of conditions it knows those on the account
// and on the source (see allowsFor); a statement with another condition matches nothing.
func (s statement) matches(source, action, resource string) bool {
	is := map[string]string{"aws:SourceAccount": account, "aws:SourceArn": source}
	for _, conditions := range s.Condition {
		for key, allowed := range conditions {
			if value, known := is[key]; !known || !slices.Contains(allowed, value) {
				return false
			}
		}
	}
	return matchesOne(s.Action, action) && matchesOne(s.Resource, resource)
}

func matchesOne(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$").MatchString(text)
	})
}
