import * as z from "zod";
import { TidemarkError } from "../../model/errors.ts";
import { type LineFormat, openJsonLines, readJsonLines } from "../folder/json-lines.ts";
import { type Message, messageSchema } from "./message.ts";

const lineSchema = z.union([z.object({ put: messageSchema, in: z.string() }), z.object({ drop: z.string() })]);
type JournalLine = z.infer<typeof lineSchema>;

/** Where each message is: queue name and state, by message id. */
export type Messages = Map<string, { readonly queue: string; readonly message: Message }>;

export interface QueueJournal {
  readonly messages: Messages;
  /** After it returns, the change survives the death of the process, because the kernel has the line. */
  readonly put: (queue: string, message: Message) => void;
  readonly drop: (id: string) => void;
  readonly close: () => void;
}

/** After this many lines the file is rewritten with the messages that are left: about a month of virtual time of one partition. */
const COMPACT_AFTER_LINES = 50_000;

const formatOf = (path: string): LineFormat<JournalLine> => ({
  read: (value) => lineSchema.parse(value),
  fault: (number, cause) =>
    new TidemarkError(
      "local.queue-unreadable",
      `Cannot read the queue: line ${number} of "${path}" is not what was written there`,
      { path, number },
      { cause },
    ),
});

/**
 * The messages of all queues, kept in one append-only file of JSON lines. Each line says the whole state of one message, so that reading the file again from the start
 * always gives the same. Throws `local.queue-unreadable`.
 */
export const openQueueJournal = (path: string): QueueJournal => {
  const file = openJsonLines(path, formatOf(path));
  const messages = messagesOf(file.lines);
  const compact = () => file.rewrite([...messages.values()].map(({ queue, message }): JournalLine => ({ put: message, in: queue })));
  compact();
  let lines = 0;
  const append = (line: JournalLine) => {
    file.append(line);
    lines++;
    if (lines < COMPACT_AFTER_LINES) return;
    compact();
    lines = 0;
  };
  return {
    messages,
    put: (queue, message) => {
      messages.set(message.id, { queue, message });
      append({ put: message, in: queue });
    },
    drop: (id) => {
      messages.delete(id);
      append({ drop: id });
    },
    close: file.close,
  };
};

/** The messages of a journal, which stays as it is. Throws `local.queue-unreadable`. */
export const readQueueJournal = (path: string): Messages => messagesOf(readJsonLines(path, formatOf(path)));

const messagesOf = (lines: readonly JournalLine[]): Messages => {
  const messages: Messages = new Map();
  for (const line of lines) {
    if ("put" in line) messages.set(line.put.id, { queue: line.in, message: line.put });
    else messages.delete(line.drop);
  }
  return messages;
};
