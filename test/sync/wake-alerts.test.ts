import { describe, expect, it } from "vitest";
import { WAKE } from "../../lib/answers/api/input-schemas.ts";
import { alertPayload, wakesOfAlerts } from "../../lib/stack/plan/wake-alerts.ts";

const alert = (labels: Readonly<Record<string, string>>, status = "firing") => ({
  status,
  labels: { alertname: "QueueFills", ...labels },
  annotations: { summary: "much" },
  startsAt: "2026-11-21T12:00:00Z",
  fingerprint: "c0ffee",
});

/** As Alertmanager 0.28 posts it. */
const ALERTMANAGER = {
  version: "4",
  groupKey: '{}:{alertname="QueueFills"}',
  truncatedAlerts: 0,
  status: "firing",
  receiver: "tidemark",
  groupLabels: { alertname: "QueueFills" },
  commonLabels: { alertname: "QueueFills" },
  commonAnnotations: {},
  externalURL: "http://alertmanager:9093",
  alerts: [
    alert({ cluster: "eu-1", namespace: "shop", autoscaler: "web" }),
    alert({ cluster: "eu-1", namespace: "shop", autoscaler: "api" }),
    alert({ cluster: "eu-2" }),
    alert({ cluster: "eu-3" }, "resolved"),
  ],
};

/** As Grafana 12 posts it: the same, with fields of its own. */
const GRAFANA = {
  receiver: "tidemark",
  status: "firing",
  orgId: 1,
  title: "[FIRING:1] QueueFills",
  state: "alerting",
  message: "**Firing**",
  alerts: [
    {
      ...alert({ cluster: "eu-1", namespace: "shop", grafana_folder: "shop" }),
      values: { A: 3 },
      dashboardURL: "",
      panelURL: "",
    },
  ],
};

const wakesOf = (body: unknown) => wakesOfAlerts(alertPayload.parse(body).alerts);

describe("the payload of", () => {
  it("Alertmanager wakes each place once, with the autoscalers of its firing alerts", () => {
    expect(wakesOf(ALERTMANAGER)).toEqual([
      { cluster: "eu-1", namespace: "shop", names: ["web", "api"], reason: "alert QueueFills" },
      { cluster: "eu-2", reason: "alert QueueFills" },
    ]);
  });

  it("Grafana wakes what its labels name", () => {
    expect(wakesOf(GRAFANA)).toEqual([
      { cluster: "eu-1", namespace: "shop", reason: "alert QueueFills" },
    ]);
  });
});

describe("an alert", () => {
  it("that names no autoscaler wakes the whole namespace, also beside one that does", () => {
    const alerts = [
      alert({ cluster: "eu-1", namespace: "shop", autoscaler: "web" }),
      alert({ cluster: "eu-1", namespace: "shop" }),
    ];
    expect(wakesOf({ alerts })).toEqual([
      { cluster: "eu-1", namespace: "shop", reason: "alert QueueFills" },
    ]);
  });

  it.each([
    [
      "without the label cluster",
      [alert({ namespace: "shop" })],
      ["alerts", 0, "labels", "cluster"],
    ],
    ["with a cluster of blanks", [alert({ cluster: "eu 1" })], ["alerts", 0, "labels", "cluster"]],
    [
      "beside a hundred others",
      Array.from({ length: 101 }, () => alert({ cluster: "eu-1" })),
      ["alerts"],
    ],
  ])("%s is refused with its field", (_what, alerts, path) => {
    expect(alertPayload.safeParse({ alerts }).error?.issues[0]?.path).toEqual(path);
  });
});

describe("the body of a wake", () => {
  it.each([
    [{ cluster: "eu 1" }, ["cluster"]],
    [{ cluster: "a".repeat(64), namespace: "b c" }, ["cluster", "namespace"]],
    [{ cluster: "eu-1", names: [] }, ["names"]],
    [{ cluster: "eu-1", names: ["web", "a\u202e"] }, ["names.1"]],
    [{ names: ["web"] }, ["cluster"]],
    [{ cluster: "eu 1", replicas: 900 }, ["cluster", ""]],
  ])("%j is refused with each fault once", (body, fields) => {
    const { issues = [] } = WAKE.safeParse(body, { reportInput: true }).error ?? {};
    expect(issues.map(({ path }) => path.join("."))).toEqual(fields);
  });
});
