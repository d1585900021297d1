import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { changeEventOf } from "../../lib/answers/cloud-events/change.ts";
import { noticeEventOf } from "../../lib/answers/cloud-events/notice.ts";
import type { StateNotice } from "../../lib/rules/model/notices.ts";
import type { CloudEvent } from "../../lib/answers/cloud-events/kinds.ts";
import { scaleEventOf } from "../../lib/answers/cloud-events/scale.ts";
import { scopeChangeView } from "../../lib/answers/service/changes.ts";
import { eventView } from "../../lib/answers/service/views/event-view.ts";
import { closeServer, listenOnLoopback } from "../../lib/embedded/host/loopback.ts";
import { busEventOf } from "../../lib/lambda/put-events.ts";
import type { ScaleEventRecord } from "../../lib/rules/model/scale-records.ts";
import { ROOT } from "../architecture/source.ts";
import { NOON } from "../noon.ts";
import { event } from "../store/records.ts";
import { matches, transformed } from "./event-rules.ts";

interface Rule {
  readonly Properties: {
    readonly EventPattern: object;
    readonly Targets: readonly {
      readonly InputTransformer: {
        readonly InputPathsMap: Readonly<Record<string, string>>;
        readonly InputTemplate: string;
      };
    }[];
  };
}
const { Resources } = parse(
  readFileSync(join(ROOT, "examples/events/people.yaml"), "utf8").replaceAll(
    // What CloudFormation puts in.
    /\{ "Fn::Sub": "\$\{Stack\}-" \}/g,
    "tidemark-prod-",
  ),
) as { readonly Resources: Readonly<Record<string, Rule>> };

let server: Server;
let url: string;
let got: unknown[];
beforeEach(async () => {
  got = [];
  server = createServer((request, response) => {
    void text(request).then((body) => {
      got.push(JSON.parse(body));
      response.end();
    });
  });
  url = await listenOnLoopback(server);
});
afterEach(() => closeServer(server));

/** An event of the bus, as EventBridge gives it to rules. */
const onBus = (one: CloudEvent) => {
  const { entry } = busEventOf(one);
  return {
    ...{ version: "0", id: "b", account: "123456789012", region: "eu-central-1", resources: [] },
    ...{ source: entry.Source, "detail-type": entry.DetailType, time: one.time },
    detail: JSON.parse(entry.Detail) as unknown,
  };
};

/** What the rule sends to its target, posted as an API destination posts it. */
const send = async (rule: string, one: object): Promise<unknown> => {
  const { EventPattern, Targets } = Resources[rule]?.Properties ?? {
    EventPattern: {},
    Targets: [],
  };
  if (!matches(EventPattern, one)) return undefined;
  for (const { InputTransformer } of Targets)
    await fetch(url, { method: "POST", body: transformed(InputTransformer, one) });
  return got.at(-1);
};

const HOSTILE = 'up"}, {"text": "<!channel> [click](http://evil)\u202E\n';
const scale = (parts: Partial<ScaleEventRecord> = {}) =>
  onBus(scaleEventOf(eventView(event({ from: 4, to: 9, message: HOSTILE, ...parts }))));
const edit = onBus(
  changeEventOf(
    scopeChangeView({
      ...{ id: "0a", scope: "fleet", name: "fleet", version: 2, atMs: NOON, by: "ada" },
      verb: "freeze",
    }),
  ),
);
/** What a look found of an autoscaler whose texts are hostile. */
const notice = (parts: Partial<StateNotice> = {}) =>
  onBus(
    noticeEventOf({
      ...{ kind: "held", id: "held:uid-1:0:began", phase: "began", atMs: NOON, sinceMs: NOON },
      cluster: "eu-1",
      autoscaler: {
        ...{ namespace: "shop", name: "web", uid: "uid-1", heldBy: HOSTILE, reason: "R" },
        labels: { team: "blue" },
      },
      ...parts,
    }),
  );
