package cloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Names of the stack, and of the account and region that it is in.
const (
	stackName = "bucketsearch"
	account   = "000000000000"
	region    = "us-east-1"
	urlSuffix = "amazonaws.com"
	stackID   = "arn:aws:cloudformation:" + region + ":" + account + ":stack/" + stackName + "/d0a1b2c3-0000-11f0-8000-0123456789ab"
)

// template is a CloudFormation template in which all functions, such as !Ref, are replaced by their values.
type template struct {
	Globals struct {
		Function struct {
			Environment struct{ Variables map[string]string }
		}
	}
	Resources map[string]struct {
		Type       string
		Properties json.RawMessage
	}
}

// readTemplate reads a template as a T, such as template. The parameter attributes has values that the caller gives
// to attributes of resources, such as "RedisServerless.Endpoint.Port"; given has values of the template's parameters.
// Those that are missing there have their default values.
func readTemplate[T any](path string, attributes, given map[string]string) (read T, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return read, err
	}
	var root yaml.Node
	if err := yaml.Unmarshal(content, &root); err != nil {
		return read, fmt.Errorf("cannot read %s: %w", path, err)
	}
	e := evaluator{root: root.Content[0], attributes: attributes, names: map[string]any{
		"AWS::Partition": "aws", "AWS::Region": region, "AWS::AccountId": account, "AWS::StackName": stackName, "AWS::StackId": stackID, "AWS::URLSuffix": urlSuffix, "AWS::NoValue": noValue{},
	}}
	value, err := e.all(given)
	if err == nil {
		content, err = json.Marshal(value)
	}
	if err == nil {
		err = json.Unmarshal(content, &read)
	}
	if err != nil {
		return read, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return read, nil
}

// resourcesOf returns the properties of all resources of a type, such as "AWS::SQS::Queue", by their names.
func resourcesOf[T any](t template, kind string) (map[string]T, error) {
	found := make(map[string]T)
	for name, r := range t.Resources {
		if r.Type != kind {
			continue
		}
		var properties T
		if err := json.Unmarshal(r.Properties, &properties); err != nil {
			return nil, fmt.Errorf("resource %s: %w", name, err)
		}
		found[name] = properties
	}
	return found, nil
}

// evaluator replaces the functions of CloudFormation in a template by their values.
type evaluator struct {
	root       *yaml.Node        // whole template
	resources  *yaml.Node        // its resources, without loops
	attributes map[string]string // values of resources' attributes, such as "RedisServerless.Endpoint.Port"
	names      map[string]any    // values of parameters and of pseudo parameters
}

// noValue is the value of AWS::NoValue: what has this value is left out.
type noValue struct{}

