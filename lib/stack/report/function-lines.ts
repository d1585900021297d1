import { foreignText } from "../../rules/model/foreign-text.ts";
import { SECOND_MS } from "../../rules/model/time-text.ts";
import type { LogLine } from "./log-lines.ts";

/** The result of one planning call. */
export interface PlanReport {
  readonly fromMs: number;
  readonly untilMs: number;
  /**
   * The begins of earlier minutes that no call had planned, so that this call planned what was
   * still ahead of them. At the first call of a stack these are two.
   */
  readonly missed: readonly number[];
  readonly clusters: number;
  readonly sent: number;
  /** Messages left out because the call came too late for them. */
  readonly skipped: number;
  /** Clusters whose record cannot be read, with the reason. Nothing is planned for them. */
  readonly unreadable: readonly { readonly name: string; readonly message: string }[];
  /** Why nothing was planned; absent where the stack holds the fleet. */
  readonly idle?: PlanIdle;
}

/** A stack that plans nothing, because the fleet is, or may be, in another region. */
export type PlanIdle =
  /** `silentMs`: for so long the holder cannot act any more; negative while it may. */
  | { readonly kind: "standby"; readonly region?: string; readonly silentMs: number }
  | { readonly kind: "leaving"; readonly to: string; readonly silentMs: number }
  | { readonly kind: "resuming" }
  | { readonly kind: "unleased"; readonly why: string }
  | { readonly kind: "unanswered"; readonly region: string; readonly why: string }
  | { readonly kind: "taken"; readonly region: string };

/**
 * True where nothing is planned though the fleet is here, or the region of the fleet has planned
 * nothing for so long that it may be taken.
 */
export const isSilent = ({ idle }: PlanReport): boolean =>
  idle?.kind === "unleased" ||
  idle?.kind === "unanswered" ||
  (idle?.kind === "standby" && idle.silentMs > 0);

const idleLine = (idle: PlanIdle): LogLine => {
  switch (idle.kind) {
    case "standby":
      return idle.silentMs > 0
        ? {
            level: "error",
            message: `Planned nothing: the fleet is in ${quoted(idle.region)}, where no sync has been planned for ${Math.round(idle.silentMs / SECOND_MS)} s longer than the fleet can be held; \`tidemark fleet move --to\` this region takes it`,
            fields: { ...idle },
          }
        : {
            level: "debug",
            message: `Planned nothing: the fleet is in ${quoted(idle.region)}`,
            fields: { ...idle },
          };
    case "leaving":
      return {
        level: "warn",
        message: `Planned nothing: the fleet was given up for ${quoted(idle.to)}, which has not taken it yet; \`tidemark fleet move --to ${idle.to}\` there takes it`,
        fields: { ...idle },
      };
    case "resuming":
      return {
        level: "warn",
        message:
          "Planned nothing: no minute was planned for some time; the next call goes on where no other region has taken the fleet by then",
        fields: { ...idle },
      };
    case "unleased":
      return {
        level: "error",
        message:
          "Planned nothing: no lease of the fleet could be renewed, so that the standby may take the fleet; this goes on where one of them answers (docs/standby.md)",
        fields: { ...idle },
      };
    case "unanswered":
      return {
        level: "error",
        message: `Planned nothing: no minute was planned for some time, and ${quoted(idle.region)} does not say whether it has taken the fleet; where no other stack acts, \`tidemark fleet move --to\` this region goes on`,
        fields: { ...idle },
      };
    case "taken":
      return {
        level: "warn",
        message: `Planned nothing: ${quoted(idle.region)} has taken the fleet, and its writes have not come here yet`,
        fields: { ...idle },
      };
  }
};

const quoted = (region: string | undefined): string =>
  region === undefined ? "another region" : `region "${region}"`;

/** What a claim of the leases came to. */
export type Claimed =
  | { readonly kind: "claimed" }
  /** The lease is held until then by the stack of that region. */
  | {
      readonly kind: "held";
      readonly where: string;
      readonly region: string;
      readonly untilMs: number;
    }
  | { readonly kind: "unanswered"; readonly where: string; readonly why: string }
  /** There is no lease of this term: the holder keeps none. */
  | { readonly kind: "unkept"; readonly where: string };

