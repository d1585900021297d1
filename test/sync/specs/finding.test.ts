import { describe, expect, it } from "vitest";
import {
  type ComparedWith,
  findingOf,
  type ListedObject,
} from "../../../lib/stack/sync/specs/finding.ts";
import { SPEC_KINDS } from "../../../lib/rules/model/spec.ts";
import { NOON } from "../../noon.ts";

type KnownSpec = NonNullable<Parameters<typeof findingOf>[1]>;

const MINUTE_MS = 60_000;
const [OF] = SPEC_KINDS;
const NEWEST = 7;

const recordOf = (generation: number) => ({
  manifest: `{"generation":${generation}}`,
  origin: { kind: "PodAutoscaler", uid: "object-web", generation },
});
const known = (more: Partial<KnownSpec> = {}): KnownSpec =>
  ({ record: recordOf(NEWEST), ...more }) as KnownSpec;
const listed = (generation: number): ListedObject =>
  ({
    of: OF,
    object: { uid: "object-web", generation, manifest: recordOf(generation).manifest },
  }) as unknown as ListedObject;
const found = (generation: number, spec: KnownSpec, nowMs = NOON) =>
  findingOf(listed(generation), spec, { nowMs } as ComparedWith);

describe("an object that shows an older generation than was stored", () => {
  it("holds its autoscaler, because the answer may be of before an edit that made the limits smaller", () => {
    expect(found(NEWEST - 1, known())).toMatchObject({
      kind: "held",
      because: { reason: "SpecOutdated" },
      olderSinceMs: NOON,
    });
    expect(found(NEWEST, known())).toMatchObject({ kind: "same" });
  });

  it("holds it for five minutes; then the object is a restored one, and its manifest counts", () => {
    const since = (ms: number) => known({ olderSinceMs: NOON - ms });
    expect(found(NEWEST - 1, since(5 * MINUTE_MS - 1))).toMatchObject({ kind: "held" });
    expect(found(NEWEST - 1, since(5 * MINUTE_MS))).toMatchObject({ kind: "store" });
  });

  it("is compared with the newest generation that a sync has seen, stored or not", () => {
    expect(found(NEWEST, known({ shownGeneration: NEWEST + 1 }))).toMatchObject({ kind: "held" });
  });
});
