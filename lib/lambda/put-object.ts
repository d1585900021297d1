import { createHash } from "node:crypto";
import { TidemarkError } from "../rules/model/errors.ts";
import { foreignText } from "../rules/model/foreign-text.ts";
import { exchange } from "../stack/cluster/transport/exchange.ts";
import { type Signer, signed } from "./signed-request.ts";

/** The right that this call needs. A test compares the roles of the stack with it. */
const PUT_OBJECT_RIGHT = "s3:PutObject";

const PUT = { timeoutMs: 60_000, maxBytes: 64 * 1024 };

/**
 * Puts objects into a bucket. With a lock of the bucket, S3 takes only what names its checksum.
 * Throws `audit.bucket` where it does not take one.
 */
export const putsObjects =
  (signer: Signer, bucket: string): ((key: string, body: string) => Promise<void>) =>
  async (key, body) => {
    const request = {
      service: "s3",
      method: "PUT",
      path: `/${bucket}/${key}`,
      contentType: "application/json",
      headers: {
        "x-amz-sdk-checksum-algorithm": "SHA256",
        "x-amz-checksum-sha256": createHash("sha256").update(body).digest("base64"),
      },
      body,
    } as const;
    const answer = await exchange({ ...(await signed(signer, request)), ...PUT });
    if (answer.kind !== "broken" && answer.status === 200) return;
    const why =
      answer.kind === "broken"
        ? answer.error.message
        : `S3 answered ${answer.status}: ${answer.bytes.toString("utf8")}`;
    throw new TidemarkError(
      "audit.bucket",
      `Cannot put "${key}" into the bucket "${bucket}": ${foreignText(why)} (${PUT_OBJECT_RIGHT} is needed)`,
      { bucket, key },
    );
  };
