/** A manifest of autoscaling/v2 on CPU, as people write it. */
export const hpa = (
  name: string,
  change: { readonly namespace?: string; readonly max?: number; readonly more?: string } = {},
): string => `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: ${name}${change.namespace === undefined ? "" : `\n  namespace: ${change.namespace}`}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: ${name}
  minReplicas: 2
  maxReplicas: ${change.max ?? 10}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: 60
${change.more ?? ""}`;

export const BEHAVIOR = `  behavior:
    scaleUp:
      stabilizationWindowSeconds: 0
      policies:
        - type: Pods
          value: 4
          periodSeconds: 60
    scaleDown:
      stabilizationWindowSeconds: 300
`;

export const documents = (...all: readonly string[]): string => all.join("---\n");
