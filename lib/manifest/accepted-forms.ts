import type { Form } from "./form.ts";
import { admitHpa } from "./hpa/admit-hpa.ts";
import { readOriginal } from "./hpa/read-original.ts";
import { readV1 } from "./hpa/read-v1.ts";
import { readV2 } from "./hpa/read-v2.ts";
import { readV2Beta1 } from "./hpa/read-v2beta1.ts";
import { admitNative } from "./native/admit-native.ts";
import { type MarkedForm, orMultiThreshold } from "./watermark/admit-multi-threshold.ts";
import { admitWatermarkAs } from "./watermark/admit-watermark.ts";

const HPA = "HorizontalPodAutoscaler";
const WPA = "WatermarkPodAutoscaler";

const AS_V2: MarkedForm = { naming: "nested", admit: admitHpa(readV2) };
const AS_V2_BETA_1: MarkedForm = { naming: "flat", admit: admitHpa(readV2Beta1) };

/** All accepted kinds of manifest. A new form is one line here and one function. */
export const FORMS: readonly Form[] = [
  { apiVersion: "autoscaling/v2", kind: HPA, admit: orMultiThreshold(admitHpa(readV2), AS_V2) },
  { apiVersion: "autoscaling/v1", kind: HPA, admit: orMultiThreshold(admitHpa(readV1), AS_V2) },
  { apiVersion: "autoscaling/v2beta2", kind: HPA, admit: orMultiThreshold(admitHpa(readV2), AS_V2) },
  { apiVersion: "autoscaling/v2beta1", kind: HPA, admit: orMultiThreshold(admitHpa(readV2Beta1), AS_V2_BETA_1) },
  { apiVersion: "autoscaling/v2alpha1", kind: HPA, admit: orMultiThreshold(admitHpa(readV2Beta1), AS_V2_BETA_1) },
  { apiVersion: "extensions/v1beta1", kind: HPA, admit: orMultiThreshold(admitHpa(readOriginal), AS_V2) },
  { apiVersion: "datadoghq.com/v1alpha1", kind: WPA, admit: admitWatermarkAs({ counts: "ready", apiVersion: "datadoghq.com/v1alpha1", kind: WPA }) },
  { apiVersion: "tidemark.dev/v1", kind: "PodAutoscaler", admit: admitNative },
];

/** The forms that a Kubernetes API of version 1.37 serves; it answers the others with status 400 (hpa.md 0.2). */
export const SERVED_BY_KUBERNETES: readonly Form[] = FORMS.filter(({ apiVersion }) => ["autoscaling/v2", "autoscaling/v1"].includes(apiVersion));
