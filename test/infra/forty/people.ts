import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { FunctionUrlHandler } from "../../../lib/lambda/function-url.ts";
import { ROOT } from "../../architecture/source.ts";
import { type FunctionUrl, startFunctionUrl } from "../../remote/stand-in/function-url.ts";
import type { Environment } from "../lambda/runtime-api.ts";

/** Who the platform team signs as. */
const KEY = "PLATFORM";
const SECRET = "the secret of the platform team";
const IDENTITIES = {
  [KEY]: {
    secretAccessKey: SECRET,
    arn: "arn:aws:sts::123456789012:assumed-role/platform/ada",
    isAllowed: true,
  },
};
const MOVED_CLOCK = join(import.meta.dirname, "../lambda/moved-clock.ts");

/**
 * The URL of a function: it verifies each signature, and gives the packaged function one request
 * after the other, as an environment of Lambda gets them. The function may begin later than its
 * URL, whose name another function has to know.
 */
export const urlOf = (
  environment: () => Environment,
  clock: () => number,
): Promise<FunctionUrl> => {
  let last: Promise<unknown> = Promise.resolve();
  const handler = (event: unknown) => {
    const answer = last.then(() => environment().invoke(event));
    last = answer;
    return answer.then(({ kind, body }) => {
      if (kind === "error") throw new Error(`the function ended with ${JSON.stringify(body)}`);
      return body;
    });
  };
  return startFunctionUrl(handler as unknown as FunctionUrlHandler, IDENTITIES, clock);
};

export interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs `tidemark` as a process of a person, whose clock is that of the fleet, against the URL of
 * the stack.
 */
export const commandLine =
  (url: string, aheadMs: () => number, folder: string) =>
  async (...args: readonly string[]): Promise<Said> => {
    const child = spawn(
      process.execPath,
      ["--import", MOVED_CLOCK, join(ROOT, "bin/tidemark.js"), ...args],
      {
        cwd: folder,
        env: {
          PATH: process.env["PATH"],
          HOME: folder,
          TIDEMARK_URL: url,
          AWS_ACCESS_KEY_ID: KEY,
          AWS_SECRET_ACCESS_KEY: SECRET,
          AWS_EC2_METADATA_DISABLED: "true",
          STAND_IN_AHEAD_MS: String(aheadMs()),
        },
      },
    );
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { code, out, err };
  };
