import { type Document, isMap, parseDocument } from "yaml";
import * as z from "zod";
import { textOfFile } from "../../local/run/text-file.ts";
import { TidemarkError } from "../../model/errors.ts";
import { nearestName } from "../../model/nearest-name.ts";
import type { Setting } from "./settings.ts";

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
 * Reads a file of parameters, with values that are to be written into it. Throws `stack.params` with a line for each problem: a field or parameter that the checkout does not have, a value outside its bounds, and values
 * that do not go together. Nothing is sent before.
 */
export const readParams = (file: string, given: Readonly<Record<string, string>>, settings: readonly Setting[]): Params => {
  const document = documentOf(file);
  const before = document.toString();
  if (Object.keys(given).length > 0 && !isMap(document.get("parameters"))) document.set("parameters", document.createNode({}));
  for (const [name, value] of Object.entries(given)) document.setIn(["parameters", name], value);
  const { stage, region, parameters, ...others } = fieldsOf(file, document);
  const values = valuesOf(parameters);
  const problems = [
    ...Object.keys(others).map((field) => `${field} is no field of it; it has ${FIELDS.join(", ")}`),
    ...wrongText(stage, STAGE, "stage: write the stage, such as prod: lower case letters, digits and -"),
    ...wrongText(region, REGION, "region: write the AWS region, such as eu-central-1"),
    ...(values === undefined ? ["parameters: write a map of names and values"] : problemsOf(values, settings)),
  ];
  if (problems.length > 0) throw refused(file, problems);
  const rewritten = document.toString();
  return { stage: String(stage), region: String(region), values: values ?? {}, ...(rewritten !== before && { rewritten }) };
};

/** Each scalar is its text: a name of digits keeps its zeros, and yes stays yes. */
const documentOf = (file: string): Document => {
  const document = parseDocument(textOfFile(file, FILE_MAX_BYTES), { schema: "failsafe", logLevel: "silent" });
  const [mistake] = document.errors;
  if (mistake) throw refused(file, [mistake.message.split("\n")[0] ?? "it is no YAML"]);
  if (!isMap(document.contents)) throw refused(file, [`it has no fields; write ${FIELDS.join(", ")}`]);
  return document;
};

const wrongText = (value: unknown, form: RegExp, problem: string): readonly string[] =>
  typeof value === "string" && form.test(value) ? [] : [problem];

/** Aliases are refused: a file of parameters needs none, and a few lines of them can name a billion values. */
const fieldsOf = (file: string, document: Document): { readonly [field: string]: unknown } => {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (cause) {
    throw refused(file, [String(cause instanceof Error ? cause.message : cause)]);
  }
};

const refused = (file: string, problems: readonly string[]): TidemarkError<"stack.params"> =>
  new TidemarkError("stack.params", problems.map((problem) => `Cannot deploy with "${file}": ${problem}`).join("\n"), { file });

/** Undefined for anything but a map of names and texts. */
const valuesOf = (parameters: unknown): Readonly<Record<string, string>> | undefined => {
  if (parameters === undefined || parameters === "") return {};
  const read = z.record(z.string(), z.string()).safeParse(parameters);
  return read.success ? read.data : undefined;
};

const problemsOf = (values: Readonly<Record<string, string>>, settings: readonly Setting[]): readonly string[] => {
  const known = new Map(settings.map((setting) => [setting.name, setting]));
  const single = Object.entries(values).flatMap(([name, value]) => {
    const setting = known.get(name);
    if (setting === undefined) return [`parameters.${name}: this version has no such parameter${meant(name, [...known.keys()])}`];
    return setting.accepts(value) ? [] : [`parameters.${name} is "${value}": it must be ${setting.wanted}`];
  });
  return single.length > 0 ? single : together((name) => values[name] ?? known.get(name)?.fallback ?? "");
};

const meant = (name: string, names: readonly string[]): string => {
  const nearest = nearestName(name, names, EDITS_PER_NAME);
  return nearest === undefined ? `; it has ${names.join(", ")}` : `; did you mean ${nearest}?`;
};

const PAIRS = [
  ["stateTable", "historyTable", "a stack that makes one of its tables anew would meet the numbers of old events"],
  ["subnetIds", "securityGroupIds", "sync runs in a VPC with both, and outside of one with neither"],
  ["alarmOwners", "ownerTopics", "each owner has a topic, in the same order"],
] as const;

/** Combinations that CloudFormation would accept, and that would not work. */
const together = (value: (name: string) => string): readonly string[] => {
  const halves = PAIRS.flatMap(([one, other, why]) => {
    const [missing, present] = value(one) === "" ? [one, other] : [other, one];
    return value(missing) === "" && value(present) !== "" ? [`parameters.${missing} is missing beside ${present}: ${why}`] : [];
  });
  const [owners, topics] = [value("alarmOwners"), value("ownerTopics")].map((text) => text.split(",").length);
  const unequal =
    owners === topics
      ? []
      : [`parameters.alarmOwners has ${owners} owners and ownerTopics ${topics} topics: each owner has a topic, in the same order`];
  const [reserved, most] = [value("reservedConcurrency"), value("maximumConcurrency")];
  const throttled = reserved !== "" && Number(reserved) < Number(most);
  const short = `parameters.reservedConcurrency is ${reserved}: below maximumConcurrency, which is ${most}, Lambda refuses syncs; take a tenth more than ${most}`;
  if (halves.length === 0) halves.push(...unequal);
  return throttled ? [...halves, short] : halves;
};
