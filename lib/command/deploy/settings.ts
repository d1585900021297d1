import * as z from "zod";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parse, type Document, isMap, parseDocument } from "yaml";
import { textOfFile } from "../../embedded/host/text-file.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { nearestName } from "../../rules/model/nearest-name.ts";

/**
 * One parameter of a deployment, as the checkout defines it: its name and default in
 * serverless.yml, its bounds in infra/parameters.yml.
 */
export interface Setting {
  readonly name: string;
  /** What holds where a deployment names no value; an empty text means absent. */
  readonly fallback: string;
  /** The parameter of the template that carries the value, so that the stack shows it. */
  readonly key: string;
  readonly accepts: (value: string) => boolean;
  /** What a value must be, for a message. */
  readonly wanted: string;
}

const YAML_MAX_BYTES = 256 * 1024;
const TEMPLATE = "serverless.yml";
const BOUNDS = "infra/parameters.yml";

const serverless = z.object({
  params: z.object({ default: z.record(z.string(), z.union([z.string(), z.number()])) }),
  provider: z.object({
    stackParameters: z.array(z.object({ ParameterKey: z.string(), ParameterValue: z.string() })),
  }),
});
const bounds = z.object({
  Parameters: z.record(
    z.string(),
    z.object({
      Type: z.string(),
      AllowedPattern: z.string().optional(),
      AllowedValues: z.array(z.union([z.string(), z.number()])).optional(),
      MinValue: z.number().optional(),
      MaxValue: z.number().optional(),
      ConstraintDescription: z.string().optional(),
    }),
  ),
});
type Bounds = z.infer<typeof bounds>["Parameters"][string];

/**
 * Reads the parameters that the checkout in this folder has. Throws `stack.checkout` where the
 * folder holds no checkout.
 */
export const readSettings = (folder: string): readonly Setting[] => {
  if (!existsSync(join(folder, TEMPLATE)) || !existsSync(join(folder, BOUNDS))) {
    const message = `Cannot deploy from "${folder}": it has no ${TEMPLATE}; go to the checkout of the version that you deploy`;
    throw new TidemarkError("stack.checkout", message, { folder });
  }
  const { params, provider } = serverless.parse(yamlOf(join(folder, TEMPLATE)));
  const { Parameters } = bounds.parse(yamlOf(join(folder, BOUNDS)));
  const keys = new Map(
    provider.stackParameters.map(({ ParameterKey, ParameterValue }) => [
      /^\$\{param:(\w+)\}$/.exec(ParameterValue)?.[1],
      ParameterKey,
    ]),
  );
  return Object.entries(params.default).flatMap(([name, fallback]) => {
    const key = keys.get(name);
    const bound = key === undefined ? undefined : Parameters[key];
    // An earlier version has parameters that its template does not carry: they are given to osls,
    // and the stack does not show them.
    return [
      {
        name,
        fallback: String(fallback),
        key: key ?? name,
        ...(bound ? rule(bound) : { accepts: () => true, wanted: "a value" }),
      },
    ];
  });
};

/** Tags of CloudFormation, such as !If, need no meaning here. */
const yamlOf = (file: string): unknown =>
  parse(textOfFile(file, YAML_MAX_BYTES), { logLevel: "error" });

const rule = ({
  Type,
  AllowedPattern,
  AllowedValues,
  MinValue,
  MaxValue,
  ConstraintDescription,
}: Bounds): Pick<Setting, "accepts" | "wanted"> => {
  if (AllowedValues)
    return {
      accepts: (value) => AllowedValues.map(String).includes(value),
      wanted: `one of ${AllowedValues.join(", ")}`,
    };
  if (Type === "Number") {
    const [least, most] = [MinValue ?? 0, MaxValue ?? Number.MAX_SAFE_INTEGER];
    return {
      accepts: (value) =>
        /^\d{1,15}$/.test(value) && Number(value) >= least && Number(value) <= most,
      wanted: `a number from ${least} to ${most}`,
    };
  }
  const pattern = AllowedPattern === undefined ? undefined : new RegExp(`^(?:${AllowedPattern})$`);
  return {
    accepts: (value) => pattern?.test(value) ?? true,
    wanted: (ConstraintDescription ?? "wanted a text").replace(/^wanted /, ""),
  };
};

