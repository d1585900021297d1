import type { AwsCredentials } from "../../lib/stack/aws/sha256.ts";
import type { Caller } from "../../lib/answers/remote/caller.ts";
import { requestSender, type SenderOptions } from "../../lib/answers/remote/send-request.ts";
import { remoteService } from "../../lib/answers/remote/service.ts";
import { stackUrl } from "../../lib/answers/remote/find-stack.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { type ApiWorld, apiWorld } from "../api/world.ts";
import { NOON } from "../noon.ts";
import { type FunctionUrl, startFunctionUrl } from "./stand-in/function-url.ts";
import type { Identities } from "./stand-in/signature.ts";

export const ADA = "arn:aws:iam::123456789012:user/ada";

/** What IAM knows in these tests. The secrets are made up. */
export const IDENTITIES: Identities = {
  ADA: { secretAccessKey: "ada's secret", arn: ADA, isAllowed: true },
  GRACE: {
    secretAccessKey: "grace's secret",
    sessionToken: "token/of+grace==",
    arn: "arn:aws:sts::123456789012:assumed-role/Ops/grace",
    isAllowed: true,
  },
  MALLORY: {
    secretAccessKey: "mallory's secret",
    arn: "arn:aws:iam::123456789012:user/mallory",
    isAllowed: false,
  },
};

export const credentialsOf = (key: string): AwsCredentials => {
  const { secretAccessKey = "wrong", sessionToken } = IDENTITIES[key] ?? {};
  return { accessKeyId: key, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
};

export const callerOf = (key: string): Caller => ({
  credentials: async () => credentialsOf(key),
  name: async () => IDENTITIES[key]?.arn ?? `access key ${key}`,
});

export interface RemoteWorld extends ApiWorld {
  readonly url: FunctionUrl;
  readonly connectUrl: FunctionUrl;
  readonly viewUrl: FunctionUrl;
  /** Milliseconds that the client waited between attempts, in order; nothing is waited for. */
  readonly waits: number[];
  /** The service of the stack, as a client on another machine has it. */
  readonly remote: (key?: string, more?: Partial<SenderOptions>, url?: FunctionUrl) => Service;
}

/**
 * The functions of a stack behind URLs that verify signatures, and clients for them; all clocks
 * show noon.
 */
export const remoteWorld = async (): Promise<RemoteWorld> => {
  const api = await apiWorld();
  const waits: number[] = [];
  const url = await startFunctionUrl(api.api, IDENTITIES, () => NOON);
  const connectUrl = await startFunctionUrl(api.connect, IDENTITIES, () => NOON);
  api.elsewhere.url = `${connectUrl.url}/`;
  const viewUrl = await startFunctionUrl(api.view, IDENTITIES, () => NOON);
  let keys = 0;
  return {
    ...api,
    url,
    connectUrl,
    viewUrl,
    waits,
    remote: (key = "ADA", more = {}, at = url) => {
      const wait = async (ms: number): Promise<void> => void waits.push(ms);
      const wire: SenderOptions = {
        stack: stackUrl(at.url, "--stack"),
        caller: callerOf(key),
        clock: () => NOON,
        wait,
        random: () => 0.5,
        ...more,
      };
      return remoteService(requestSender(wire), () => `test-key-of-an-edit-${++keys}`);
    },
    close: async () => {
      await url.close();
      await connectUrl.close();
      await viewUrl.close();
      await api.close();
    },
  };
};