// all returns the values of the template's globals and resources, with the given values of parameters.
func (e *evaluator) all(given map[string]string) (any, error) {
	var parameters map[string]struct {
		Type    string `yaml:"Type"`
		Default string `yaml:"Default"`
	}
	if err := field(e.root, "Parameters").Decode(&parameters); err != nil {
		return nil, err
	}
	for name, p := range parameters {
		text, isGiven := given[name]
		if !isGiven {
			text = p.Default
		}
		switch p.Type {
		case "CommaDelimitedList":
			e.names[name] = anySlice(strings.Split(text, ","))
		case "Number":
			number, err := strconv.Atoi(text)
			if err != nil {
				return nil, fmt.Errorf("parameter %s: %w", name, err)
			}
			e.names[name] = number
		default:
			e.names[name] = text
		}
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	var err error
	if e.resources, err = e.unroll(field(e.root, "Resources")); err != nil {
		return nil, err
	}
	parts := make(map[string]any)
	for name, n := range map[string]*yaml.Node{"Globals": field(e.root, "Globals"), "Resources": e.resources} {
		if n == nil {
			continue
		}
		if parts[name], err = e.value(n); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// unroll returns a mapping in which each loop (Fn::ForEach) is replaced by what it makes. A loop is a list of its
// variable, of the variable's values, and of a mapping that is made for each value.
func (e *evaluator) unroll(n *yaml.Node) (*yaml.Node, error) {
	unrolled := *n
	unrolled.Content = nil
	for i := 0; i < len(n.Content); i += 2 {
		key, content := n.Content[i], n.Content[i+1]
		if !strings.HasPrefix(key.Value, "Fn::ForEach::") {
			unrolled.Content = append(unrolled.Content, key, content)
			continue
		}
		values, err := e.value(content.Content[1])
		if err != nil {
			return nil, err
		}
		for _, v := range values.([]any) {
			made, err := e.unroll(withValue(content.Content[2], content.Content[0].Value, fmt.Sprint(v)))
			if err != nil {
				return nil, err
			}
			unrolled.Content = append(unrolled.Content, made.Content...)
		}
	}
	return &unrolled, nil
}

// withValue returns a copy of a node in which a value stands for the variable of a loop.
func withValue(n *yaml.Node, variable, value string) *yaml.Node {
	made := *n
	made.Value = strings.ReplaceAll(n.Value, "${"+variable+"}", value)
	if n.Tag == "!Ref" && n.Value == variable {
		made.Tag, made.Value = "!!str", value
	}
	made.Content = nil
	for _, child := range n.Content {
		made.Content = append(made.Content, withValue(child, variable, value))
	}
	return &made
}

// check returns an error if values of parameters break a rule of the template.
func (e *evaluator) check() error {
	n := field(e.root, "Rules")
	if n == nil {
		return nil
	}
	value, err := e.value(n)
	if err != nil {
		return err
	}
	var rules map[string]struct {
		RuleCondition bool
		Assertions    []struct {
			Assert            bool
			AssertDescription string
		}
	}
	content, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(content, &rules)
	}
	if err != nil {
		return err
	}
	for _, r := range rules {
		for _, a := range r.Assertions {
			if r.RuleCondition && !a.Assert {
				return errors.New(a.AssertDescription)
			}
		}
	}
	return nil
}

// value returns the value of a node. A resource whose condition does not hold has the value noValue.
func (e *evaluator) value(n *yaml.Node) (any, error) {
	if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		return e.call(n)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return e.mapping(n)
	case yaml.SequenceNode:
		return e.sequence(n.Content)
	case yaml.ScalarNode:
		var v any
		err := n.Decode(&v)
		return v, err
	}
	return nil, fmt.Errorf("line %d: a node of this kind is not supported", n.Line)
}

func (e *evaluator) mapping(n *yaml.Node) (any, error) {
	if condition := field(n, "Condition"); condition != nil && condition.Kind == yaml.ScalarNode && field(n, "Type") != nil {
		if holds, err := e.condition(condition.Value); err != nil || !holds {
			return noValue{}, err
		}
	}
	if of := field(n, "Ref"); of != nil { // the long form, whose name may be that of a loop's variable
		return e.ref(of.Value)
	}
	m := make(map[string]any)
	for i := 0; i < len(n.Content); i += 2 {
		v, err := e.value(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		if _, left := v.(noValue); !left {
			m[n.Content[i].Value] = v
		}
	}
	return m, nil
}

func (e *evaluator) sequence(nodes []*yaml.Node) ([]any, error) {
	values := []any{}
	for _, n := range nodes {
		v, err := e.value(n)
		if err != nil {
			return nil, err
		}
		if _, left := v.(noValue); !left {
			values = append(values, v)
		}
	}
	return values, nil
}

// call returns the value of a function in its short form, such as !Ref.
func (e *evaluator) call(n *yaml.Node) (any, error) {
	switch n.Tag {
	case "!Ref":
		return e.ref(n.Value)
	case "!GetAtt":
		if n.Kind == yaml.ScalarNode {
			return e.attribute(n.Value)
		}
		parts, err := e.sequence(n.Content)
		if err != nil {
			return nil, err
		}
		return e.attribute(joined(".", parts))
	case "!Sub":
		return e.substitute(n.Value)
	case "!GetAZs":
		return []any{region + "a", region + "b"}, nil
	case "!Condition":
		return e.condition(n.Value)
	case "!If":
		holds, err := e.condition(n.Content[0].Value)
		if err != nil {
			return nil, err
		}
		if holds {
			return e.value(n.Content[1])
		}
		return e.value(n.Content[2])
	}
	arguments, err := e.sequence(n.Content)
	if err != nil {
		return nil, err
	}
	switch n.Tag {
	case "!Equals":
		return arguments[0] == arguments[1], nil
	case "!And":
		return !slices.Contains(arguments, any(false)), nil
	case "!Not":
		return !arguments[0].(bool), nil
	case "!Select":
		list, isList := arguments[1].([]any)
		if !isList {
			return arguments[1], nil // an attribute that nothing here needs
		}
		return list[arguments[0].(int)], nil
	case "!Split":
		return anySlice(strings.Split(arguments[1].(string), arguments[0].(string))), nil
	case "!Join":
		return joined(arguments[0].(string), arguments[1].([]any)), nil
	case "!Cidr":
		return arguments[:1], nil // blocks of addresses, which nothing here needs either
	}
	return nil, fmt.Errorf("line %d: the function %s is not supported", n.Line, n.Tag)
}

func (e *evaluator) condition(name string) (bool, error) {
	n := field(field(e.root, "Conditions"), name)
	if n == nil {
		return false, fmt.Errorf("there is no condition %s", name)
	}
	v, err := e.value(n)
	holds, _ := v.(bool)
	return holds, err
}

// ref returns the value of !Ref: that of a parameter, or the id of a resource.
func (e *evaluator) ref(name string) (any, error) {
	if v, known := e.names[name]; known {
		return v, nil
	}
	if owner, isRole := strings.CutSuffix(name, "Role"); isRole && e.kind(owner) == "AWS::Serverless::Function" {
		return name, nil // SAM makes it for the function
	}
	switch e.kind(name) {
	case "":
		return nil, fmt.Errorf("there is no parameter or resource %s", name)
	case "AWS::S3::Bucket":
		return bucketName(name), nil
	case "AWS::SQS::Queue":
		queue, err := e.property(name, "QueueName")
		return "https://sqs." + region + "." + urlSuffix + "/" + account + "/" + queue, err
	case "AWS::Lambda::Alias":
		owner, err := e.property(name, "FunctionName")
		if err != nil {
			return nil, err
		}
		alias, err := e.property(name, "Name")
		return functionARN(owner) + ":" + alias, err
	}
	return name, nil
}

// attribute returns the value of !GetAtt, given as resource.attribute. For attributes that nothing here needs, this is
// the given text itself.
func (e *evaluator) attribute(path string) (string, error) {
	if v, given := e.attributes[path]; given {
		return v, nil
	}
	name, attribute, _ := strings.Cut(path, ".")
	switch kind := e.kind(name); {
	case kind == "AWS::SQS::Queue" && attribute == "Arn":
		queue, err := e.property(name, "QueueName")
		return queueARN(queue), err
	case kind == "AWS::SQS::Queue" && attribute == "QueueName", kind == "AWS::SSM::Parameter" && attribute == "Value":
		return e.property(name, attribute)
	case kind == "AWS::Events::Rule" && attribute == "Arn":
		return ruleARN(name), nil
	case kind == "AWS::Serverless::Function" && attribute == "Arn":
		return functionARN(name), nil
	case kind == "AWS::Lambda::Version" && attribute == "Version":
		return "1", nil
	case kind == "AWS::Lambda::Url" && attribute == "FunctionUrl":
		return "https://" + strings.ToLower(name) + ".lambda-url." + region + ".on.aws/", nil
	case kind == "":
		return "", fmt.Errorf("there is no resource %s", name)
	}
	return path, nil
}

func bucketName(name string) string { return strings.ToLower(stackName + "-" + name) }
func ruleARN(name string) string    { return "arn:aws:events:" + region + ":" + account + ":rule/" + name }
func queueARN(queue string) string  { return "arn:aws:sqs:" + region + ":" + account + ":" + queue }
func functionARN(name string) string {
	return "arn:aws:lambda:" + region + ":" + account + ":function:" + name
}

// kind returns the type of a resource, such as "AWS::SQS::Queue"; "" if there is none of that name.
func (e *evaluator) kind(name string) string {
	if n := field(field(e.resources, name), "Type"); n != nil {
		return n.Value
	}
	return ""
}

// property returns the value of a resource's property that is a text.
func (e *evaluator) property(resource, name string) (string, error) {
	n := field(field(field(e.resources, resource), "Properties"), name)
	if n == nil {
		return "", fmt.Errorf("the resource %s has no %s", resource, name)
	}
	v, err := e.value(n)
	text, _ := v.(string)
	return text, err
}

var variable = regexp.MustCompile(`\$\{[^}]+\}`)

// substitute returns the value of !Sub: a text in which each ${name} is replaced by the value of the name, and
// each ${resource.attribute} by that of the attribute.
func (e *evaluator) substitute(text string) (string, error) {
	var errs []error
	replaced := variable.ReplaceAllStringFunc(text, func(found string) string {
		name := found[2 : len(found)-1]
		if strings.Contains(name, ".") {
			v, err := e.attribute(name)
			errs = append(errs, err)
			return v
		}
		v, err := e.ref(name)
		errs = append(errs, err)
		return fmt.Sprint(v)
	})
	return replaced, errors.Join(errs...)
}

// field returns the value of a key in a mapping node; nil if there is none.
func field(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func joined(between string, values []any) string {
	texts := make([]string, 0, len(values))
	for _, v := range values {
		texts = append(texts, fmt.Sprint(v))
	}
	return strings.Join(texts, between)
}

func anySlice(texts []string) []any {
	values := make([]any, 0, len(texts))
	for _, text := range texts {
		values = append(values, text)
	}
	return values
}

// merged returns the entries of both maps. Those of the second have precedence.
func merged(first, second map[string]string) map[string]string {
	all := maps.Clone(first)
	maps.Copy(all, second)
	return all
}