/** One parameter whose value a deployment changes, or that differs from its default. */
export interface ParameterRow {
  readonly name: string;
  /**
   * Absent where the stack does not say it: there is no stack, or an earlier version did not carry
   * this parameter.
   */
  readonly deployed?: string;
  readonly wanted: string;
  /**
   * `drops` a value that the stack has and the file does not name; `unknown` where the stack does
   * not say its value, and the file names none.
   */
  readonly effect: "same" | "sets" | "drops" | "unknown";
}

/**
 * Compares the values of a file with those that the stack has, by name, in the order of
 * serverless.yml.
 */
export const parameterRows = (
  settings: readonly Setting[],
  values: Readonly<Record<string, string>>,
  deployed: Readonly<Record<string, string>> | undefined,
): readonly ParameterRow[] =>
  settings.map(({ name, key, fallback }) => {
    const wanted = values[name] ?? fallback;
    const present = deployed?.[key];
    if (present === undefined)
      return {
        name,
        wanted,
        effect: deployed === undefined || Object.hasOwn(values, name) ? "sets" : "unknown",
      };
    if (present === wanted) return { name, deployed: present, wanted, effect: "same" };
    return {
      name,
      deployed: present,
      wanted,
      effect: Object.hasOwn(values, name) ? "sets" : "drops",
    };
  });

/** What a file of parameters says of one stack. */
export interface Params {
  readonly stage: string;
  readonly region: string;
  /** By name, only those that the file names. */
  readonly values: Readonly<Record<string, string>>;
  /** The text of the file with the given values in it. Absent where the file has them already. */
  readonly rewritten?: string;
}

const FILE_MAX_BYTES = 64 * 1024;
const STAGE = /^[a-z][a-z0-9-]{0,30}$/;
const REGION = /^[a-z]{2}(-[a-z]+)+-\d$/;
const FIELDS = ["stage", "region", "parameters"];
const EDITS_PER_NAME = 3;

/**
 * Reads a file of parameters, with values that are to be written into it. Throws `stack.params`
 * with a line for each problem: a field or parameter that the checkout does not have, a value
 * outside its bounds, and values that do not go together. Nothing is sent before.
 */
export const readParams = (
  file: string,
  given: Readonly<Record<string, string>>,
  settings: readonly Setting[],
): Params => {
  const document = documentOf(file);
  const before = document.toString();
  if (Object.keys(given).length > 0 && !isMap(document.get("parameters")))
    document.set("parameters", document.createNode({}));
  for (const [name, value] of Object.entries(given)) document.setIn(["parameters", name], value);
  const { stage, region, parameters, ...others } = fieldsOf(file, document);
  const values = valuesOf(parameters);
  const problems = [
    ...Object.keys(others).map(
      (field) => `${field} is no field of it; it has ${FIELDS.join(", ")}`,
    ),
    ...wrongText(
      stage,
      STAGE,
      "stage: write the stage, such as prod: lower case letters, digits and -",
    ),
    ...wrongText(region, REGION, "region: write the AWS region, such as eu-central-1"),
    ...(values === undefined
      ? ["parameters: write a map of names and values"]
      : [...problemsOf(values, settings), ...witnessProblems(values, String(region))]),
  ];
  if (problems.length > 0) throw refused(file, problems);
  const rewritten = document.toString();
  return {
    stage: String(stage),
    region: String(region),
    values: values ?? {},
    ...(rewritten !== before && { rewritten }),
  };
};

/** Each scalar is its text: a name of digits keeps its zeros, and yes stays yes. */
const documentOf = (file: string): Document => {
  const document = parseDocument(textOfFile(file, FILE_MAX_BYTES), {
    schema: "failsafe",
    logLevel: "silent",
  });
  const [mistake] = document.errors;
  if (mistake) throw refused(file, [mistake.message.split("\n")[0] ?? "it is no YAML"]);
  if (!isMap(document.contents))
    throw refused(file, [`it has no fields; write ${FIELDS.join(", ")}`]);
  return document;
};

const wrongText = (value: unknown, form: RegExp, problem: string): readonly string[] =>
  typeof value === "string" && form.test(value) ? [] : [problem];

/**
 * Aliases are refused: a file of parameters needs none, and a few lines of them can name a billion
 * values.
 */
