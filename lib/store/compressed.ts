import { deflateRawSync, inflateRawSync } from "node:zlib";

/** An inflated body larger than this is damage, not data: a page holds 400 KB at most and our text packs less than a hundredfold. */
const INFLATED_BYTES_MAX = 40_000_000;

/** JSON text, deflated. One byte in front names the version of what is inside. */
export const compress = (version: number, value: unknown): Uint8Array => Buffer.concat([Buffer.of(version), deflateRawSync(JSON.stringify(value))]);

/** The version and the value; throws whatever zlib or JSON says of damaged bytes. */
export const decompress = (body: Uint8Array): { readonly version: number; readonly value: unknown } => ({
  version: body[0] ?? -1,
  value: JSON.parse(inflateRawSync(body.subarray(1), { maxOutputLength: INFLATED_BYTES_MAX }).toString()) as unknown,
});
