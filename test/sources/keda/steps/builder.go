package scaling

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"

	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	"github.com/kedacore/keda/v2/pkg/scalers"
	"github.com/kedacore/keda/v2/pkg/scalers/scalersconfig"
	"github.com/kedacore/keda/v2/pkg/scaling/cache"
)

func (h *scaleHandler) buildScalers(ctx context.Context, of *kedav1alpha1.WithTriggers, _ *corev1.PodTemplateSpec, _ string, asMetricSource bool) ([]cache.ScalerBuilder, error) {
	var built []cache.ScalerBuilder
	for index, trigger := range of.Spec.Triggers {
		factory := func(context.Context) (scalers.Scaler, *scalersconfig.ScalerConfig, error) {
			config := &scalersconfig.ScalerConfig{
				ScalableObjectName: of.Name, ScalableObjectNamespace: of.Namespace, ScalableObjectType: of.Kind,
				TriggerName: trigger.Name, TriggerMetadata: trigger.Metadata, TriggerType: trigger.Type, TriggerUseCachedMetrics: trigger.UseCachedMetrics,
				ResolvedEnv: map[string]string{}, AuthParams: map[string]string{}, GlobalHTTPTimeout: h.globalHTTPTimeout,
				TriggerIndex: index, MetricType: trigger.MetricType, AsMetricSource: asMetricSource, ScaledObject: of, Recorder: h.recorder,
				TriggerUniqueKey: fmt.Sprintf("%s-%d", of.Name, index),
			}
			make := scalers.NewGivenScaler
			if trigger.Type == "cron" {
				make = scalers.NewCronScaler
			}
			scaler, err := make(config)
			return scaler, config, err
		}
		scaler, config, err := factory(ctx)
		if err != nil {
			return nil, err
		}
		built = append(built, cache.ScalerBuilder{Scaler: scaler, ScalerConfig: *config, Factory: factory})
	}
	return built, nil
}

// Poll is one round of the scale loop.
func Poll(ctx context.Context, handler ScaleHandler, object *kedav1alpha1.ScaledObject) {
	handler.(*scaleHandler).checkScalers(ctx, object, &sync.Mutex{})
}