const fieldsOf = (file: string, document: Document): { readonly [field: string]: unknown } => {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (cause) {
    throw refused(file, [String(cause instanceof Error ? cause.message : cause)]);
  }
};

const refused = (file: string, problems: readonly string[]): TidemarkError<"stack.params"> =>
  new TidemarkError(
    "stack.params",
    problems.map((problem) => `Cannot deploy with "${file}": ${problem}`).join("\n"),
    { file },
  );

/** Undefined for anything but a map of names and texts. */
const valuesOf = (parameters: unknown): Readonly<Record<string, string>> | undefined => {
  if (parameters === undefined || parameters === "") return {};
  const read = z.record(z.string(), z.string()).safeParse(parameters);
  return read.success ? read.data : undefined;
};

const problemsOf = (
  values: Readonly<Record<string, string>>,
  settings: readonly Setting[],
): readonly string[] => {
  const known = new Map(settings.map((setting) => [setting.name, setting]));
  const single = Object.entries(values).flatMap(([name, value]) => {
    const setting = known.get(name);
    if (setting === undefined) {
      const nearest = nearestName(name, [...known.keys()], EDITS_PER_NAME);
      const hint =
        nearest === undefined
          ? `it has ${[...known.keys()].join(", ")}`
          : `did you mean ${nearest}?`;
      return [`parameters.${name}: this version has no such parameter; ${hint}`];
    }
    return setting.accepts(value)
      ? []
      : [`parameters.${name} is "${value}": it must be ${setting.wanted}`];
  });
  return single.length > 0
    ? single
    : together((name) => values[name] ?? known.get(name)?.fallback ?? "");
};

/** arn:PARTITION:dynamodb:REGION:ACCOUNT:table/NAME */
const witnessProblems = (
  { witnessTable = "" }: Readonly<Record<string, string>>,
  region: string,
): readonly string[] =>
  witnessTable.split(":")[3] === region
    ? [
        `parameters.witnessTable is in ${region}, the region of the stack: it must be in a third region, in which neither stack is`,
      ]
    : [];

const PAIRS = [
  [
    "stateTable",
    "historyTable",
    "a stack that makes one of its tables anew would meet the numbers of old events",
  ],
  [
    "subnetIds",
    "securityGroupIds",
    "sync runs in a VPC with both, and outside of one with neither",
  ],
  ["alarmOwners", "ownerTopics", "each owner has a topic, in the same order"],
] as const;

/** Combinations that CloudFormation would accept, and that would not work. */
const together = (value: (name: string) => string): readonly string[] => {
  const halves = PAIRS.flatMap(([one, other, why]) => {
    const [missing, present] = value(one) === "" ? [one, other] : [other, one];
    return value(missing) === "" && value(present) !== ""
      ? [`parameters.${missing} is missing beside ${present}: ${why}`]
      : [];
  });
  const [owners, topics] = [value("alarmOwners"), value("ownerTopics")].map(
    (text) => text.split(",").length,
  );
  const unequal = `parameters.alarmOwners has ${owners} owners and ownerTopics ${topics} topics: each owner has a topic, in the same order`;
  const isWithoutStream =
    value("eventBus") !== "" && value("historyTable") !== "" && value("historyStream") === "";
  const stream =
    "parameters.historyStream is missing beside eventBus and historyTable: the stack makes a stream of its own table only; give the ARN of one with new images";
  const isWithoutWitness = value("takeOverAfterMinutes") !== "0" && value("witnessTable") === "";
  const witness =
    "parameters.witnessTable is missing beside takeOverAfterMinutes: without a table in a third region a standby cannot distinguish a region that is down from a network that is down";
  const [reserved, most] = [value("reservedConcurrency"), value("maximumConcurrency")];
  const short = `parameters.reservedConcurrency is ${reserved}: below maximumConcurrency, which is ${most}, Lambda refuses syncs; take a tenth more than ${most}`;
  return [
    ...halves,
    ...(halves.length === 0 && owners !== topics ? [unequal] : []),
    ...(isWithoutStream ? [stream] : []),
    ...(isWithoutWitness ? [witness] : []),
    ...(reserved !== "" && Number(reserved) < Number(most) ? [short] : []),
  ];
};
