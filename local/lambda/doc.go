// Package lambda replaces AWS Lambda on one machine: it runs the real binary of a function
// in processes of its own and serves them Lambda's runtime API, so that a function can
// be killed as in Lambda.
//
// Every process handles one invocation at a time. It finds its own runtime API
// under a path in AWS_LAMBDA_RUNTIME_API=127.0.0.1:port/p1:
//
//	GET  /p1/2018-06-01/runtime/invocation/next            waits for an event
//	POST /p1/2018-06-01/runtime/invocation/{id}/response   its result
//	POST /p1/2018-06-01/runtime/invocation/{id}/error      its failure
//	POST /p1/2018-06-01/runtime/init/error                 it cannot start
//
// Source: "Using the Lambda runtime API for custom runtimes", AWS Lambda
// Developer Guide.
package lambda
