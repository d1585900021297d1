import { boundedRequests } from "../../stack/aws/bounded-requests.ts";
import type { AwsCredentials } from "../../stack/aws/sha256.ts";
import { TidemarkError } from "../../rules/model/errors.ts";

/** The caller: keys for the signature, and a name for messages. */
export interface Caller {
  /** Throws `remote.credentials`. */
  readonly credentials: () => Promise<AwsCredentials>;
  /** The caller's ARN, or the access key when STS does not answer. */
  readonly name: () => Promise<string>;
}

/** STS is called only to explain a refusal, so the timeout is short. */
const NAME_TIMEOUT_MS = 3_000;

/**
 * The caller from the AWS SDK's default chain: environment, profile, single sign-on, container,
 * instance; a named profile comes before the environment. The SDK is loaded at the first call, and
 * it caches credentials until they expire.
 */
export const defaultCaller = (region: string, profile?: string): Caller => {
  const parentClientConfig = {
    region,
    requestHandler: boundedRequests({ connectMs: NAME_TIMEOUT_MS, wholeMs: NAME_TIMEOUT_MS }),
  };
  // Without the client of STS, which most commands never call.
  const provider = lazy(async () =>
    (await import("@aws-sdk/credential-provider-node")).defaultProvider({
      ...(profile !== undefined && { profile }),
      parentClientConfig,
    }),
  );
  const credentials = async (): Promise<AwsCredentials> => {
    const ask = await provider();
    try {
      return await ask();
    } catch (cause) {
      throw new TidemarkError(
        "remote.credentials",
        `Cannot sign requests: no AWS credentials were found; set AWS_PROFILE or sign in (${wordsOf(cause)})`,
        {},
        { cause },
      );
    }
  };
  const sts = lazy(async () => {
    const { STSClient, GetCallerIdentityCommand } = await import("@aws-sdk/client-sts");
    const client = new STSClient({ ...parentClientConfig, credentials, maxAttempts: 1 });
    return async () => client.send(new GetCallerIdentityCommand({}));
  });
  return {
    credentials,
    name: async () => {
      try {
        const { Arn } = await (await sts())();
        if (Arn !== undefined) return Arn;
      } catch {
        // Falls back to the access key. Why STS failed would not help here.
      }
      return `access key ${(await credentials()).accessKeyId}`;
    },
  };
};

const lazy = <Value>(make: () => Promise<Value>): (() => Promise<Value>) => {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

const wordsOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).replace(/\s+/g, " ").replace(/\.$/, "");
