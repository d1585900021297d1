import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Sha256 } from "../../lib/stack/aws/sha256.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const TEXT = "GET\n/clusters/eu-1\nä";
const FORMS: readonly (readonly [string, string | ArrayBuffer | Uint8Array])[] = [
  ["text", TEXT],
  ["bytes", new TextEncoder().encode(TEXT)],
  ["a buffer", new TextEncoder().encode(TEXT).buffer],
];

describe("Sha256", () => {
  it.each(FORMS)("hashes %s", async (_, data) => {
    const hash = new Sha256();
    hash.update(data);
    expect(hex(await hash.digest())).toBe(createHash("sha256").update(TEXT).digest("hex"));
  });

  it.each(FORMS)("makes an HMAC with %s as the secret", async (_, secret) => {
    const hash = new Sha256(secret);
    hash.update("20261121");
    expect(hex(await hash.digest())).toBe(
      createHmac("sha256", TEXT).update("20261121").digest("hex"),
    );
  });

  it("begins again after a reset, with the same secret", async () => {
    const hash = new Sha256(TEXT);
    hash.update("dropped");
    hash.reset();
    hash.update("20261121");
    expect(hex(await hash.digest())).toBe(
      createHmac("sha256", TEXT).update("20261121").digest("hex"),
    );
  });
});
