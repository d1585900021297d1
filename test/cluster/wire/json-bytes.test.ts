import fc from "fast-check";
import { Reader } from "protobufjs/minimal.js";
import { describe, expect, it } from "vitest";
import { readText } from "../../../lib/stack/cluster/wire/json-bytes.ts";
import { runs } from "../../runs.ts";

const LENGTH_MAX = 60;
const field = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.of(bytes.length), bytes]);

/**
 * Bytes of few kinds, so that many texts are met again or have the same slot; among them those of
 * broken characters.
 */
const someBytes = fc
  .array(fc.constantFrom(0x61, 0x62, 0x2d, 0x00, 0x7f, 0x80, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xff), {
    maxLength: LENGTH_MAX,
  })
  .map((bytes) => Uint8Array.from(bytes));

describe("readText()", () => {
  it("always gives the text that decoding the bytes gives, whatever was read before, and goes on behind it", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(someBytes, fc.uint8Array({ maxLength: LENGTH_MAX })), {
          minLength: 1,
          maxLength: 20,
        }),
        (texts) => {
          const reader = Reader.create(Buffer.concat(texts.map(field)));
          for (const bytes of texts) expect(readText(reader)).toBe(Buffer.from(bytes).toString());
          expect(reader.pos).toBe(reader.len);
        },
      ),
      runs(200),
    );
  });

  it("refuses a text that ends behind the answer", () => {
    expect(() => readText(Reader.create(Buffer.of(5, 0x61, 0x62)))).toThrow(RangeError);
  });
});
