package meter

import "github.com/bucketsearch/bucketsearch/layout/blob/countblob"

// Prices are in USD. Bytes to and from the store are free within a region.
type Prices struct {
	PutPerMillion    float64 `json:"put_per_million"`
	GetPerMillion    float64 `json:"get_per_million"`
	ListPerMillion   float64 `json:"list_per_million"`
	HeadPerMillion   float64 `json:"head_per_million"`
	DeletePerMillion float64 `json:"delete_per_million"`
	LambdaPerMillion float64 `json:"lambda_per_million"` // invocations
	LambdaGBSecond   float64 `json:"lambda_gb_second"`
}

// USEast1 returns the prices of AWS's region us-east-1, with Lambda on arm64.
func USEast1() Prices {
	return Prices{
		PutPerMillion: 5, GetPerMillion: 0.4, ListPerMillion: 5, HeadPerMillion: 0.4,
		LambdaPerMillion: 0.2, LambdaGBSecond: 13.33e-6,
	}
}

// Of returns what requests and invocations of Lambda cost.
func (p Prices) Of(requests countblob.Counts, invocations int64, gbSeconds float64) float64 {
	millions := float64(requests.Put)*p.PutPerMillion +
		float64(requests.Get)*p.GetPerMillion +
		float64(requests.List)*p.ListPerMillion +
		float64(requests.Head)*p.HeadPerMillion +
		float64(requests.Delete)*p.DeletePerMillion +
		float64(invocations)*p.LambdaPerMillion
	return millions/1e6 + gbSeconds*p.LambdaGBSecond
}
