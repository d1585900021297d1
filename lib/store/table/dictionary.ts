/**
 * Texts that are in many bodies: field names and sentences of journal, intents and pages. The rarest come first, because DEFLATE needs fewer bits for a near reference. The dictionary makes
 * small bodies a third smaller. It is part of the format: a body can only be read with the same dictionary. So this text must never change, even if the sentences of the code change.
 * A better dictionary would be a second one with its own mark (compressed.ts).
 */
export const DICTIONARY = Buffer.from(
  [
    // Native rules.
    '[["AbleToScale","True","SucceededGetScale","the scale of the target was read",17',
    '],["Idle","False","InUse","a metric is above its activation threshold",17',
    '],["BreachAbove","True","Breached","the metrics ask for more pods",17',
    '],["BreachAbove","False","Within","the metrics do not ask for more pods",17',
    '],["BreachBelow","False","Within","the metrics do not ask for fewer pods",17',
    '],["ScalingLimited","False","DesiredWithinRange","the wanted count is within minReplicas and maxReplicas",17',
    '{"step":"combine","before":{"step":"sustain","before":{"step":"round","before":{"step":"clamp","before":{"step":"cool down","before":{"step":"flap","before":',
    '"because":{"reason":"WithinTarget","message":"no metric asks for another count"},',
    // Watermark rules.
    '["AbleToScale","False","BackoffBoth","the time since the previous scale is still within both the downscale and upscale forbidden windows",17',
    '],["AbleToScale","True","SuccessfulScale","the WPA controller was able to update the target scale to ',
    '"],["AbleToScale","True","ReadyForScale","the last scaling time was sufficiently old as to warrant a new scale",17',
    '],["ConvergeToWatermark","False","Feature not enabled","Value between Watermarks",17',
    '],["BelowLowWatermark","False","Value above Low Watermark","Allow downscaling if the value stays under the Watermark",17',
    '],["AboveHighWatermark","False","Value above High Watermark","Allow upscaling if the value stays over the Watermark",17',
    '],["DryRun","False","DryRun mode disabled","Scaling changes can be applied",17',
    '],["ScalingActive","True","ValidMetricFound","the WPA was able to successfully calculate a replica count from ',
    '{map[app:","currentMetrics":[{"type":"External","external":{"metricName":"","metricSelector":{"matchLabels":{"app":"","currentValue":"',
    '"gauges":[{"name":"dry_run","labels":{},"value":0},{"name":"min_replicas","labels":{},"value":1},{"name":"max_replicas","labels":{},"value":10',
    '},{"name":"high_watermark","labels":{"metric_name":"","value":10000},{"name":"high_watermak","labels":{"metric_name":"',
    '},{"name":"low_watermark","labels":{"metric_name":"","value":10000},{"name":"low_watermak","labels":{"metric_name":"","value":',
    '},{"name":"restricted_scaling","labels":{"reason":"within_bounds"},"value":0},{"name":"replicas_scaling_proposal","labels":{"metric_name":"',
    '},{"name":"restricted_scaling","labels":{"reason":"downscale_capping"},"value":0},{"name":"conditions","labels":{"condition":"scaling_limited"},"value":0',
    '},{"name":"transition_countdown","labels":{"transition":"downscale"},"value":0},{"name":"transition_countdown","labels":{"transition":"upscale"},"value":0',
    '},{"name":"conditions","labels":{"condition":"able_to_scale"},"value":1},{"name":"replicas_scaling_effective","labels":{},"value":1',
    '},{"name":"scaling_active","labels":{},"value":1}',
    '{"step":"normalise","before":{"step":"gates","before":{"step":"bounds","before":"because":{"reason":"NoChange","message":"value within the watermarks"},',
    // Intents and events.
    ',"targetUid":"","target":{"apiVersion":"apps/v1","kind":"Deployment","name":"","resourceVersion":"","targetGeneration":,"decidedMs":17,"deadlineMs":17,"specGeneration":1,"trigger":"',
    '"events":[{"type":"Normal","reason":"SuccessfulRescale","message":"New size: ; reason: All metrics below target"}],"outcome":"applied","recommendation":',
    // The HPA's.
    '"limit":{"reason":"ScaleUpLimit","value":,"message":"the desired replica count is increasing faster than the maximum scale rate"',
    '"limit":{"reason":"ScaleDownLimit","value":,"message":"the desired replica count is decreasing faster than the maximum scale rate"',
    '"limit":{"reason":"TooManyReplicas","value":,"message":"the desired replica count is more than the maximum replica count"',
    '"limit":{"reason":"ScaleDownStabilized","value":,"message":"recent recommendations were higher than current one, applying the highest recent recommendation","untilMs":17',
    '["AbleToScale","True","SucceededRescale","the HPA controller was able to update the target scale to ',
    '"],["AbleToScale","True","ReadyForNewScale","recommended size matches current size",17',
    '],["ScalingActive","True","ValidMetricFound","the HPA was able to successfully calculate a replica count from external metric (nil)",17',
    '],["ScalingActive","True","ValidMetricFound","the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)",17',
    '],["ScalingLimited","False","DesiredWithinRange","the desired count is within the acceptable range",17',
    '],["ScaledToZero","False","NotScaledToZero","the HPA controller did not scale the workload to zero",17',
    ']],[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":60,"averageValue":"',
    // One evaluation of the journal.
    '{"atMs":17,"epoch":,"page":0,"partial":true,"evaluations":[{"uid":"","namespace":"","name":"","kind":"hold","failed":false,"from":,"to":',
    ',"because":{"reason":"MetricAboveTarget","message":" above target"},"because":{"reason":"DesiredWithinRange","message":"recommended size matches current size"},',
    '"metrics":[{"name":"cpu resource utilization (percentage of request)","type":"Resource","kind":"measured","value":"%","target":"%","ratio":0.,"proposal":',
    '}],"steps":[{"step":"propose","before":,"after":},{"step":"stabilize","before":,"after":},{"step":"limit","before":,"after":}],"events":[],',
    '"status":{"conditions":[{"type":"AbleToScale","status":"True","reason":"ReadyForNewScale","message":"recommended size matches current size","transitionMs":17',
    '},{"type":"ScalingActive","status":"True","reason":"ValidMetricFound","message":"the HPA was able to successfully calculate a replica count from ","transitionMs":17',
    '},{"type":"ScalingLimited","status":"False","reason":"DesiredWithinRange","message":"the desired count is within the acceptable range","transitionMs":17',
    '}],"currentReplicas":,"desiredReplicas":,"lastScaleMs":17,"currentMetrics":[{"type":"External","external":{"metric":{"name":"","current":{"averageValue":"',
  ].join(""),
);