const storm = onBus(
  noticeEventOf({
    ...{ kind: "storm", what: "scale", id: "storm:eu-1:scale:0", atMs: NOON, cluster: "eu-1" },
    ...{ count: 1_000, namespaces: [{ namespace: "shop", count: 1_000 }] },
    scales: {
      ...{ up: 1_000, down: 0, refused: 0, unknown: 0, outside: 0, added: 4_000, removed: 0 },
      largest: [{ namespace: "shop", name: "web", from: 4, to: 90 }],
    },
  }),
);
const alarm = {
  source: "aws.cloudwatch",
  "detail-type": "CloudWatch Alarm State Change",
  time: "2026-03-01T12:00:00Z",
  detail: {
    alarmName: "tidemark-prod-AutoscalerProblems",
    state: { value: "ALARM", reason: "Threshold Crossed" },
    configuration: { description: "Autoscalers have been at their maximum for 15 minutes" },
  },
};

/** The fields that each service documents for such a message; any other field is refused. */
const SLACK = z.strictObject({
  text: z.string().max(4_000),
  blocks: z.tuple([
    z.strictObject({
      type: z.literal("section"),
      text: z.strictObject({
        type: z.literal("plain_text"),
        text: z.string().min(1).max(3_000),
        emoji: z.boolean(),
      }),
    }),
  ]),
});
const TEAMS = z.strictObject({
  type: z.literal("message"),
  attachments: z.tuple([
    z.strictObject({
      contentType: z.literal("application/vnd.microsoft.card.adaptive"),
      content: z.strictObject({
        $schema: z.url(),
        type: z.literal("AdaptiveCard"),
        version: z.string(),
        body: z.tuple([
          z.strictObject({
            type: z.literal("RichTextBlock"),
            inlines: z.tuple([z.strictObject({ type: z.literal("TextRun"), text: z.string() })]),
          }),
        ]),
      }),
    }),
  ]),
});
const RESOLVED = z.strictObject({
  event_action: z.literal("resolve"),
  dedup_key: z.string().max(255),
});
const PAGER_DUTY = z.strictObject({
  event_action: z.enum(["trigger", "acknowledge", "resolve"]),
  dedup_key: z.string().max(255),
  payload: z.strictObject({
    summary: z.string().min(1).max(1_024),
    source: z.string().min(1),
    severity: z.enum(["critical", "error", "warning", "info"]),
    timestamp: z.iso.datetime(),
  }),
});
const GRAFANA = z.strictObject({
  time: z.int(),
  text: z.string(),
  tags: z.array(z.string()),
});
const MAIL = z.strictObject({ id: z.string(), time: z.iso.datetime(), text: z.string() });

const SENTENCE =
  'shop/web in eu-1: 4 → 9. up"}, {"text": "<!channel> [click](http://evil)\\u{202e}. Why: tidemark explain shop/web --cluster eu-1 --at 2026-03-01T12:00:00.000Z';

