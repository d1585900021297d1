import { createHash } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compress, decompress, DICTIONARY } from "../../lib/stack/store/table/compressed.ts";

const plain = (version: number, value: unknown): Uint8Array =>
  Buffer.concat([Buffer.of(version), deflateRawSync(Buffer.from(JSON.stringify(value)))]);

/** One autoscaler at rest, as a page keeps it. */
const ENTRY = [
  "11ded492-f4c5-81a6-a224-edae78cfa192",
  1,
  [[5, 1_795_262_402_000, 0, 15_000, 300_000]],
  [],
  [],
  "app=web",
  [
    [
      "AbleToScale",
      "True",
      "ReadyForNewScale",
      "recommended size matches current size",
      1_795_262_402_000,
    ],
    [
      "ScalingLimited",
      "False",
      "DesiredWithinRange",
      "the desired count is within the acceptable range",
      1_795_262_402_000,
    ],
  ],
];

describe("a compressed body", () => {
  it("gives back its version and any value", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 127 }), fc.jsonValue(), (version, value) => {
        expect(decompress(compress(version, value))).toEqual({
          version,
          value: JSON.parse(JSON.stringify(value)),
        });
      }),
    );
  });

  it("is of no known version where it was written without the dictionary, as no release did", () => {
    expect(decompress(plain(2, [ENTRY])).version).toBeLessThan(0);
  });

  it("of one autoscaler is half as large with the dictionary as without", () => {
    expect(compress(2, [ENTRY]).length).toBeLessThan(plain(2, [ENTRY]).length / 2);
  });

  it("needs the very dictionary that it was written with: what is stored could not be read with another", () => {
    expect(createHash("sha256").update(DICTIONARY).digest("hex")).toBe(
      "a1f94b2b9f553b3db43131a24aadc640f5a77ba63f1a3e4c7af362ce88effc2b",
    );
  });

  it.each([
    ["nothing", new Uint8Array()],
    ["bytes that were damaged", compress(1, [ENTRY]).fill(7, 20)],
    ["text that is no JSON", Buffer.concat([Buffer.of(1), deflateRawSync(Buffer.from("{"))])],
  ])("of %s throws", (_, body) => {
    expect(() => decompress(body)).toThrow();
  });
});
