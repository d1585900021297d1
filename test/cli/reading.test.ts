import { stripVTControlCharacters } from "node:util";
import { parse as parseCsv } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { type Folder, type Said, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
const run = (...args: readonly string[]): Promise<Said> => inside([...args, "--data", folder.data]);
const printed = async (...args: readonly string[]): Promise<string> => {
  const { code, out, err } = await run(...args);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out;
};

beforeAll(async () => {
  folder = await shopInMemory();
});
afterAll(() => folder.remove());

describe("tidemark get", () => {
  it("prints a table, ages by the folder's clock", async () => {
    expect(await printed("get")).toBe(
      [
        "CLUSTER   NAMESPACE   NAME   TARGETS         MIN   MAX   CURRENT     DESIRED     STATE     SYNCED",
        "eu-1      infra       web    <unknown>/60%   2     10    <unknown>   <unknown>   waiting   no run",
        "eu-1      shop        api    <unknown>/60%   2     10    3           3           failing   no run",
        "eu-1      shop        late   <unknown>/60%   2     10    <unknown>   <unknown>   waiting   no run",
        "eu-1      shop        web    40%/60%         2     10    9           9           limited   no run",
        "us-1      batch       jobs   <unknown>/60%   2     10    <unknown>   <unknown>   waiting   never",
        "",
      ].join("\n"),
    );
  });

  it("says where a kind is found that is none of its own", async () => {
    expect((await run("get", "pods")).err).toBe(
      'error: Cannot find autoscaler "pods": no object has that name\nnote: Tidemark keeps autoscalers only: kubectl get pods\n',
    );
    expect((await run("get", "scaledobjects")).err).toContain(
      "note: tidemark import --kubeconfig FILE",
    );
    expect((await run("get", "metricsources")).err).toContain(
      "note: tidemark source list shows the metric sources",
    );
    expect((await run("get", "clusters")).err).toContain(
      "note: tidemark cluster list shows the clusters",
    );
    expect((await run("describe", "cluster", "eu-1")).err).toContain(
      "note: tidemark cluster list shows the clusters",
    );
    expect((await run("get", "events")).err).toContain(
      "note: tidemark events --all lists the scale events",
    );
    expect((await run("get", "overrides")).err).toContain("note: tidemark override list");
    expect((await run("get", "hpas")).code).toBe(0);
  });

  it("prints one autoscaler, and a namespace without any", async () => {
    expect((await printed("get", "shop/web")).split("\n")).toHaveLength(3);
    expect(await run("get", "-n", "nowhere")).toEqual({
      code: 0,
      out: "",
      err: 'No autoscalers in namespace "nowhere"\n',
    });
  });

  it("prints the same as JSON and as YAML, a list as a List of objects", async () => {
    const json: {
      readonly kind: string;
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    } = JSON.parse(await printed("get", "-o", "json"));
    expect(json.items.map(({ metadata }) => metadata.name)).toEqual([
      "web",
      "api",
      "late",
      "web",
      "jobs",
    ]);
    expect(parseYaml(await printed("get", "-o", "yaml"))).toEqual(json);
    expect(JSON.parse(await printed("get", "api", "-o", "json"))).toEqual(json.items[1]);
  });
});

describe("colours", () => {
  it("change nothing but the colours", async () => {
    const args = ["events", "--all", "--since", "1h", "--data", folder.data];
    const [plain, coloured] = [await inside(args), await inside(args, { colours: true })];
    expect(coloured.out).not.toBe(plain.out);
    expect(stripVTControlCharacters(coloured.out)).toBe(plain.out);
  });

  it("never reach what programs read", async () => {
    for (const format of ["json", "yaml", "jsonl", "csv"]) {
      const { out } = await inside(
        ["events", "--all", "-o", format, "--since", "1h", "--data", folder.data],
        { colours: true },
      );
      expect(out).not.toContain("\u001b");
    }
  });
});

describe("tidemark describe", () => {
  it("prints one autoscaler with its windows, conditions and events", async () => {
    expect(await printed("describe", "shop/web")).toBe(`Name:                 web
Namespace:            shop
Cluster:              eu-1
UID:                  uid-3
Generation:           1
Created:              2026-03-01T11:00:00Z (60m ago)
Updated:              2026-03-01T11:00:00Z (60m ago) by ada
Dialect:              hpa
Reference:            Deployment/web
State:                limited by stabilization
Paused:               no
Metrics (current / target):
  cpu resource utilization (percentage of request):   40% / 60%
Min replicas:         2
Max replicas:         10
Behavior:
  scaleUp:
    stabilizationWindowSeconds: 0
    selectPolicy: Max
    policies:
      - type: Pods
        value: 4
        periodSeconds: 60
  scaleDown:
    stabilizationWindowSeconds: 300
    selectPolicy: Max
    policies:
      - type: Percent
        value: 100
        periodSeconds: 15
Deployment replicas:  9 current / 9 desired
Last scale:           2026-03-01T11:59:15Z (45s ago)
Last decision:        hold at 9: ScaleDownStabilized: recent recommendations were higher than current one, applying the highest recent recommendation (15s ago)
Data as of:           2026-03-01T11:59:45Z (15s ago)
Windows:
  Recommendations: 9 (6m40s to 3m20s ago), 6 (3m5s to 15s ago)
  Scale up stabilization 0s: holds nothing
  Scale down stabilization 5m: held at 9 until 2026-03-01T12:01:40Z (in 100s)
  Scale up rate 4 pods in 60s: 3 added, 0 removed
    +3 45s ago, leaves in 15s
  Scale down rate 100 percent in 15s: 0 added, 0 removed
Pods:
  cpu resource utilization (percentage of request):   9 pods match, 9 belong to the target, 9 counted, oldest sample 21 s
Conditions:
  Type          Status   Since   Reason                Message
  AbleToScale   True     15m     ScaleDownStabilized   recent recommendations were higher
Events:
  Time                   Age    From   To   Reason    Outcome   Message
  2026-03-01T10:00:00Z   120m   2      4    ScaleUp   applied   cpu resource utilization (percentage of request) above target
  2026-03-01T11:10:00Z   50m    4      6    ScaleUp   refused   cpu resource utilization (percentage of request) above target; the server said: forbidden
  2026-03-01T11:59:15Z   45s    6      9    ScaleUp   applied   cpu resource utilization (percentage of request) above target
Last 30 minutes:
   load  cpu of 60%; highest 0.67 times the target, which is the dashed line
      1 ┤╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
        ┤                                                                    ███
        ┤                                                                    ███
   pods  highest 9; ○ wanted by the metrics
      9 ┤                                                                    ███
        ┤                                                                    ███
        ┤                                                                    ███
held by  ····································································sss
  marks                                                                       ▲
        └┬──────────────────────┬───────────────────────┬──────────────────────┬
         11:30                  11:40                   11:50
         s stabilization   ▲ scaled up
`);
  });

  it("says what is not known yet", async () => {
    const sheet = await printed("describe", "jobs");
    for (const line of [
      "Metrics (current / target):\n  cpu resource:   <unknown> / 60%",
      "Deployment replicas:  not known yet",
      "Last scale:           never",
      "Last decision:        none yet",
      "Data as of:           no sync has completed yet",
      "  Recommendations: none",
      "Conditions:\n  <none>",
    ]) {
      expect(sheet).toContain(line);
    }
  });

  it("prints the same as JSON and as YAML", async () => {
    const object: { readonly status: { readonly events: readonly object[] } } = JSON.parse(
      await printed("describe", "shop/web", "-o", "json"),
    );
    expect(object).toMatchObject({
      metadata: { name: "web" },
      status: {
        state: "limited",
        behavior: { scaleUp: { selectPolicy: "Max" } },
        windows: { stabilization: [{}, { held: { replicas: 9 } }] },
      },
    });
    expect(object.status.events).toHaveLength(3);
    expect(parseYaml(await printed("describe", "shop/web", "-o", "yaml"))).toEqual(object);
  });
});

describe("tidemark explain", () => {
  it("prints metrics, steps, windows and what would lead elsewhere", async () => {
    expect(await printed("explain", "shop/web")).toBe(`Name:       web
Namespace:  shop
Cluster:    eu-1
Evaluated:  2026-03-01T11:59:45Z (15s ago)
Outcome:    hold at 9
Reason:     ScaleDownStabilized: recent recommendations were higher than current one, applying the highest recent recommendation
Metrics:
  Metric                                             Value   Target   Ratio   Proposes
  cpu resource utilization (percentage of request)   40%     60%      0.667   6
    9 pods match, 9 belong to the target, 9 counted, oldest sample 21 s
Steps:
  propose     9 -> 6
  stabilize   6 -> 9   ScaleDownStabilized 9: 9 was recommended within 300 s, until 2026-03-01T12:01:40Z (in 115s)
Windows:
  Recommendations: 9 (6m25s to 3m5s ago), 6 (2m50s to 0s ago)
  Scale up stabilization 0s: holds nothing
  Scale down stabilization 5m: held at 9 until 2026-03-01T12:01:40Z (in 115s)
  Scale up rate 4 pods in 60s: 3 added, 0 removed
    +3 30s ago, leaves in 30s
  Scale down rate 100 percent in 15s: 0 added, 0 removed
For another outcome:
  cpu resource utilization (percentage of request) is at 40.6% against 60% and asks for 6: from 54% it would ask for no fewer than 9
  Stabilization holds 9 until 2026-03-01T12:01:40Z: then it allows 6, if the recommendations stay as they are
`);
  });

  it.each(["20s", "2026-03-01T11:59:40Z"])(
    "goes back to --at %s, says which evaluation it shows, and states no window that is not stored any more",
    async (time) => {
      const sheet = await printed("explain", "shop/web", "--at", time);
      expect(sheet).toContain(
        "Evaluated:  2026-03-01T11:59:00Z (60s ago)\nShown:      the nearest stored evaluation, 40s before\nOutcome:    hold at 9\nReason:     Earlier: an earlier sync\n",
      );
      // Rates are counted from the scale events; what was recommended was kept by the page, which
      // has moved on.
      expect(sheet).toContain(
        "Windows:\n  Scale up rate 4 pods in 60s: 0 added, 0 removed\n  Scale down rate 100 percent in 15s: 0 added, 0 removed\n  Not stored any more: recommendations, stabilization\nFor another",
      );
    },
  );

  it("prints JSON with -o json", async () => {
    expect(JSON.parse(await printed("explain", "api", "-o", "json"))).toMatchObject({
      name: "api",
      decision: { kind: "hold", failed: true, reason: "FailedGetResourceMetric" },
      otherwise: [
        "No decision is possible until a metric can be read: cpu resource utilization (percentage of request)",
      ],
    });
  });
});

describe("tidemark events", () => {
  it("prints a table, oldest first", async () => {
    expect(await printed("events", "--all", "--since", "1h")).toBe(
      [
        "TIME                   AGE   CLUSTER   NAMESPACE   NAME   FROM   TO   REASON    OUTCOME   MESSAGE",
        "2026-03-01T11:10:00Z   50m   eu-1      shop        web    4      6    ScaleUp   refused   cpu resource utilization (percentage of request) above target; the server said: forbidden",
        "2026-03-01T11:59:00Z   60s   us-1      batch       jobs   1      2    ScaleUp   unknown   cpu resource utilization (percentage of request) above target",
        "2026-03-01T11:59:15Z   45s   eu-1      shop        web    6      9    ScaleUp   applied   cpu resource utilization (percentage of request) above target",
        "",
      ].join("\n"),
    );
    expect(await run("events", "api")).toEqual({ code: 0, out: "", err: "No scale events\n" });
  });

  it("prints one JSON object a line, with id, at, cluster, namespace, name, from, to, reason and outcome", async () => {
    const lines = (await printed("events", "shop/web", "-o", "jsonl")).trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      id: "uid-3:1",
      at: "2026-03-01T10:00:00.000Z",
      cluster: "eu-1",
      namespace: "shop",
      name: "web",
      from: 2,
      to: 4,
      reason: "ScaleUp",
      outcome: "applied",
    });
  });

  it("prints the same events in every format", async () => {
    const all = async (format: string): Promise<string> =>
      printed("events", "--all", "-o", format, "--since", "1h");
    const lines: readonly { readonly id: string; readonly to: number }[] = (await all("jsonl"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ id }) => id)).toEqual(["uid-3:2", "uid-7:1", "uid-3:3"]);
    const list = { apiVersion: "v1", kind: "List", items: lines };
    expect(JSON.parse(await all("json"))).toEqual(list);
    expect(parseYaml(await all("yaml"))).toEqual(list);
    const rows: readonly Record<string, string>[] = parseCsv(await all("csv"), { columns: true });
    expect(rows.map(({ id, to, detail }) => [id, to, detail])).toEqual([
      ["uid-3:2", "6", "the server said: forbidden"],
      ["uid-7:1", "2", ""],
      ["uid-3:3", "9", ""],
    ]);
  });

  it.each([
    ["jsonl", ""],
    ["json", '{\n"apiVersion": "v1",\n"kind": "List",\n"items": []\n}\n'],
    ["yaml", "apiVersion: v1\nkind: List\nitems: []\n"],
    [
      "csv",
      "id,at,settledAt,cluster,namespace,name,targetKind,targetName,from,to,reason,outcome,specGeneration,message,detail\n",
    ],
  ])("prints no events as %s that can still be parsed", async (format, text) => {
    expect(await printed("events", "api", "-o", format)).toBe(text);
  });
});

describe("tidemark cluster", () => {
  it("lists clusters and describes one", async () => {
    expect(await printed("cluster", "list")).toBe(
      `NAME   CONNECTION   PERIOD   PARTITIONS   PAUSED   STATE            DECIDED   SYNCED
eu-1   kubeconfig   15s      1            no       partly failing   100%      15s ago
us-1   kubeconfig   15s      1            no       never synced     0%        never
`,
    );
    expect(await printed("cluster", "describe", "eu-1")).toBe(`Name:         eu-1
State:        partly failing
Error:        autoscaler "shop/api": no metrics returned from resource metrics API
Version:      1
Connection:   kubeconfig
  path:       /kube/config
Kubernetes:   unknown; tidemark cluster check eu-1 asks for it
Decided:      100 % of due syncs in 24 h, 100 % in 1 h, 100 % in 15 min
Sync period:  15s
Paused:       no
Partitions:
  Name      Namespaces   State            Synced
  default   all others   partly failing   15s ago
Controller settings:
  tolerance: 0.1
  downscale stabilization: 300s
  CPU initialization period: 300s
  initial readiness delay: 30s
  HPA version: 1.37
`);
  });
});