/** What a look at the leases of the fleet came to, in the stack that may take it by itself. */
export type TakeReport =
  /** It has the fleet, or it does not know which region has it. */
  | { readonly kind: "here" }
  | Exclude<Claimed, { kind: "claimed" }>
  | {
      readonly kind: "taken";
      readonly from: string;
      readonly partitions: number;
      readonly autoscalers: number;
    };

/** The log line of such a look. */
export const takeLine = (report: TakeReport): LogLine => {
  const fields = { ...report };
  switch (report.kind) {
    case "here":
      return { level: "debug", message: "Took nothing: the fleet is here", fields };
    case "held":
      return {
        level: "debug",
        message: `Took nothing: the lease in ${quoted(report.where)} is held by the stack in ${quoted(report.region)}, or ended too short a time ago`,
        fields,
      };
    case "unkept":
      return {
        level: "warn",
        message: `Took nothing: there is no lease of the fleet in ${quoted(report.where)}; the stack that has the fleet keeps one with the same parameters (docs/standby.md)`,
        fields,
      };
    case "unanswered":
      return {
        level: "warn",
        message: `Took nothing: the lease in ${quoted(report.where)} is not known, and nothing is taken without it`,
        fields,
      };
    case "taken":
      return {
        level: "warn",
        message: `Took the fleet from ${quoted(report.from)}, where no stack has held it: ${report.autoscalers} autoscalers of ${report.partitions} partitions go on as if each had just been scaled as far as its rules allow`,
        fields,
      };
  }
};

/** The log line of one planning call. */
export const planLine = (report: PlanReport): LogLine =>
  report.idle ? idleLine(report.idle) : plannedLine(report);

const plannedLine = (report: PlanReport): LogLine => ({
  level: report.unreadable.length > 0 ? "error" : report.skipped > 0 ? "warn" : "info",
  message: `Planned ${report.sent} syncs of ${report.clusters} clusters`,
  fields: {
    from: new Date(report.fromMs).toISOString(),
    until: new Date(report.untilMs).toISOString(),
    ...(report.missed.length > 0 && {
      missed: report.missed.map((minuteMs) => new Date(minuteMs).toISOString()),
    }),
    sent: report.sent,
    skipped: report.skipped,
    ...(report.unreadable.length > 0 && { unreadable: report.unreadable }),
  },
});

/** The log line of a cluster that could not be planned right after its edit. */
export const planNowFailedLine = (cluster: string, error: unknown): LogLine => ({
  level: "warn",
  message: `Cannot plan cluster "${cluster}" at once: the scheduler plans it within a minute`,
  fields: { cluster, why: error instanceof Error ? error.message : String(error) },
});

/** What became of one event that wakes. */
export interface WakeReport {
  /** The alarm that the event was of; absent where the event named its places itself. */
  readonly alarm?: string;
  readonly served: readonly {
    readonly cluster: string;
    readonly namespace?: string;
    readonly reason: string;
    /** `joined`: a sync that was ahead does the work. `elsewhere`: another region has the fleet. */
    readonly outcome: "sent" | "joined" | "elsewhere" | "unknown cluster" | "unknown namespace";
  }[];
}

const SERVED_NAMED_MAX = 10;

/** The log line of one event. The texts of its sender are bounded. */
export const wakeLine = ({ alarm, served }: WakeReport): LogLine => {
  const unknown = served.filter(({ outcome }) => outcome.startsWith("unknown")).length;
  const named = served.slice(0, SERVED_NAMED_MAX).map((each) => ({
    ...mapped(each, foreignText),
    outcome: each.outcome,
  }));
  return {
    level: unknown > 0 ? "warn" : "info",
    message:
      alarm !== undefined && served.length === 0
        ? "No wake is registered for an alarm"
        : `Woke ${served.length - unknown} of ${served.length} places`,
    fields: { ...(alarm !== undefined && { alarm: foreignText(alarm) }), served: named },
  };
};

const mapped = (
  texts: Readonly<Record<string, string>>,
  change: (text: string) => string,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, change(text)]));

/** The log line of an event that cannot be read. */
export const refusedEventLine = (error: unknown): LogLine => ({
  level: "warn",
  message: "Cannot read an event: it wakes nothing; docs/wake.md has the form of events",
  fields: { why: foreignText(error instanceof Error ? error.message : String(error)) },
});