describe("the targets of people", () => {
  it.each([
    ["SlackRule", SLACK, scale(), { blocks: [{ text: { text: SENTENCE } }] }],
    [
      "TeamsRule",
      TEAMS,
      scale(),
      {
        attachments: [{ content: { body: [{ inlines: [{ text: SENTENCE }] }] } }],
      },
    ],
    ["PagerDutyRule", PAGER_DUTY, alarm, { dedup_key: "tidemark-prod-AutoscalerProblems" }],
    [
      "GrafanaRule",
      GRAFANA,
      scale(),
      {
        ...{ time: NOON, text: SENTENCE },
        tags: ["tidemark", "eu-1", "shop", "web", "up"],
      },
    ],
    ["MailRule", MAIL, scale({ outcome: "refused", detail: "over quota" }), undefined],
    [
      "PagerDutyBeganRule",
      PAGER_DUTY,
      notice({ kind: "atMax" }),
      {
        ...{ event_action: "trigger", dedup_key: "atMax eu-1/shop/web" },
        payload: { source: "eu-1/shop/web", timestamp: "2026-03-01T12:00:00.000Z" },
      },
    ],
    [
      "PagerDutyEndedRule",
      RESOLVED,
      notice({ kind: "atMax", phase: "ended" }),
      { dedup_key: "atMax eu-1/shop/web" },
    ],
    [
      "SlackRule",
      SLACK,
      notice(),
      {
        blocks: [
          {
            text: {
              text: expect.stringContaining(
                'held for 5 minutes by up"}, {"text": "<!channel> [click](http://evil)\\u{202e} (R). Why: tidemark explain',
              ),
            },
          },
        ],
      },
    ],
  ] as const)(
    "get by %s what their service documents, whatever a tenant wrote",
    async (rule, form, one, shown) => {
      const message = await send(rule, one);
      expect(form.parse(message)).toEqual(message);
      if (shown) expect(message).toMatchObject(shown);
      else expect(MAIL.parse(message).text).toContain("4 → 9 was refused: over quota.");
    },
  );

  it.each([
    ["SlackRule", scale({ from: 4, to: 5 })],
    ["SlackRule", { ...scale(), detail: { ...(scale().detail as object), storm: true } }],
    ["TeamsRule", notice({ inStorm: true })],
    ["PagerDutyBeganRule", notice({ kind: "flapBudget" })],
    ["PagerDutyBeganRule", notice({ kind: "atMax", inStorm: true })],
    ["GrafanaRule", scale({ outcome: "refused" })],
    ["MailRule", scale()],
    ["PagerDutyRule", { ...alarm, detail: { ...alarm.detail, alarmName: "other" } }],
    ["PagerDutyRule", { ...alarm, detail: { ...alarm.detail, state: { value: "OK" } } }],
  ] as const)("get nothing by %s of what it does not match", async (rule, one) => {
    expect(await send(rule, one)).toBeUndefined();
  });

  it.each(["SlackRule", "TeamsRule", "MailRule"])(
    "are told of an edit of the fleet by %s",
    async (rule) => {
      expect(JSON.stringify(await send(rule, edit))).toContain(
        "the fleet: freeze by ada. What: tidemark changes --all",
      );
    },
  );

  it.each(["SlackRule", "TeamsRule", "MailRule"])(
    "get by %s one summary of a storm of 1,000 scales",
    async (rule) => {
      expect(JSON.stringify(await send(rule, storm))).toContain(
        "cluster eu-1: 1000 scale events in the minute of 12:00 UTC: 1000 up (+4000); largest shop/web 4 → 90. By namespace: shop 1000. Which: tidemark events --all --cluster eu-1 --since 2026-03-01T12:00:00.000Z --until 2026-03-01T12:00:59.999Z",
      );
    },
  );

  it.each([
    ["cluster", { cluster: [{ prefix: "eu-" }] }, { cluster: [{ prefix: "us-" }] }],
    ["namespace", { namespace: ["shop"] }, { namespace: ["bank"] }],
    ["label", { data: { labels: { team: ["blue"] } } }, { data: { labels: { team: ["red"] } } }],
    ["kind of event", { kind: ["scale"] }, { kind: ["change"] }],
    ["size of step", { step: [{ numeric: [">=", 5] }] }, { step: [{ numeric: [">=", 6] }] }],
  ])("can be narrowed by %s", (_what, wanted, other) => {
    const view = eventView(event({ from: 4, to: 9 }));
    const one = onBus(scaleEventOf(view, { labels: { team: "blue" } }));
    expect(matches({ source: ["tidemark"], detail: wanted }, one)).toBe(true);
    expect(matches({ source: ["tidemark"], detail: other }, one)).toBe(false);
  });

  it("are all that the template has, each by a role that calls these destinations only", () => {
    const rules = Object.keys(Resources).filter((name) => name.endsWith("Rule"));
    expect(rules).toEqual([
      ...["SlackRule", "TeamsRule", "PagerDutyRule", "PagerDutyBeganRule", "PagerDutyEndedRule"],
      ...["GrafanaRule", "MailRule"],
    ]);
    expect(JSON.stringify(Resources["Caller"])).toContain('"Action":"events:InvokeApiDestination"');
    expect(JSON.stringify(Resources["Caller"])).not.toContain('"*"');
  });
});
