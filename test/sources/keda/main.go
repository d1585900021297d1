// Asks a Prometheus and a queue as KEDA's own scalers do, once for each line on standard input, and prints what they give the HPA.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/kedacore/keda/v2/pkg/scalers"
	"github.com/kedacore/keda/v2/pkg/scalers/scalersconfig"
	v2 "k8s.io/api/autoscaling/v2"
)

type result struct {
	Milli  int64  `json:"milli"`
	Active bool   `json:"active"`
	Error  string `json:"error,omitempty"`
}

func ask(scaler scalers.Scaler) result {
	values, active, err := scaler.GetMetricsAndActivity(context.Background(), "s0")
	if err != nil || len(values) == 0 {
		return result{Error: fmt.Sprint(err)}
	}
	return result{Milli: values[0].Value.MilliValue(), Active: active}
}

func config(kind string, metadata, auth map[string]string) *scalersconfig.ScalerConfig {
	return &scalersconfig.ScalerConfig{
		ScalableObjectName: "web", ScalableObjectNamespace: "shop", ScalableObjectType: "ScaledObject",
		GlobalHTTPTimeout: 3 * time.Second, TriggerType: kind, TriggerMetadata: metadata, AuthParams: auth,
		ResolvedEnv: map[string]string{}, MetricType: v2.AverageValueMetricType, TriggerUniqueKey: kind,
	}
}

func main() {
	url := os.Args[1]
	prometheus, err := scalers.NewPrometheusScaler(config("prometheus", map[string]string{"serverAddress": url, "query": "load", "threshold": "20"}, nil))
	if err != nil {
		panic(err)
	}
	queue, err := scalers.NewAwsSqsQueueScaler(context.Background(), config("aws-sqs-queue",
		map[string]string{"queueURL": url + "/000000000000/orders", "queueLength": "20", "awsRegion": "eu-central-1", "awsEndpoint": url},
		map[string]string{"awsAccessKeyID": "a", "awsSecretAccessKey": "b"}))
	if err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		text, _ := json.Marshal(map[string]result{"prometheus": ask(prometheus), "sqs": ask(queue)})
		fmt.Println(string(text))
	}
}