/** A status that does not know how many messages are in the dead-letter queues. */
export const deadLettersUnknownLine = (error: unknown): LogLine => ({
  level: "warn",
  message:
    "Cannot count the messages in the dead-letter queues: the status says that they are not known",
  fields: { why: error instanceof Error ? error.message : String(error) },
});

/** One answered request. The log has its route and never its input. */
export interface RequestReport {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly tookMs: number;
  readonly bytes: number;
  readonly by?: string;
  readonly requestId: string;
  /** The refusal or the failure. The log of a failure includes its stack. */
  readonly error?: unknown;
}

const FIRST_REFUSAL = 400;
const FIRST_FAILURE = 500;
/** Limit for the path, because an unknown path may be anything. */
const PATH_CHARACTERS_MAX = 100;

/**
 * The log line of one request: an error for our own failure, a warning for a refusal or for an
 * answer that could not be stored for repeats.
 */
export const requestLine = ({ path, error, ...report }: RequestReport): LogLine => {
  const level =
    report.status >= FIRST_FAILURE
      ? "error"
      : report.status >= FIRST_REFUSAL || error !== undefined
        ? "warn"
        : "info";
  const shown = path.slice(0, PATH_CHARACTERS_MAX);
  return {
    level,
    message: `Answered ${report.method} ${shown} with ${report.status}`,
    fields: { ...report, path: shown, ...wordsOf(report.status, error) },
  };
};

const wordsOf = (status: number, error: unknown): LogLine["fields"] => {
  if (error === undefined) return {};
  const thrown = error instanceof Error ? error : new Error(String(error));
  if (status >= FIRST_FAILURE) return { error: thrown };
  return status >= FIRST_REFUSAL ? { refusal: thrown.message } : { unkept: thrown.message };
};

/** What became of one batch of events for the bus. */
export interface EventsReport {
  readonly sent: number;
  /** Records in the dead letters, by their keys. */
  readonly kept: readonly { readonly key: string; readonly why: string }[];
  /** Events that the bus did not take yet. */
  readonly left: number;
  /** Why it took the oldest of them not. */
  readonly why?: string;
}

const KEPT_NAMED_MAX = 10;

/** The log line of one batch. */
export const eventsLine = ({ sent, kept, left, why }: EventsReport): LogLine => ({
  level: kept.length > 0 ? "error" : left > 0 ? "warn" : "debug",
  message:
    left > 0
      ? `Sent ${sent} events; the bus did not take ${left}, which are sent again`
      : `Sent ${sent} events`,
  fields: {
    sent,
    left,
    ...(why !== undefined && { why: foreignText(why) }),
    ...(kept.length > 0 && {
      deadLetters: kept
        .slice(0, KEPT_NAMED_MAX)
        .map(({ key, why: reason }) => ({ key: foreignText(key), why: foreignText(reason) })),
    }),
  },
});

/** The log line of the audit of one day: its head is also in the history, and in the next day. */
export const auditLine = ({
  date,
  files,
  head,
}: {
  readonly date: string;
  readonly files: readonly { readonly key: string; readonly lines: number }[];
  readonly head: string;
}): LogLine => ({
  level: "info",
  message: `Put the audit of ${date} into the bucket`,
  fields: { date, head, files: files.map(({ key, lines }) => ({ key, lines })) },
});

/** What a look at the fleet made. */
export interface LookReport {
  /** Notices, storms included. */
  readonly made: number;
  /** Notices that have begun and go on. */
  readonly open: number;
  /** Found, and not remembered for want of room. */
  readonly leftOut: number;
  /** The fleet is in another region, whose stack looks. */
  readonly isElsewhere?: boolean;
}

/** The log line of one look. */
export const lookLine = ({ made, open, leftOut, isElsewhere }: LookReport): LogLine => ({
  level: leftOut > 0 ? "warn" : "debug",
  message:
    leftOut > 0
      ? `Made ${made} notices; ${leftOut} more states were found than can be remembered, and begin with a later look`
      : isElsewhere
        ? "Looked at nothing: the fleet is in another region"
        : `Made ${made} notices`,
  fields: { made, open, leftOut },
});
