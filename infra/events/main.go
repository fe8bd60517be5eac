// Command events lets a bucket send its events to EventBridge, from which a stack with
// ExistingBucket=BUCKET gets them:
//
//	go run ./infra/events BUCKET
//
// The bucket's other notifications stay as they are. infra/deploy calls this; the owner of the bucket
// may do it instead, if whoever deploys must not change it. Credentials and region are those of the AWS
// CLI.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("events: ")
	if len(os.Args) != 2 {
		log.Fatal("the name of the bucket is missing: go run ./infra/events BUCKET")
	}
	ctx := context.Background()
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatalf("cannot read credentials and region: %v", err)
	}
	if err := send(ctx, s3.NewFromConfig(settings), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// send lets a bucket send its events to EventBridge, unless it does already.
func send(ctx context.Context, store *s3.Client, bucket string) error {
	now, err := store.GetBucketNotificationConfiguration(ctx, &s3.GetBucketNotificationConfigurationInput{Bucket: &bucket})
	if err != nil {
		return fmt.Errorf("cannot read the notifications of bucket %s: %w", bucket, err)
	}
	if now.EventBridgeConfiguration != nil {
		return nil
	}
	// S3 takes the configuration as a whole. It would refuse the one that it has if the queue of a
	// notification is gone, such as that of a deleted stack.
	_, err = store.PutBucketNotificationConfiguration(ctx, &s3.PutBucketNotificationConfigurationInput{
		Bucket:                    &bucket,
		SkipDestinationValidation: aws.Bool(true),
		NotificationConfiguration: &types.NotificationConfiguration{
			EventBridgeConfiguration:     &types.EventBridgeConfiguration{},
			LambdaFunctionConfigurations: now.LambdaFunctionConfigurations,
			QueueConfigurations:          now.QueueConfigurations,
			TopicConfigurations:          now.TopicConfigurations,
		},
	})
	if err != nil {
		return fmt.Errorf("cannot let bucket %s send its events to EventBridge: %w", bucket, err)
	}
	return nil
}
