import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { asList, asObject, type Json } from "../../../lib/rules/model/json.ts";
import { NO_SUCH_FIELD } from "../../../lib/rules/manifest/import/keda/unread-fields.ts";
import { WAYS_OUT } from "../../../lib/rules/manifest/import/keda/ways-out.ts";
import { converted, shapesByType, shapesTable } from "./keda-shapes/outcomes.ts";
import { CARRIED, fieldsTable, imported, OTHER, PUBLISHED } from "./keda-shapes/schema.ts";

const types = Object.entries(PUBLISHED.types);

describe("the triggers that KEDA publishes", () => {
  it("are 79 types, each carried over, or refused with its nearest way out", () => {
    expect(types).toHaveLength(79);
    for (const [type] of types) {
      expect([type, Object.hasOwn(CARRIED, type), WAYS_OUT.has(type)]).toEqual([
        type,
        Object.hasOwn(CARRIED, type),
        !Object.hasOwn(CARRIED, type),
      ]);
      const { manifests, findings } = imported(type, CARRIED[type] ?? { value: "5" });
      const refused = findings.filter(({ severity }) => severity === "lost");
      expect([type, manifests.length, refused.length]).toEqual(
        Object.hasOwn(CARRIED, type) ? [type, 1, 0] : [type, 0, 1],
      );
      if (!Object.hasOwn(CARRIED, type))
        expect(refused[0]?.message).toContain(`no source for the type "${type}": `);
    }
    expect([...WAYS_OUT.keys()].filter((type) => !Object.hasOwn(PUBLISHED.types, type))).toEqual(
      [],
    );
  });

  it.each(types.filter(([type]) => Object.hasOwn(CARRIED, type)))(
    "%s: each field is carried over, noted or refused by its name",
    (type, { fields, fromEnv = [] }) => {
      const base = CARRIED[type] ?? {};
      const whole = JSON.stringify(imported(type, base));
      const all = [...fields, ...fromEnv.map((field) => `${field}FromEnv`)];
      expect(all.length).toBeGreaterThan(2);
      const silent = all.filter(
        (field) =>
          JSON.stringify(imported(type, { ...base, [field]: OTHER[field] ?? "7" })) === whole,
      );
      expect(silent).toEqual([]);
    },
  );

  it("counts the items of a list where a location ends with .#", () => {
    const { manifests } = imported("metrics-api", {
      ...CARRIED["metrics-api"],
      valueLocation: "data.jobs.#",
    });
    expect(manifests[0]).toMatchObject({
      spec: { metrics: [{ http: { path: "/n", pointer: "/data/jobs", list: "Count" } }] },
    });
  });

  it.each(Object.entries(CARRIED))(
    "%s: a field that KEDA does not have is noted by its name, and is no field that KEDA reads",
    (type, base) => {
      const unread = (metadata: Json) =>
        imported(type, metadata).findings.flatMap(({ of, message }) =>
          message === NO_SUCH_FIELD ? [of] : [],
        );
      const odd = { ...base, unheardOf: "7", "un/heard": "8" };
      expect(unread(odd)).toEqual(
        ["unheardOf", "un/heard"].map((field) => `spec.triggers[0] (${type}): ${field}`),
      );
      expect(imported(type, odd).manifests).toEqual(imported(type, base).manifests);
      const { fields, fromEnv = [] } = PUBLISHED.types[type] ?? { fields: [] };
      for (const field of [...fields, ...fromEnv.map((each) => `${each}FromEnv`)])
        expect(unread({ ...base, [field]: OTHER[field] ?? "7" })).toEqual([]);
    },
  );

  it("with a value that is no text are refused by its name", () => {
    for (const [type, base] of Object.entries(CARRIED)) {
      const { manifests, findings } = imported(type, { ...base, unheardOf: 7 });
      expect([type, manifests]).toEqual([type, []]);
      expect(
        findings.some(({ of = "", severity }) => of.includes("unheardOf") && severity === "lost"),
      ).toBe(true);
    }
    const { findings } = imported("prometheus", { ...CARRIED["prometheus"], threshold: 5 });
    expect(findings).toContainEqual(
      expect.objectContaining({
        of: "spec.triggers[0] (prometheus): threshold",
        severity: "lost",
        message: "it must be a text: write it in quotes",
      }),
    );
  });
});

