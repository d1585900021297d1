import * as z from "zod";
import { present } from "../../rules/model/json.ts";
import {
  NOTICE_KINDS,
  type NoticeRecord,
  type StateNotice,
  type StormNotice,
} from "../../rules/model/notices.ts";
import { noticeOf } from "../../stack/store/history/notices.ts";
import { NOTICES_PK_PREFIX } from "../../stack/store/table/keys.ts";
import { count, only, text, time, type ViewOf } from "../views/view-of.ts";
import { noticeSentence, stormSentence } from "../words/notice-words.ts";
import { atMs, ENVELOPE, envelopeOf, sentence } from "./envelope.ts";
import type { EventKind } from "./event-kind.ts";
import { NOTICE_RULES } from "./notice-kinds.ts";

const phase = z.enum(["began", "ended"]);

export const noticeCloudEvent = z
  .object({
    ...ENVELOPE,
    type: z.enum(NOTICE_KINDS.map((kind) => `dev.tidemark.${kind}` as const)),
    kind: z
      .enum(NOTICE_KINDS)
      .describe(NOTICE_KINDS.map((kind) => `\`${kind}\`: ${NOTICE_RULES[kind].means}`).join(". ")),
    cluster: text,
    namespace: text.describe("absent where it is about a whole cluster").exactOptional(),
    name: text.exactOptional(),
    phase: phase.describe("`began` when it has lasted so long, `ended` when it is over"),
    reason: text.describe("of the newest decision").exactOptional(),
    storm: only
      .describe("present where a `storm` counts it: what goes to people leaves it out")
      .exactOptional(),
    data: z.object({
      text: sentence,
      atMs,
      since: time.describe("since when it was so"),
      incident: text.describe("the same when it begins and when it ends: `atMax eu-1/shop/web`"),
      uid: text.exactOptional(),
      heldBy: text.exactOptional(),
      currentReplicas: count.exactOptional(),
      desiredReplicas: count.exactOptional(),
      maxReplicas: count.describe("the maximum in force").exactOptional(),
      targets: z.array(text).describe("value and target of its first metrics").exactOptional(),
      missingMetrics: count.exactOptional(),
      labels: z.record(z.string(), text).describe("of the autoscaler").exactOptional(),
    }),
  })
  .describe("a state of an autoscaler or a cluster that has lasted, or that is over");
export type NoticeEvent = ViewOf<typeof noticeCloudEvent>;

const STORM = "storm";

export const stormCloudEvent = z
  .object({
    ...ENVELOPE,
    type: z.literal("dev.tidemark.storm"),
    kind: z.literal(STORM),
    cluster: text,
    what: z
      .enum(["scale", ...NOTICE_KINDS])
      .describe("the kind of the events that it counts; each of them is an event, too"),
    phase: phase.describe("of the events that it counts").exactOptional(),
    data: z.object({
      text: sentence,
      atMs: atMs.describe("the begin of the minute"),
      count: count.describe("how many events of the cluster and the minute"),
      namespaces: z
        .array(z.object({ namespace: text, count }))
        .describe("the namespaces with most of them"),
      scales: z
        .object({
          ...{ up: count, down: count, refused: count, unknown: count, outside: count },
          added: count.describe("replicas"),
          removed: count,
          largest: z.array(z.object({ namespace: text, name: text, from: count, to: count })),
        })
        .exactOptional(),
    }),
  })
  .describe("more events of one cluster, minute and kind than people read one by one");
export type StormEvent = ViewOf<typeof stormCloudEvent>;

const rfc3339 = (ms: number): string => new Date(ms).toISOString();

export const noticeEventOf = (notice: NoticeRecord): NoticeEvent | StormEvent =>
  notice.kind === STORM ? stormEventOf(notice) : stateEventOf(notice);

const stateEventOf = (notice: StateNotice): NoticeEvent => {
  const { kind, id, cluster, autoscaler } = notice;
  const { namespace, name, uid, reason, heldBy, labels, targets } = autoscaler ?? {};
  const { began, ended } = NOTICE_RULES[kind];
  const words = notice.phase === "began" ? began(autoscaler ?? {}) : ended;
  const place = present({ cluster, namespace, name });
  const envelope = envelopeOf(kind, place, { id, time: rfc3339(notice.atMs) });
  return present({
    ...envelope,
    ...{ cluster, namespace, name, phase: notice.phase, reason, storm: notice.inStorm },
    data: present({
      text: noticeSentence(notice, words),
      atMs: notice.atMs,
      since: rfc3339(notice.sinceMs),
      incident: `${kind} ${envelope.subject}`,
      ...{ uid, heldBy, targets, labels },
      currentReplicas: autoscaler?.current,
      desiredReplicas: autoscaler?.desired,
      maxReplicas: autoscaler?.max,
      missingMetrics: autoscaler?.missing,
    }),
  });
};

const stormEventOf = (storm: StormNotice): StormEvent => {
  const { id, cluster, what, count: all, namespaces, scales } = storm;
  const rule = what === "scale" ? undefined : NOTICE_RULES[what];
  const words = storm.phase === "ended" ? rule?.ended : rule?.began({});
  return present({
    ...envelopeOf(STORM, { cluster }, { id, time: rfc3339(storm.atMs) }),
    ...{ cluster, what, phase: storm.phase },
    data: present({
      text: stormSentence(storm, words ?? ""),
      atMs: storm.atMs,
      count: all,
      ...{ namespaces, scales },
    }),
  });
};

export const noticeKind: EventKind<NoticeEvent | StormEvent> = {
  kind: "notice",
  keys: [{ pk: NOTICES_PK_PREFIX, sk: "" }],
  read: async (item) => noticeEventOf(noticeOf(item)),
};
