import type { Messages, QueueJournal } from "./journal.ts";
import { idOfReceipt, type Message, type MessageAttributes, newMessageId, newReceipt } from "./message.ts";

export interface QueueSettings {
  readonly name: string;
  readonly visibilityTimeoutMs: number;
  readonly retentionMs: number;
  /** After so many receives without a delete the next receive moves the message away. */
  readonly redrive?: { readonly deadLetterQueue: string; readonly maxReceiveCount: number };
}

export interface Draft {
  readonly body: string;
  readonly delayMs: number;
  readonly groupId?: string;
  readonly attributes: MessageAttributes;
}

/** How many messages can be received, are with somebody, or wait for their delay. */
export interface QueueCounts {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

export type VisibilityChange = "changed" | "not-in-flight" | "unknown";

/** A standard queue of SQS on a clock of ours: at least once, in order of visibility as far as one process can promise it. Every change is durable when a verb returns. */
export interface Queue {
  readonly settings: QueueSettings;
  readonly send: (draft: Draft) => Message;
  readonly receive: (most: number, visibilityTimeoutMs?: number) => readonly Message[];
  /** False when no message ever had such a receipt. An outdated receipt deletes nothing, as on SQS. */
  readonly remove: (receipt: string) => boolean;
  readonly changeVisibility: (receipt: string, timeoutMs: number) => VisibilityChange;
  readonly counts: () => QueueCounts;
  /** When the next message can be received; in the past when one can be now. */
  readonly nextVisibleMs: () => number | undefined;
  /** Takes back what its receivers can no longer handle, because they died: visible again as before they received it. Returns how many. */
  readonly recoverInFlight: () => number;
}

export const openQueue = (journal: QueueJournal, clock: () => number, settings: QueueSettings): Queue => {
  const { name } = settings;
  let sequence = lastSequence(journal.messages);
  const waiting = () => inOrder(journal.messages, name);
  const expire = () => {
    for (const { id, sentMs } of waiting()) if (sentMs + settings.retentionMs <= clock()) journal.drop(id);
  };
  const held = (receipt: string): Message | undefined => {
    const found = journal.messages.get(idOfReceipt(receipt) ?? "");
    return found?.queue === name && found.message.inFlight?.receipt === receipt ? found.message : undefined;
  };
  const take = (message: Message, timeoutMs: number): readonly Message[] => {
    const { redrive } = settings;
    if (redrive && message.receiveCount >= redrive.maxReceiveCount) {
      journal.put(redrive.deadLetterQueue, buried(message, clock()));
      return [];
    }
    const taken = received(message, clock(), timeoutMs);
    journal.put(name, taken);
    return [taken];
  };
  return {
    settings,
    send: ({ body, delayMs, groupId, attributes }) => {
      sequence++;
      const sentMs = clock();
      const message = { id: newMessageId(), sequence, body, attributes, sentMs, visibleAtMs: sentMs + delayMs, receiveCount: 0 };
      const kept: Message = groupId === undefined ? message : { ...message, groupId };
      journal.put(name, kept);
      return kept;
    },
    receive: (most, timeoutMs = settings.visibilityTimeoutMs) => {
      expire();
      const taken: Message[] = [];
      for (const message of waiting()) {
        if (taken.length === most || message.visibleAtMs > clock()) break;
        taken.push(...take(message, timeoutMs));
      }
      return taken;
    },
    remove: (receipt) => {
      const message = held(receipt);
      if (message) journal.drop(message.id);
      return message !== undefined || idOfReceipt(receipt) !== undefined;
    },
    changeVisibility: (receipt, timeoutMs) => {
      const message = held(receipt);
      if (!message) return idOfReceipt(receipt) === undefined ? "unknown" : "not-in-flight";
      if (message.visibleAtMs <= clock()) return "not-in-flight";
      journal.put(name, { ...message, visibleAtMs: clock() + timeoutMs });
      return "changed";
    },
    counts: () => counted(waiting(), clock()),
    nextVisibleMs: () => waiting()[0]?.visibleAtMs,
    recoverInFlight: () => {
      const lost = waiting().filter(({ inFlight, visibleAtMs }) => inFlight !== undefined && visibleAtMs > clock());
      for (const message of lost) journal.put(name, unreceived(message));
      return lost.length;
    },
  };
};

const received = (message: Message, nowMs: number, timeoutMs: number): Message => ({
  ...message,
  visibleAtMs: nowMs + timeoutMs,
  receiveCount: message.receiveCount + 1,
  firstReceivedMs: message.firstReceivedMs ?? nowMs,
  inFlight: { receipt: newReceipt(message.id), waitedMs: message.visibleAtMs },
});

/** The receive is undone, its count too: a message must not end in the dead-letter queue because people stop the run while it is handled. */
const unreceived = ({ inFlight, ...message }: Message): Message => ({
  ...message,
  visibleAtMs: inFlight?.waitedMs ?? message.visibleAtMs,
  receiveCount: message.receiveCount - 1,
});

/** As it lies in the dead-letter queue: nobody's, visible at once, with its history. */
const buried = ({ inFlight: _, ...message }: Message, nowMs: number): Message => ({ ...message, visibleAtMs: nowMs });

const inOrder = (messages: Messages, name: string): readonly Message[] =>
  [...messages.values()]
    .filter(({ queue }) => queue === name)
    .map(({ message }) => message)
    .sort((a, b) => a.visibleAtMs - b.visibleAtMs || a.sequence - b.sequence);

const lastSequence = (messages: Messages): number => Math.max(0, ...[...messages.values()].map(({ message }) => message.sequence));

const counted = (messages: readonly Message[], nowMs: number): QueueCounts => {
  const hidden = messages.filter(({ visibleAtMs }) => visibleAtMs > nowMs);
  const inFlight = hidden.filter((message) => message.inFlight !== undefined).length;
  return { visible: messages.length - hidden.length, inFlight, delayed: hidden.length - inFlight };
};
