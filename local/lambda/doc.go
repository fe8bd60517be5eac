// Package lambda replaces AWS Lambda on one machine: it runs the Lambda binary of a function
// in processes of its own, and serves Lambda's runtime API to them. So a function can be
// killed at any time, as in Lambda.
//
// Every process handles one invocation at a time. It finds the runtime API at the address in its
// environment variable AWS_LAMBDA_RUNTIME_API. The path in this address names the process. With
// AWS_LAMBDA_RUNTIME_API=127.0.0.1:port/p1, for example, it sends these requests:
//
//	GET  /p1/2018-06-01/runtime/invocation/next            waits for the next event
//	POST /p1/2018-06-01/runtime/invocation/{id}/response   sends the response to the event
//	POST /p1/2018-06-01/runtime/invocation/{id}/error      reports that the function failed
//	POST /p1/2018-06-01/runtime/init/error                 reports that the process cannot start
//
// Source: "Using the Lambda runtime API for custom runtimes", AWS Lambda
// Developer Guide.
package lambda
