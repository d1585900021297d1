package scalers

import (
	"context"
	"fmt"
	"strconv"

	v2 "k8s.io/api/autoscaling/v2"
	"k8s.io/metrics/pkg/apis/external_metrics"

	"github.com/kedacore/keda/v2/pkg/scalers/scalersconfig"
)

// Given has the value of each trigger by its index; nil where its server does not answer.
var Given []*float64

// given answers as the scaler of Prometheus does: one value, active above a threshold.
type given struct {
	config             *scalersconfig.ScalerConfig
	metricType         v2.MetricTargetType
	target, activation float64
}

// NewGivenScaler reads the thresholds of a trigger prometheus.
func NewGivenScaler(config *scalersconfig.ScalerConfig) (Scaler, error) {
	metricType, err := GetMetricTargetType(config)
	if err != nil {
		return nil, err
	}
	number := func(name string) float64 {
		value, _ := strconv.ParseFloat(config.TriggerMetadata[name], 64)
		return value
	}
	return &given{config, metricType, number("threshold"), number("activationThreshold")}, nil
}

func (s *given) Close(context.Context) error { return nil }

func (s *given) GetMetricSpecForScaling(context.Context) []v2.MetricSpec {
	name := GenerateMetricNameWithIndex(s.config.TriggerIndex, "prometheus")
	external := &v2.ExternalMetricSource{Metric: v2.MetricIdentifier{Name: name}, Target: GetMetricTargetMili(s.metricType, s.target)}
	return []v2.MetricSpec{{External: external, Type: "External"}}
}

func (s *given) GetMetricsAndActivity(_ context.Context, name string) ([]external_metrics.ExternalMetricValue, bool, error) {
	value := Given[s.config.TriggerIndex]
	if value == nil {
		return []external_metrics.ExternalMetricValue{}, false, fmt.Errorf("no answer")
	}
	return []external_metrics.ExternalMetricValue{GenerateMetricInMili(name, *value)}, *value > s.activation, nil
}
