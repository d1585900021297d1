import { describe, expect, it } from "vitest";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import { askDialect } from "../../lib/rules/policy/dialects.ts";
import { scaleRead } from "../observation.ts";
import { hpa } from "./multi-threshold/world.ts";
import { native } from "./native/world.ts";
import { specOf } from "./spec-of.ts";
import { wpa } from "./watermark/world.ts";

const CPU = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
};
const MARKED = {
  type: "External",
  external: { metricName: "load", highWatermark: "10", lowWatermark: "5" },
};
const of = (spec: object): AutoscalerSpec => specOf(hpa({ ...spec }));
const original = (more: object = {}): AutoscalerSpec =>
  specOf(
    hpa(
      {
        scaleRef: { kind: "Deployment", name: "web" },
        cpuUtilization: { targetPercentage: 60 },
        ...more,
      },
      "extensions/v1beta1",
    ),
  );
const constraints = { scaleUp: { rate: { pods: 1, periodSeconds: 60 } } };

describe("each set of rules says by which name it is known, and what it keeps from one sync to the next", () => {
  it.each([
    [
      "native rules: recommendations, and the scales of policies and flap budget",
      native(),
      "native",
      true,
      true,
      false,
    ],
    [
      "an HPA without behavior: recommendations, and a zero of its own",
      of({ metrics: [CPU] }),
      "hpa",
      true,
      false,
      true,
    ],
    [
      "an HPA with behavior: the scales of its policies too",
      of({ metrics: [CPU], behavior: {} }),
      "hpa",
      true,
      true,
      true,
    ],
    ["marks beside a target: as the HPA", of({ metrics: [CPU, MARKED] }), "hpa", true, false, true],
    [
      "the first design: a zero of its own, because it looks back on the last scale alone",
      original(),
      "the first design",
      false,
      false,
      true,
    ],
    [
      "the first design with rates: those of the HPA, which then decides",
      original({ constraints }),
      "hpa",
      true,
      true,
      true,
    ],
    ["watermarks: nothing but the time of the last scale", wpa(), "watermark", false, false, false],
  ])("%s", (_, spec, name, recommendations, scaleEvents, ownZero) => {
    const said = askDialect(spec, (dialect, own) => ({
      name: dialect.name,
      ...dialect.keeps(own),
    }));
    expect(said).toEqual({ name, recommendations, scaleEvents, ownZero });
  });
});

describe("each set of rules says what else is asked, and what follows a write that met a conflict", () => {
  const asked = (spec: AutoscalerSpec) =>
    askDialect(spec, ({ asksMonitor }, own) => asksMonitor(own));
  it("only a watermark whose life cycle is controlled asks for a monitor", () => {
    const controlled = wpa();
    const specs = [
      native(),
      of({ metrics: [CPU] }),
      original(),
      wpa(),
      { ...controlled, lifecycleControl: { kind: "on" } as const },
    ];
    expect(specs.map(asked)).toEqual([false, false, false, false, true]);
  });

  const whyNot = (spec: AutoscalerSpec, count: number) =>
    askDialect(spec, ({ whyNotAgain }) => whyNotAgain(5, scaleRead(count)));
  it("native rules write again on the count that they decided on, and on no other", () =>
    expect([5, 6].map((count) => whyNot(native(), count))).toEqual([
      undefined,
      "the count is 6 by now, it was decided on 5",
    ]));
  it("an HPA writes the same count again, whatever the count is by now", () =>
    expect([5, 6].map((count) => whyNot(of({ metrics: [CPU] }), count))).toEqual([
      undefined,
      undefined,
    ]));
  it("watermarks decide anew in the next sync", () =>
    expect([5, 6].map((count) => whyNot(wpa(), count))).toEqual(
      Array(2).fill("the count is decided anew by the next sync"),
    ));
});
