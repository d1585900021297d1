import { randomUUID } from "node:crypto";
import * as z from "zod";
import { idOfReceipt, type QueueMessage, newReceipt, messageSchema } from "./message.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { type LineFormat, openJsonLines, readJsonLines } from "../host/json-lines.ts";

export interface QueueSettings {
  readonly name: string;
  readonly visibilityTimeoutMs: number;
  readonly retentionMs: number;
  /**
   * After this many receives without a delete the next receive moves the message to the dead-letter
   * queue.
   */
  readonly redrive?: { readonly deadLetterQueue: string; readonly maxReceiveCount: number };
}

export interface Draft {
  readonly body: string;
  readonly delayMs: number;
  readonly groupId?: string;
}

/**
 * How many messages can be received now, are with a receiver, or wait for the end of their delay.
 */
export interface QueueCounts {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

/**
 * A standard queue of SQS on a given clock. It delivers at least once, in order of visibility.
 * Every change is durable when a call returns.
 */
export interface Queue {
  readonly settings: QueueSettings;
  readonly send: (draft: Draft) => QueueMessage;
  readonly receive: (most: number) => readonly QueueMessage[];
  /** False for a text that is no receipt. An outdated receipt deletes nothing, as on SQS. */
  readonly remove: (receipt: string) => boolean;
  readonly counts: () => QueueCounts;
  /** When the next message can be received. An instant in the past means now. */
  readonly nextVisibleMs: () => number | undefined;
  /**
   * Makes messages whose receivers died visible again, as they were before that receive. Returns
   * how many.
   */
  readonly recoverInFlight: () => number;
}

/** `onSent` is called after each message that was sent, which may be due before all others. */
export const openQueue = (
  journal: QueueJournal,
  clock: () => number,
  settings: QueueSettings,
  onSent: () => void = () => {},
): Queue => {
  const { name } = settings;
  let sequence = Math.max(
    0,
    ...[...journal.messages.values()].map(({ message }) => message.sequence),
  );
  const waiting = () => inOrder(journal.messages, name);
  const expire = () => {
    for (const { id, sentMs } of waiting())
      if (sentMs + settings.retentionMs <= clock()) journal.drop(id);
  };
  const held = (receipt: string): QueueMessage | undefined => {
    const entry = journal.messages.get(idOfReceipt(receipt) ?? "");
    return entry?.queue === name && entry.message.inFlight?.receipt === receipt
      ? entry.message
      : undefined;
  };
  const take = (message: QueueMessage): readonly QueueMessage[] => {
    const { redrive } = settings;
    if (redrive && message.receiveCount >= redrive.maxReceiveCount) {
      journal.put(redrive.deadLetterQueue, buried(message, clock()));
      return [];
    }
    const taken = received(message, clock(), settings.visibilityTimeoutMs);
    journal.put(name, taken);
    return [taken];
  };
  return {
    settings,
    send: ({ body, delayMs, groupId }) => {
      sequence++;
      const sentMs = clock();
      const message = {
        id: randomUUID(),
        sequence,
        body,
        sentMs,
        visibleAtMs: sentMs + delayMs,
        receiveCount: 0,
      };
      const kept: QueueMessage = groupId === undefined ? message : { ...message, groupId };
      journal.put(name, kept);
      onSent();
      return kept;
    },
    receive: (most) => {
      expire();
      const taken: QueueMessage[] = [];
      for (const message of waiting()) {
        if (taken.length === most || message.visibleAtMs > clock()) break;
        taken.push(...take(message));
      }
      return taken;
    },
    remove: (receipt) => {
      const message = held(receipt);
      if (message) journal.drop(message.id);
      return message !== undefined || idOfReceipt(receipt) !== undefined;
    },
    counts: () => counted(waiting(), clock()),
    nextVisibleMs: () => waiting()[0]?.visibleAtMs,
    recoverInFlight: () => {
      const lost = waiting().filter(
        ({ inFlight, visibleAtMs }) => inFlight !== undefined && visibleAtMs > clock(),
      );
      for (const message of lost) journal.put(name, unreceived(message));
      return lost.length;
    },
  };
};

const received = (message: QueueMessage, nowMs: number, timeoutMs: number): QueueMessage => ({
  ...message,
  visibleAtMs: nowMs + timeoutMs,
  receiveCount: message.receiveCount + 1,
  firstReceivedMs: message.firstReceivedMs ?? nowMs,
  inFlight: { receipt: newReceipt(message.id), waitedMs: message.visibleAtMs },
});

/**
 * Undoes a receive and its count. A message must not move to the dead-letter queue because a run
 * was stopped while it was handled.
 */
const unreceived = ({ inFlight, ...message }: QueueMessage): QueueMessage => ({
  ...message,
  visibleAtMs: inFlight?.waitedMs ?? message.visibleAtMs,
  receiveCount: message.receiveCount - 1,
});

/** A message in the dead-letter queue: visible at once, without a receiver, with its counts. */
const buried = ({ inFlight: _, ...message }: QueueMessage, nowMs: number): QueueMessage => ({
  ...message,
  visibleAtMs: nowMs,
});

const inOrder = (messages: Messages, name: string): readonly QueueMessage[] =>
  [...messages.values()]
    .filter(({ queue }) => queue === name)
    .map(({ message }) => message)
    .sort((a, b) => a.visibleAtMs - b.visibleAtMs || a.sequence - b.sequence);

const counted = (messages: readonly QueueMessage[], nowMs: number): QueueCounts => {
  const hidden = messages.filter(({ visibleAtMs }) => visibleAtMs > nowMs);
  const inFlight = hidden.filter((message) => message.inFlight !== undefined).length;
  return { visible: messages.length - hidden.length, inFlight, delayed: hidden.length - inFlight };
};

const lineSchema = z.union([
  z.object({ put: messageSchema, in: z.string() }),
  z.object({ drop: z.string() }),
]);
type JournalLine = z.infer<typeof lineSchema>;

/** Where each message is: queue name and state, by message id. */
type Messages = Map<string, { readonly queue: string; readonly message: QueueMessage }>;

export interface QueueJournal {
  readonly messages: Messages;
  /**
   * After it returns, the change survives the death of the process, because the kernel has the
   * line.
   */
  readonly put: (queue: string, message: QueueMessage) => void;
  readonly drop: (id: string) => void;
  readonly close: () => void;
}

/**
 * After this many lines the file is rewritten with the messages that are left: about a month of
 * virtual time of one partition.
 */
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
 * The messages of all queues, kept in one append-only file of JSON lines. Each line says the whole
 * state of one message, so that reading the file again from the start always gives the same. Throws
 * `local.queue-unreadable`.
 */
export const openQueueJournal = (path: string): QueueJournal => {
  const file = openJsonLines(path, formatOf(path));
  const messages = messagesOf(file.lines);
  const compact = () =>
    file.rewrite(
      [...messages.values()].map(
        ({ queue, message }): JournalLine => ({ put: message, in: queue }),
      ),
    );
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
export const readQueueJournal = (path: string): Messages =>
  messagesOf(readJsonLines(path, formatOf(path)));

const messagesOf = (lines: readonly JournalLine[]): Messages => {
  const messages: Messages = new Map();
  for (const line of lines) {
    if ("put" in line) messages.set(line.put.id, { queue: line.in, message: line.put });
    else messages.delete(line.drop);
  }
  return messages;
};
