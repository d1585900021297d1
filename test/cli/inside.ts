import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Io } from "../../lib/command/io.ts";
import { main } from "../../lib/command/main.ts";
import { openHere, type Said, withoutHead } from "./folder.ts";

/** Runs one command line in this process: the same code without the start of a process. */
export const inside = async (
  args: readonly string[],
  more: {
    readonly stdin?: string;
    readonly by?: string;
    readonly colours?: true;
    /** Standard error is a terminal, which shows the progress of long work. */
    readonly terminal?: true;
    /** The width of the terminal. */
    readonly columns?: number;
    readonly open?: Io["open"];
    readonly editFile?: NonNullable<Io["editFile"]>;
    readonly stackUrl?: string;
    readonly stackName?: string;
    readonly stackSign?: string;
    readonly ask?: NonNullable<Io["ask"]>;
    readonly runOsls?: NonNullable<Io["runOsls"]>;
    /** Keeps the line that says where the output was made. */
    readonly head?: true;
    /** Ctrl-C during the first look of a command that watches. */
    readonly interruptible?: NonNullable<Io["interruptible"]>;
    readonly openBrowser?: NonNullable<Io["openBrowser"]>;
  } = {},
): Promise<Said> => {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const [out, err] = [text(stdout), text(stderr)];
  const { stdin = "", by = "ada", open = openHere, head: _head, ...others } = more;
  const io: Io = {
    ...{ stdin: Readable.from([stdin]), stdout, stderr, colours: false, by, open },
    ...(others.interruptible && { watchEveryMs: 1 }),
    ...others,
  };
  const code = await main(args, io);
  stdout.end();
  stderr.end();
  const said = { code, out: await out, err: await err };
  return more.head ? said : withoutHead(said);
};
