import type { Messages, QueueJournal } from "./journal.ts";
import { idOfReceipt, type Message, newMessageId, newReceipt } from "./message.ts";

export interface QueueSettings {
  readonly name: string;
  readonly visibilityTimeoutMs: number;
  readonly retentionMs: number;
  /** After this many receives without a delete the next receive moves the message to the dead-letter queue. */
  readonly redrive?: { readonly deadLetterQueue: string; readonly maxReceiveCount: number };
}

export interface Draft {
  readonly body: string;
  readonly delayMs: number;
  readonly groupId?: string;
}

/** How many messages can be received now, are with a receiver, or wait for the end of their delay. */
export interface QueueCounts {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

/** A standard queue of SQS on a given clock. It delivers at least once, in order of visibility. Every change is durable when a call returns. */
export interface Queue {
  readonly settings: QueueSettings;
  readonly send: (draft: Draft) => Message;
  readonly receive: (most: number) => readonly Message[];
  /** False for a text that is no receipt. An outdated receipt deletes nothing, as on SQS. */
  readonly remove: (receipt: string) => boolean;
  readonly counts: () => QueueCounts;
  /** When the next message can be received. An instant in the past means now. */
  readonly nextVisibleMs: () => number | undefined;
  /** Makes messages whose receivers died visible again, as they were before that receive. Returns how many. */
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
    const entry = journal.messages.get(idOfReceipt(receipt) ?? "");
    return entry?.queue === name && entry.message.inFlight?.receipt === receipt ? entry.message : undefined;
  };
  const take = (message: Message): readonly Message[] => {
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
      const message = { id: newMessageId(), sequence, body, sentMs, visibleAtMs: sentMs + delayMs, receiveCount: 0 };
      const kept: Message = groupId === undefined ? message : { ...message, groupId };
      journal.put(name, kept);
      return kept;
    },
    receive: (most) => {
      expire();
      const taken: Message[] = [];
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

/** Undoes a receive and its count. A message must not move to the dead-letter queue because a run was stopped while it was handled. */
const unreceived = ({ inFlight, ...message }: Message): Message => ({
  ...message,
  visibleAtMs: inFlight?.waitedMs ?? message.visibleAtMs,
  receiveCount: message.receiveCount - 1,
});

/** A message in the dead-letter queue: visible at once, without a receiver, with its counts. */
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
