import { PassThrough } from "node:stream";
import { finished } from "node:stream/promises";
import { packageVersion } from "../../dashboard/serve/version.ts";
import { failureText } from "../../embedded/host/failure-text.ts";
import { printable } from "../../rules/model/foreign-text.ts";
import { text } from "../../stack/report/printed.ts";
import { type Io, interruptible, type Printer, type Session } from "../io.ts";
import { askApi, type ToolParameters } from "../mcp/ask-api.ts";
import { ANSWER_CHARACTERS_MAX, markedAnswer, markedText, NOTICE } from "../mcp/marked-data.ts";
import { replaysOf } from "../mcp/replays.ts";
import { type Tool, TOOLS, type ToolSources } from "../mcp/tools.ts";

/** Every call only reads, and is about this one fleet. */
const READING = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

const INSTRUCTIONS = `Tidemark scales the replicas of Kubernetes workloads in many clusters. These tools read what it did and why; none of them changes anything. ${NOTICE}`;

/** Opens what the command names, for one answer. */
type WithSession = (work: (session: Session) => Promise<void>) => Promise<void>;

/**
 * A server of the Model Context Protocol on standard input and output, until its input ends. It
 * opens the data folder or the stack for each answer: a server lives for days, and meanwhile a run
 * of the folder begins and ends, and credentials expire.
 */
export const mcp = async (
  withSession: WithSession,
  { printer, io }: { readonly printer: Printer; readonly io: Io },
): Promise<void> => {
  // An optional part: what an assistant needs is not installed for people who have none.
  const [{ McpServer, fromJsonSchema }, { serveStdio, StdioServerTransport }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("@modelcontextprotocol/server/stdio"),
  ]);
  // A wrong option, or a folder that is not there, ends the command at once.
  await withSession(async ({ place }) =>
    printer.report(text`A server for assistants reads ${place}; it ends with its input`),
  );
  const onFailure = (error: unknown): void =>
    printer.error(error instanceof Error ? error.message : String(error));
  const answer = async (tool: Tool, asked: ToolParameters): Promise<unknown> => {
    let answered: unknown;
    await withSession(async (session) => {
      answered = await tool.answer(asked, sourcesOf(session, printer, onFailure));
    });
    return answered;
  };
  const newServer = () => {
    const server = new McpServer(
      { name: "tidemark", version: packageVersion() },
      { instructions: INSTRUCTIONS },
    );
    for (const tool of TOOLS)
      server.registerTool(
        tool.name,
        {
          description: tool.about,
          inputSchema: fromJsonSchema<ToolParameters>(tool.input),
          outputSchema: fromJsonSchema(tool.output),
          annotations: READING,
        },
        (asked) => resultOf(tool, () => answer(tool, asked)),
      );
    return server;
  };
  const handle = serveStdio(newServer, {
    // The transport reads bytes only.
    transport: new StdioServerTransport(io.stdin.pipe(new PassThrough()), io.stdout),
    onerror: onFailure,
  });
  try {
    await interruptible(io, (signal) =>
      finished(io.stdin, { signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      }),
    );
  } finally {
    await handle.close();
  }
};

const sourcesOf = (
  session: Session,
  printer: Printer,
  onFailure: (error: unknown) => void,
): ToolSources => {
  if (!session.dashboard) throw new RangeError(`${session.place} answers no API`);
  return {
    ask: askApi(session.dashboard.answerApi, onFailure),
    replays: replaysOf(session, printer),
    clock: session.clock,
  };
};

/** A refusal is an answer, so that the assistant can ask otherwise. */
const resultOf = async (tool: Tool, answer: () => Promise<unknown>) => {
  try {
    const marked = markedAnswer(await answer(), tool);
    if (marked)
      return {
        content: [{ type: "text" as const, text: markedText(marked) }],
        structuredContent: { ...marked },
      };
    return refused(
      `The answer has more than ${ANSWER_CHARACTERS_MAX} characters: ${tool.narrower}`,
    );
  } catch (error) {
    const words = failureText(error);
    if (words === undefined) throw error;
    return refused(words);
  }
};

const refused = (words: string) => ({
  content: [{ type: "text" as const, text: printable(words) }],
  isError: true,
});
