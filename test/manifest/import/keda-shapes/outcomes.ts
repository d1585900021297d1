import { importObjects } from "../../../../lib/rules/manifest/import/import-objects.ts";
import { asList, asObject, type Json } from "../../../../lib/rules/model/json.ts";
import { scaledObjectOf, SHAPES } from "./shapes.ts";

/** Types that are asked of a Prometheus with the series of an exporter. */
const BY_EXPORTER = {
  kafka: "main",
  "apache-kafka": "main",
  rabbitmq: "main",
  "nats-jetstream": "main",
  "azure-servicebus": "main",
  "gcp-pubsub": "main",
};

/** What `convert --source auto`, with `--source kafka=main` and so on, makes of an object. */
export const converted = (raw: Json, named: Readonly<Record<string, string>> = BY_EXPORTER) =>
  importObjects(
    { hpas: [], watermarks: [], scaledObjects: [raw], sources: { named, discovered: true } },
    "native",
  );

/**
 * How many of these shapes came over whole before languages had lines, sources had places, and
 * exporters had recipes: counted once, by the conversion of that time.
 */
const BEFORE: Readonly<Record<string, number>> = {
  prometheus: 16,
  "aws-sqs-queue": 5,
  "aws-cloudwatch": 1,
  cpu: 4,
  memory: 1,
  cron: 3,
  "metrics-api": 3,
};

interface ShapesOfType {
  readonly type: string;
  readonly objects: number;
  readonly whole: number;
  readonly fields: readonly string[];
  /** What keeps the others from coming over. */
  readonly refused: readonly string[];
}

export const shapesByType = (): readonly ShapesOfType[] => {
  const all = SHAPES.map((shape, at) => {
    // An object that was read has no fields without a value.
    const raw = JSON.parse(JSON.stringify(scaledObjectOf(shape, at))) as Json;
    const { manifests, findings } = converted(raw);
    const lost = findings.filter(({ severity }) => severity === "lost");
    return { type: shape.type, raw, isWhole: manifests.length === 1, lost };
  });
  return [...Map.groupBy(all, ({ type }) => type)].map(([type, of]) => ({
    type,
    objects: of.length,
    whole: of.filter(({ isWhole }) => isWhole).length,
    fields: [...new Set(of.flatMap(({ raw }) => fieldsOf(raw, type)))].sort(),
    refused: [
      ...new Set(of.flatMap(({ lost }) => lost.map(({ of: place = "" }) => fieldOf(place)))),
    ],
  }));
};

const fieldsOf = (raw: Json, type: string): readonly string[] =>
  asList(asObject(raw["spec"])["triggers"])
    .map(asObject)
    .filter((trigger) => trigger["type"] === type)
    .flatMap(({ metadata }) => Object.keys(asObject(metadata)));

/** "spec.triggers[0] (kafka): topic" is the field `topic`, and without a field the type. */
const fieldOf = (place: string): string => {
  const [, type = place, field] = /\((.+?)\)(?:: (.+))?$/.exec(place) ?? [];
  return field ?? type;
};

const percent = (part: number, whole: number): string => `${Math.round((100 * part) / whole)} %`;
const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

/** A row for each type: for docs/migrating.md. */
export const shapesTable = (): string => {
  const types = shapesByType();
  const sum = (of: (each: ShapesOfType) => number) =>
    types.reduce((total, each) => total + of(each), 0);
  const [objects, before, now] = [
    sum((each) => each.objects),
    sum(({ type }) => BEFORE[type] ?? 0),
    sum((each) => each.whole),
  ];
  return [
    "| type | objects | whole before | whole now | their fields | refused for |",
    "|---|---|---|---|---|---|",
    ...types.map(
      ({ type, objects: count, whole, fields, refused }) =>
        `| \`${type}\` | ${count} | ${BEFORE[type] ?? 0} | ${whole} | ${code(fields)} | ${code(refused)} |`,
    ),
    `| all | ${objects} | ${before} (${percent(before, objects)}) | ${now} (${percent(now, objects)}) | | |`,
  ].join("\n");
};
