import { expect, it } from "vitest";
import { askDialect } from "../../lib/rules/policy/dialects.ts";
import { hpa } from "./multi-threshold/world.ts";
import { native } from "./native/world.ts";
import { specOf } from "./spec-of.ts";
import { wpa } from "./watermark/world.ts";

const target = {
  type: "External",
  external: { metric: { name: "load" }, target: { type: "AverageValue", averageValue: "1" } },
};
const marked = {
  type: "External",
  external: { metricName: "load", highWatermark: "10", lowWatermark: "5" },
};
const JOBS = {
  type: "Pods",
  pods: { metric: { name: "jobs" }, highWatermark: "10", lowWatermark: "5" },
};
const scaleRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const ordinary = { metrics: [target] };
const behavior = {};

it.each([
  // Every HPA has a stabilization and remembers its own zero; scales count for the policies of
  // behavior alone (hpa.md 2.4 step 4, 2.6, 3.9).
  ["an HPA", specOf(hpa(ordinary)), { recommendations: true, scaleEvents: false, ownZero: true }],
  [
    "an HPA with behavior",
    specOf(hpa({ ...ordinary, behavior })),
    { recommendations: true, scaleEvents: true, ownZero: true },
  ],
  // Marks with behavior are stabilized as an HPA is (proposals.md §5).
  [
    "the multi-threshold form",
    specOf(hpa({ metrics: [marked], behavior })),
    { recommendations: true, scaleEvents: true, ownZero: true },
  ],
  [
    "the multi-threshold form with marks alone",
    specOf(hpa({ metrics: [JOBS] })),
    { recommendations: false, scaleEvents: false, ownZero: true },
  ],
  [
    "the multi-threshold form with a target beside its marks",
    specOf(hpa({ metrics: [marked, target] })),
    { recommendations: true, scaleEvents: false, ownZero: true },
  ],
  // It holds for some minutes after a scale, and looks at no recommendation (proposals.md §1).
  [
    "the first design",
    specOf(hpa({ scaleRef, cpuUtilization: { targetPercentage: 50 } }, "extensions/v1beta1")),
    { recommendations: false, scaleEvents: false, ownZero: true },
  ],
  // Forbidden windows look at the last scale alone (watermark.md 2.9).
  ["the watermark rules", wpa(), { recommendations: false, scaleEvents: false, ownZero: false }],
  ["the native rules", native(), { recommendations: true, scaleEvents: true, ownZero: false }],
])(
  "from one sync to the next %s remembers what its windows look at, and nothing else",
  (_, spec, kept) => expect(askDialect(spec, (dialect, own) => dialect.keeps(own))).toEqual(kept),
);
