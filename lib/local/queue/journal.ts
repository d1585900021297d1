import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import * as z from "zod";
import { TidemarkError } from "../../model/errors.ts";
import { namingFile, readIfThere, writeWhole } from "../folder/whole-file.ts";
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

/**
 * The messages of all queues, kept in one append-only file of JSON lines. Each line says the whole state of one message, so that reading the file again from the start
 * always gives the same. Throws `local.queue-unreadable`.
 */
export const openQueueJournal = (path: string): QueueJournal => {
  const messages = readQueueJournal(path);
  let lines = 0;
  let file = compacted(path, messages);
  const append = (line: JournalLine) => {
    namingFile(path, () => writeSync(file, `${JSON.stringify(line)}\n`));
    lines++;
    if (lines < COMPACT_AFTER_LINES) return;
    closeSync(file);
    file = compacted(path, messages);
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
    close: () => {
      fsyncSync(file);
      closeSync(file);
    },
  };
};

/** The messages of a journal, which stays as it is. Throws `local.queue-unreadable`. */
export const readQueueJournal = (path: string): Messages => {
  const messages: Messages = new Map();
  const text = readIfThere(path) ?? "";
  // A crash cut off the text after the last line end before its change was answered, so that change does not count.
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  for (const [index, text] of whole.split("\n").slice(0, -1).entries()) {
    const line = parseLine(path, text, index + 1);
    if ("put" in line) messages.set(line.put.id, { queue: line.in, message: line.put });
    else messages.delete(line.drop);
  }
  return messages;
};

const parseLine = (path: string, text: string, number: number): JournalLine => {
  try {
    return lineSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new TidemarkError(
      "local.queue-unreadable",
      `Cannot read the queue: line ${number} of "${path}" is not what was written there`,
      { path, number },
      { cause },
    );
  }
};

const compacted = (path: string, messages: Messages): number => {
  const lines = [...messages.values()].map(({ queue, message }) => `${JSON.stringify({ put: message, in: queue })}\n`);
  writeWhole(path, lines.join(""));
  return openSync(path, "a");
};