describe("ScaledObjects in the shapes that people write", () => {
  it("come over whole, four of five", () => {
    const shapes = shapesByType();
    const sum = (of: (each: (typeof shapes)[number]) => number) =>
      shapes.reduce((total, each) => total + of(each), 0);
    expect(sum(({ objects }) => objects)).toBeGreaterThan(80);
    expect(sum(({ whole }) => whole) / sum(({ objects }) => objects)).toBeGreaterThanOrEqual(0.8);
  });

  it("and their fields are counted in docs/migrating.md", () => {
    const page = readFileSync(new URL("../../../docs/migrating.md", import.meta.url), "utf8");
    expect(page).toContain(shapesTable());
    expect(page).toContain(fieldsTable());
  });

  it("keep no text of metadata that KEDA does not read, and say so", () => {
    const { manifests, findings } = imported("prometheus", {
      ...CARRIED["prometheus"],
      metricName: "m",
      metricType: "Value",
    });
    expect(JSON.stringify(manifests)).not.toContain('"m"');
    expect(manifests[0]).toMatchObject({ spec: { metrics: [{ measure: "Average" }] } });
    expect(findings.map(({ of, severity }) => [of, severity])).toEqual(
      expect.arrayContaining(
        ["metricName", "metricType"].map((field) => [
          `spec.triggers[0] (prometheus): ${field}`,
          "without effect",
        ]),
      ),
    );
  });

  const queryOf = (type: string, metadata: Json): unknown => {
    const { manifests } = imported(type, { ...CARRIED[type], ...metadata });
    return asObject(asObject(asList(asObject(manifests[0]?.["spec"])["metrics"])[0])["prometheus"])[
      "query"
    ];
  };

  it("ask for the partitions and the topics that a trigger of Kafka names", () => {
    const limited = { allowIdleConsumers: "true", topic: "a.b", partitionLimitation: "1, 3-5" };
    expect(queryOf("kafka", limited)).toBe(
      'sum(kafka_consumergroup_lag{consumergroup="g",topic="a.b",partition=~"1|3|4|5"})',
    );
    expect(queryOf("apache-kafka", { allowIdleConsumers: "true", topic: "a.b,c" })).toBe(
      String.raw`sum(kafka_consumergroup_lag{consumergroup="g",topic=~"a\\.b|c"})`,
    );
    for (const text of ["1-", "x", "0-999999", "5-1"])
      expect(queryOf("kafka", { partitionLimitation: text })).toBeUndefined();
  });

  const refusedIn = (type: string, metadata: Json) =>
    imported(type, metadata).findings.flatMap(({ of, severity }) =>
      severity === "lost" ? [of?.split(": ").at(-1)] : [],
    );

  it("ask for no series of everybody where the field that names theirs is not written", () => {
    expect(refusedIn("kafka", { lagThreshold: "50" })).toEqual(["consumerGroup"]);
    expect(refusedIn("rabbitmq", { host: "amqp://r" })).toEqual(["queueName"]);
    expect(refusedIn("redis-sentinel", {})).toEqual(["listName"]);
    expect(refusedIn("redis-sentinel-streams", { pendingEntriesCount: "5" })).toEqual([
      "stream",
      "consumerGroup",
    ]);
  });

  it("come over with a flag that is off, as it is by default", () => {
    const flags = ["excludePersistentLag", "ensureEvenDistributionOfPartitions"];
    const off = Object.fromEntries(flags.map((flag) => [flag, "false"]));
    expect(imported("kafka", { ...CARRIED["kafka"], ...off }).manifests).toEqual(
      imported("kafka", CARRIED["kafka"] ?? {}).manifests,
    );
    const on = Object.fromEntries(flags.map((flag) => [flag, "true"]));
    expect(refusedIn("kafka", { ...CARRIED["kafka"], ...on })).toEqual(flags);
  });

  it("count of a RabbitMQ what KEDA counts by the protocol of its host", () => {
    const series = (metadata: Json) =>
      /rabbitmq_\w+/.exec(String(queryOf("rabbitmq", metadata)))?.[0];
    for (const host of ["amqp://guest:guest@r:5672/", "amqps://r/shop"])
      expect(series({ host })).toBe("rabbitmq_queue_messages_ready");
    expect(series({ host: "amqp://r", protocol: "http" })).toBe("rabbitmq_queue_messages");
    expect(series({ host: "https://r/%2F" })).toBe("rabbitmq_queue_messages");
    const unknown = imported("rabbitmq", { queueName: "q", hostFromEnv: "AMQP_URL" });
    expect(unknown.findings.map(({ of }) => of)).toContain("spec.triggers[0] (rabbitmq): protocol");
    const known = imported("rabbitmq", { queueName: "q", host: "amqp://r" });
    expect(known.findings.map(({ of }) => of)).not.toContain(
      "spec.triggers[0] (rabbitmq): protocol",
    );
  });

  it("refuse what a template has in the place of a queue or an address", () => {
    expect(refusedIn("aws-sqs-queue", { queueURL: "<jobs-url>" })).toContain("queueURL");
    for (const serverAddress of ["{{ .Values.prometheus }}", "<server>", "prometheus"]) {
      const { manifests, findings } = imported(
        "prometheus",
        { ...CARRIED["prometheus"], serverAddress },
        { named: {}, discovered: true },
      );
      expect(manifests).toEqual([]);
      expect(findings.map(({ message }) => message)).toContain(
        `"${serverAddress}" is no URL: write the values into the template first, or name a registered source with --source prometheus-0=NAME`,
      );
    }
  });

  it("have no metricType in a formula, which has one of its own", () => {
    const metadata = CARRIED["prometheus"];
    const formulaOf = (scalingModifiers: Json, more: Json) =>
      converted({
        apiVersion: "keda.sh/v1alpha1",
        kind: "ScaledObject",
        metadata: { name: "web", namespace: "shop" },
        spec: {
          scaleTargetRef: { name: "web" },
          advanced: { scalingModifiers },
          triggers: [{ type: "prometheus", name: "load", metadata, ...more }],
        },
      });
    const whole = formulaOf({ formula: "load * 2", target: "3" }, {});
    const typed = formulaOf({ formula: "load * 2", target: "3" }, { metricType: "Value" });
    expect(typed.manifests).toEqual(whole.manifests);
    expect(typed.manifests).toHaveLength(1);
    expect(typed.findings.map(({ of }) => of)).toContain(
      "spec.triggers[0] (prometheus): metricType",
    );
    expect(formulaOf({ formula: "load * 2" }, {}).findings).toContainEqual(
      expect.objectContaining({
        of: "spec.advanced.scalingModifiers.target",
        severity: "lost",
      }),
    );
  });

  it("are read of an object of KEDA 1, too, which names its Deployment otherwise", () => {
    const raw = {
      apiVersion: "keda.k8s.io/v1alpha1",
      kind: "ScaledObject",
      metadata: { name: "web", namespace: "shop", labels: { deploymentName: "api" } },
      spec: {
        scaleTargetRef: { deploymentName: "api" },
        triggers: [{ type: "prometheus", metadata: CARRIED["prometheus"] }],
      },
    };
    const { manifests, findings } = converted(raw);
    expect(manifests[0]).toMatchObject({
      spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "api" } },
    });
    expect(findings.map(({ of }) => of)).toContain("apiVersion");
    expect(converted({ ...raw, apiVersion: "keda.sh/v1alpha1" }).manifests).toEqual([]);
  });

  it("have the target that RabbitMQ reads as queueLength, and not beside a mode", () => {
    const old = { queueName: "q", host: "http://r/%2F", queueLength: "50" };
    const only = (metadata: Json) =>
      imported("rabbitmq", metadata).manifests.flatMap(({ spec }) =>
        asList(asObject(spec)["metrics"]),
      );
    expect(only(old)).toEqual([expect.objectContaining({ target: 50 })]);
    expect(only({ ...old, mode: "QueueLength" })).toEqual([]);
  });

  it("count a queue whose URL has no account in the account of the source, and say so", () => {
    const { manifests, findings } = imported("aws-sqs-queue", {
      queueURL: "https://sqs.eu-west-1.amazonaws.com/123456789/orders",
    });
    const [metric] = asList(asObject(manifests[0]?.["spec"])["metrics"]);
    expect(metric).toMatchObject({ sqs: { queue: "orders" } });
    expect(asObject(asObject(metric)["sqs"])).not.toHaveProperty("accountId");
    expect(findings.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('"123456789" is no account of 12 digits'),
    );
  });

  it("ask by the parameters of their URL, which belong to the source", () => {
    const asked = (search: string) => ({ ...CARRIED["metrics-api"], url: `https://a/n${search}` });
    const { findings, manifests } = imported("metrics-api", asked("?node=one&x=2"));
    expect(manifests).toHaveLength(1);
    expect(findings.map(({ message }) => message)).toContain(
      "its parameters belong to the source: --parameter node, x",
    );
    expect(imported("metrics-api", asked("?node=one&node=two")).manifests).toEqual([]);
  });
});
