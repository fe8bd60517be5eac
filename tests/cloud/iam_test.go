package cloud

import "testing"

func TestAccess(t *testing.T) {
	t.Parallel()
	allow := func(action, resource string) statement {
		return statement{Effect: "Allow", Action: oneOrMore{action}, Resource: oneOrMore{resource}}
	}
	deny, conditional, own := allow("s3:DeleteObject", "arn:aws:s3:::b/*"), allow("s3:GetObject", "*"), allow("s3:GetObject", "*")
	deny.Effect = "Deny"
	sent := allow("sqs:SendMessage", "arn:q")
	conditional.Condition = map[string]map[string]oneOrMore{"StringEquals": {"aws:SourceVpc": {"vpc-1"}}}
	own.Condition = map[string]map[string]oneOrMore{"StringEquals": {"aws:SourceAccount": {account}}}
	sent.Condition = map[string]map[string]oneOrMore{"ArnEquals": {"aws:SourceArn": {"arn:other", "arn:rule"}}}
	for name, test := range map[string]struct {
		statements       []statement
		action, resource string
		want             bool
	}{
		"no statement":      {nil, "s3:GetObject", "arn:aws:s3:::b/a", false},
		"prefix":            {[]statement{allow("s3:GetObject", "arn:aws:s3:::b/spool/*")}, "s3:GetObject", "arn:aws:s3:::b/spool/0/x", true},
		"other prefix":      {[]statement{allow("s3:GetObject", "arn:aws:s3:::b/spool/*")}, "s3:GetObject", "arn:aws:s3:::b/books/0/x", false},
		"other action":      {[]statement{allow("s3:GetObject", "arn:aws:s3:::b/*")}, "s3:PutObject", "arn:aws:s3:::b/x", false},
		"actions":           {[]statement{allow("sqs:SendMessage*", "arn:q")}, "sqs:SendMessageBatch", "arn:q", true},
		"bucket, no object": {[]statement{allow("s3:ListBucket", "arn:aws:s3:::b")}, "s3:ListBucket", "arn:aws:s3:::bb", false},
		"denied":            {[]statement{allow("*", "*"), deny}, "s3:DeleteObject", "arn:aws:s3:::b/x", false},
		"own account":       {[]statement{own}, "s3:GetObject", "arn:aws:s3:::b/x", true},
		"unknown condition": {[]statement{conditional}, "s3:GetObject", "arn:aws:s3:::b/x", false},
		"its source":        {[]statement{sent}, "sqs:SendMessage", "arn:q", true},
		"other source":      {[]statement{sent}, "sqs:SendMessage", "arn:q", false},
	} {
		a := &access{statements: map[string][]statement{"role": test.statements}, denials: make(map[string]int)}
		source := map[string]string{"its source": "arn:rule", "other source": "arn:stranger"}[name]
		if got := a.allowsFor(source, "role", test.action, test.resource); got != test.want || (len(a.denied()) == 0) != test.want {
			t.Errorf("%s: allowed %v, denied %q", name, got, a.denied())
		}
	}
}
