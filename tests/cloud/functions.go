package cloud

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/local/lambda"
)

// startFunctions starts the functions of the template: their runtimes and URLs. Processes start with invocations.
func (c *Cloud) startFunctions(ctx context.Context, t template, o Options, objects *store) error {
	functions, err := resourcesOf[functionProperties](t, "AWS::Serverless::Function")
	if err != nil {
		return err
	}
	concurrent, err := c.concurrency(t)
	if err != nil {
		return err
	}
	for name, f := range functions {
		scratch := filepath.Join(o.Dir, "scratch", name)
		if err := os.MkdirAll(scratch, 0o755); err != nil {
			return err
		}
		variables, err := c.variables(name, objects, merged(t.Globals.Function.Environment.Variables, f.Environment.Variables))
		if err != nil {
			return err
		}
		variables = append(variables, "TMPDIR="+scratch, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE="+strconv.Itoa(f.MemorySize))
		runtime, err := lambda.Start(ctx, lambda.Function{
			Name: name, Path: filepath.Join(o.Functions, filepath.Base(f.CodeUri)), Env: variables, Concurrency: concurrent[name],
			Timeout: time.Duration(f.Timeout) * time.Second, Output: o.Log,
		})
		if err != nil {
			return err
		}
		c.stop = append(c.stop, func() { _ = runtime.Close() })
		c.functions[name] = &function{name, runtime, float64(f.MemorySize) / 1024, scratch, c.meter}
	}
	return c.startAliases(t)
}

// startAliases reads the aliases of the functions, and starts the URL of one of them.
func (c *Cloud) startAliases(t template) error {
	aliases, err := resourcesOf[struct{ FunctionName, Name string }](t, "AWS::Lambda::Alias")
	if err != nil {
		return err
	}
	for _, a := range aliases {
		c.aliases[functionARN(a.FunctionName)+":"+a.Name] = c.functions[a.FunctionName]
	}
	urls, err := resourcesOf[struct{ TargetFunctionArn, Qualifier, InvokeMode string }](t, "AWS::Lambda::Url")
	if err != nil {
		return err
	}
	for name, u := range urls {
		arn := functionARN(u.TargetFunctionArn) + ":" + u.Qualifier
		if c.aliases[arn] == nil || u.InvokeMode != "RESPONSE_STREAM" {
			return fmt.Errorf("%s is no URL of an alias of the template, or streams no responses", name)
		}
		c.URL, err = c.serve(functionURL{c.aliases[arn], func() bool {
			return c.access.allows(anyone, "lambda:InvokeFunctionUrl", arn) && c.access.allows(anyone, "lambda:InvokeFunction", arn)
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// variables returns the environment variables of a function. It is given those of the template, and replaces AWS's
// addresses in them by addresses of this machine: the function's own ones, which tell its role.
func (c *Cloud) variables(name string, objects *store, given map[string]string) ([]string, error) {
	as := func(serve func(string, http.ResponseWriter, *http.Request)) (string, error) {
		return c.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(name, w, r) }))
	}
	storeURL, err := as(objects.serve)
	if err != nil {
		return nil, err
	}
	queuesURL, err := as(c.queues.serve)
	if err != nil {
		return nil, err
	}
	variables := []string{
		"AWS_REGION=" + region, "AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey, "AWS_ENDPOINT_URL_SQS=" + queuesURL,
	}
	local := strings.NewReplacer("https://s3."+region+"."+urlSuffix, storeURL, "rediss://", "redis://")
	for key, value := range given {
		switch key {
		case "BUCKETSEARCH_ALLOW_PRIVATE":
			value = "1" // the crawled site is on this machine
		case "AWS_USE_DUALSTACK_ENDPOINT":
			continue // SQS's client refuses it for an address of this machine
		}
		variables = append(variables, key+"="+local.Replace(value))
	}
	return variables, nil
}

// concurrency returns the greatest number of concurrent invocations of each function: that of its event source
// mapping, and for a function without one, queryConcurrency.
func (c *Cloud) concurrency(t template) (map[string]int, error) {
	mappings, err := resourcesOf[mapping](t, "AWS::Lambda::EventSourceMapping")
	concurrent := make(map[string]int)
	for name := range t.Resources {
		concurrent[name] = queryConcurrency
	}
	for _, m := range mappings {
		name, _, _ := strings.Cut(strings.TrimPrefix(m.FunctionName, functionARN("")), ":") // that of the alias's function
		concurrent[name] = m.ScalingConfig.MaximumConcurrency
	}
	return concurrent, err
}

// queryConcurrency is the greatest number of concurrent requests to a function's URL. On AWS it is 1,000.
const queryConcurrency = 10
