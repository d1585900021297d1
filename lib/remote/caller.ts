import { boundedRequests } from "../aws/bounded-requests.ts";
import { TidemarkError } from "../model/errors.ts";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Who calls: keys for the signature, and a name for messages. */
export interface Caller {
  /** Throws `remote.credentials`. */
  readonly credentials: () => Promise<Credentials>;
  /** The ARN that IAM knows the caller by, or the access key where it cannot be asked. */
  readonly name: () => Promise<string>;
}

/** Asked only to explain a refusal: nobody waits long for it. */
const NAME_TIMEOUT_MS = 3_000;

/**
 * The caller that the AWS SDK's own chain finds: environment, profile, single sign-on, container, instance. The SDK is loaded when first asked, and keeps credentials until they
 * expire.
 */
export const defaultCaller = (region: string): Caller => {
  const sts = once(async () => {
    const { STSClient, GetCallerIdentityCommand } = await import("@aws-sdk/client-sts");
    const client = new STSClient({
      region,
      maxAttempts: 1,
      requestHandler: boundedRequests({ connectMs: NAME_TIMEOUT_MS, wholeMs: NAME_TIMEOUT_MS }),
    });
    return { client, identity: async () => client.send(new GetCallerIdentityCommand({})) };
  });
  const credentials = async (): Promise<Credentials> => {
    const { client } = await sts();
    try {
      return await client.config.credentials();
    } catch (cause) {
      throw new TidemarkError("remote.credentials", `Cannot sign requests: no AWS credentials were found (${wordsOf(cause)})`, {}, { cause });
    }
  };
  return {
    credentials,
    name: async () => {
      try {
        const { Arn } = await (await sts()).identity();
        if (Arn !== undefined) return Arn;
      } catch {
        // The key says who it is, too; why STS cannot is not what the person asked.
      }
      return `access key ${(await credentials()).accessKeyId}`;
    },
  };
};

const once = <Value>(make: () => Promise<Value>): (() => Promise<Value>) => {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

const wordsOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause)).replace(/\s+/g, " ").replace(/\.$/, "");
