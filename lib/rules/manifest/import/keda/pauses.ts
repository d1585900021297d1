import { asObject, type Json } from "../../../model/json.ts";
import type { Detail } from "../finding.ts";
import { annotationOf, isOn, ofAnnotation } from "../scaled-object.ts";
import { mayIdle } from "./metrics.ts";
import { applying, withoutEffect } from "../schedules/timed.ts";

export interface Pauses {
  /** Fields of the spec that the annotations stand for. */
  readonly fields: Json;
  readonly disabled: ReadonlySet<"scaleUp" | "scaleDown">;
  readonly neverIdle: boolean;
  readonly details: readonly Detail[];
}

export const pausesOf = (raw: Json, spec: Json): Pauses => {
  const replicas = annotationOf(raw, "paused-replicas");
  const [paused, scaleIn, scaleOut] = ["paused", "paused-scale-in", "paused-scale-out"].map(
    (name) => isOn(raw, name),
  );
  const active = isOn(raw, "force-activation") && mayIdle(spec);
  const count = Number(replicas);
  const annotations = asObject(asObject(raw["metadata"])["annotations"]);
  return {
    fields: {
      ...(paused && { dryRun: true }),
      ...(replicas !== undefined && count >= 1 && { minReplicas: count, maxReplicas: count }),
    },
    disabled: new Set([
      ...(scaleIn ? (["scaleDown"] as const) : []),
      ...(scaleOut ? (["scaleUp"] as const) : []),
    ]),
    neverIdle: scaleIn === true || active || replicas !== undefined,
    details: applying([
      [
        paused === true,
        ofAnnotation(
          "paused",
          "it is dryRun: true of the manifest: it decides and reports, and writes nothing; end it there",
        ),
      ],
      [replicas !== undefined, countDetail(count)],
      [
        scaleIn === true,
        ofAnnotation(
          "paused-scale-in",
          "it is selectPolicy: Disabled of spec.scaleDown, without idle: end it there",
        ),
      ],
      [
        scaleOut === true,
        ofAnnotation(
          "paused-scale-out",
          "it is selectPolicy: Disabled of spec.scaleUp: end it there",
        ),
      ],
      ...OF_HPA.map((name): readonly [boolean, Detail] => [
        annotations[name] !== undefined,
        withoutEffect(`metadata.annotations["${name}"]`, "it is about the HPA that KEDA makes"),
      ]),
      [
        active,
        ofAnnotation(
          "force-activation",
          "the manifest has no idle: add it where the workload may be idle again",
        ),
      ],
    ]),
  };
};

/** Annotations about which HPA is KEDA's, and how it looks. */
const OF_HPA = [
  "scaledobject.keda.sh/transfer-hpa-ownership",
  "scaledobject.keda.sh/hpa-excluded-labels",
  "validations.keda.sh/hpa-ownership",
];

const countDetail = (count: number): Detail =>
  Number.isInteger(count) && count >= 1
    ? ofAnnotation(
        "paused-replicas",
        `minReplicas and maxReplicas are ${count}: write the bounds of the ScaledObject where the pause ends`,
      )
    : {
        ...ofAnnotation("paused-replicas", "a count of 0 or none is no bound; end the pause first"),
        severity: "lost",
      };
