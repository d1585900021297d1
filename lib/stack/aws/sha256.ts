import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";

/** The keys of a caller of AWS, with which its requests are signed. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

type Data = string | ArrayBuffer | ArrayBufferView;

/** SHA-256 of Node for the SigV4 signer: a hash, or an HMAC where a secret is given. */
export class Sha256 {
  private readonly secret: Data | undefined;
  private hash: Hash | Hmac;

  constructor(secret?: Data) {
    this.secret = secret;
    this.hash = started(secret);
  }

  update(data: Data): void {
    this.hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.hash.digest();
  }

  reset(): void {
    this.hash = started(this.secret);
  }
}

const started = (secret: Data | undefined): Hash | Hmac =>
  secret === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(secret));

const bytesOf = (data: Data): string | Uint8Array => {
  if (typeof data === "string") return data;
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
};
