import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { autoscalerName, namespace } from "../../lib/rules/model/ids.ts";
import {
  decodeIntent,
  encodeIntent,
  encodeOpenIntent,
  fitsIntent,
  INTENT_BYTES_MAX,
} from "../../lib/stack/store/head/intent-codec.ts";
import { compress } from "../../lib/stack/store/table/compressed.ts";
import { intent } from "./records.ts";
import { runs } from "../runs.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
const label = (length: number) =>
  fc
    .array(fc.constantFrom(...LETTERS), { minLength: length, maxLength: length })
    .map((letters) => letters.join(""));
/** Four labels, as long as the API allows. */
const subdomain = fc
  .tuple(label(63), label(63), label(63), label(61))
  .map((labels) => labels.join("."));

/** An intent with every name as long as the API allows, and an explanation longer than any. */
const longest = fc
  .record({
    inside: label(63),
    name: subdomain,
    target: subdomain,
    group: subdomain,
    kind: label(63),
    message: fc.string({ minLength: 2_000 }),
  })
  .map(({ inside, name, target, group, kind, message }) =>
    intent({
      namespace: namespace(inside),
      name: autoscalerName(name),
      target: { apiVersion: `${group}/v1`, kind, name: target },
      because: { reason: "MetricAboveTarget", message },
    }),
  );

describe("an intent", () => {
  it("always fits with names and message of the greatest legal length, and keeps what settling needs", () => {
    fc.assert(
      fc.property(longest, (one) => {
        expect(fitsIntent(one)).toBe(true);
        const body = encodeIntent(one);
        expect(body.length).toBeLessThanOrEqual(INTENT_BYTES_MAX);
        const { because: _because, metrics: _metrics, steps: _steps, ...needed } = one;
        expect(decodeIntent(body, one.id)).toMatchObject({ kind: "read", intent: needed });
      }),
      runs(50),
    );
  });

  it("that does not fit is told before it is stored, and is still kept by a release that finds it open", () => {
    const [version] = fc.sample(label(3_000), { numRuns: 1, seed: 1 });
    const large = intent({
      target: { apiVersion: `apps/${version}`, kind: "Deployment", name: "web" },
    });
    expect(fitsIntent(large)).toBe(false);
    expect(() => encodeIntent(large)).toThrow(
      'Cannot store the intent "uid-web:5": more than 900 bytes',
    );
    expect(decodeIntent(encodeOpenIntent(large))).toMatchObject({
      kind: "read",
      intent: { target: large.target },
    });
  });

  it.each([
    [
      "without its target",
      { target: undefined },
      "target: Invalid input: expected object, received undefined",
    ],
    [
      "without its deadline",
      { deadlineMs: undefined },
      "deadlineMs: Invalid input: expected number, received undefined",
    ],
    ["with text for a count", { to: "5" }, "to: Invalid input: expected number, received string"],
  ])("%s cannot be read, and says why", (_which, parts, message) => {
    expect(decodeIntent(compress(1, { ...intent(), ...parts }))).toMatchObject({
      kind: "unreadable",
      message,
    });
  });

  it("under the id of another cannot be read", () => {
    expect(decodeIntent(encodeIntent(intent()), "uid-api:5")).toMatchObject({
      kind: "unreadable",
      message: 'it is the intent "uid-web:5"',
    });
  });

  it("of a later version still tells its workload, where it is where it was", () => {
    expect(decodeIntent(compress(9, intent()))).toMatchObject({
      kind: "unreadable",
      workload: { namespace: "shop", target: { name: "web" } },
    });
    expect(decodeIntent(compress(9, { what: "else" }))).not.toHaveProperty("workload");
  });
});
