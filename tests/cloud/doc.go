// Package cloud runs the stack of infra/template.yaml on this machine, so that tests see what AWS would do with it:
// what the template allows, what it connects, and what it costs.
//
//	in the template                     here
//	AWS::S3::Bucket                     the embedded object store; its notifications send S3's events to queues
//	AWS::Events::Rule                   sends events of a bucket that was there already to queues
//	AWS::SQS::Queue                     queues in memory, which speak SQS's protocol, with the template's delays,
//	                                    visibility timeouts and numbers of receives
//	AWS::Serverless::Function           the Lambda binary, one process for each concurrent invocation
//	AWS::Lambda::Alias                  names its function; there is one version of the code
//	AWS::Lambda::EventSourceMapping     polls a queue, with the template's batches and concurrency
//	AWS::Scheduler::Schedule            the test decides when a clock ticks (see Cloud.Tick)
//	AWS::IAM::Role, Policies            every request to the object store and to the queues is checked, and who invokes what
//	AWS::ElastiCache::ServerlessCache   redis-server, as a Redis Cluster of one node
//	AWS::Lambda::Url                    an HTTP server (see Cloud.URL)
//	AWS::CloudFront::Distribution       a caching proxy before it, with the template's cache policy
//
// Each function reaches the object store and the queues at addresses of its own. So they know its role, as on AWS by
// its credentials.
//
// These things differ from AWS: connections are not encrypted, there is no private network, batching windows are a tenth as
// long, and fetch may request addresses that are not public, because the crawled site is on this machine.
//
// Other parts of the template that parameters add, such as a dashboard, do not run here. TestSchemas checks their properties,
// as those of all others, against the schemas by which CloudFormation checks them.
//
// # Costs
//
// Requests and invocations are counted, and the test TestBudget compares their price with testdata/budget.json. The time
// of functions is shown, but not compared, because it depends on the machine. BenchmarkCosts crawls more pages, politely,
// and measures what a million pages cost. Its figures are in infra/README.md:
//
//	go test ./tests/cloud -run '^$' -bench Costs -v
package cloud
