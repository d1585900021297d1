import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

/**
 * What `osls package` leaves, and what this program makes of it: a template for any tool that
 * deploys CloudFormation, beside the packages of its functions.
 */
const COMPILED = ".serverless";
const MADE = "dist/stack";
const TEMPLATE = "cloudformation-template-update-stack.json";
/** The compiled template has the names of this stage. */
const PREFIX = "tidemark-prod";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };
interface Template {
  readonly Resources: Readonly<
    Record<string, { readonly Type: string; readonly Properties: JsonObject }>
  >;
  readonly Outputs: Readonly<Record<string, JsonObject>>;
  readonly Parameters: Readonly<Record<string, JsonObject>>;
  readonly [section: string]: unknown;
}

/**
 * Where the packages will lie. `{region}` in the name of the bucket is the region of each stack,
 * because Lambda reads a package in its own region only.
 */
export interface CodePlace {
  readonly bucket: string;
  /** Ends with a slash, or is empty. */
  readonly folder: string;
}

const S3_URI = /^s3:\/\/([a-z0-9.-]*(?:\{region\})?[a-z0-9.-]*)(?:\/([!-~]*?))?\/?$/;

/** Reads "s3://BUCKET/FOLDER". Throws a RangeError for anything else. */
export const codePlaceOf = (uri: string): CodePlace => {
  const [, bucket = "", folder = ""] = S3_URI.exec(uri) ?? [];
  if (bucket.length < 3)
    throw new RangeError(
      `Cannot package for "${uri}": write s3://BUCKET/FOLDER, such as s3://artifacts/tidemark; {region} in BUCKET is the region of the stack`,
    );
  return { bucket, folder: folder === "" ? "" : `${folder}/` };
};

/** A text that has the prefix, with the parameter in its place. */
const prefixed = (text: string): string =>
  text
    .replaceAll(`--stack ${PREFIX}`, `--stack \${AWS::StackName}`)
    .replaceAll(PREFIX, `\${NamePrefix}`);

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const substituted = ([text, values]: readonly [string, JsonObject]): Json => [
  prefixed(text),
  withPrefix(values),
];

/** Everything that has the name of the stage has the parameter `NamePrefix`. */
const withPrefix = (value: Json): Json => {
  if (typeof value === "string") {
    if (value === PREFIX) return { Ref: "NamePrefix" };
    return value.includes(PREFIX) ? { "Fn::Sub": prefixed(value) } : value;
  }
  if (Array.isArray(value)) return value.map(withPrefix);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      if (key !== "Fn::Sub") return [key, withPrefix(each)];
      return [
        key,
        typeof each === "string"
          ? prefixed(each)
          : substituted(each as unknown as readonly [string, JsonObject]),
      ];
    }),
  );
};

/** Resources that osls adds for its own deployments. */
const OF_OSLS: readonly string[] = [
  "ServerlessDeploymentBucket",
  "ServerlessDeploymentBucketPolicy",
];
const OUTPUT_OF_OSLS = "ServerlessDeploymentBucketName";
/** Each tool gives tags to the stack itself. */
const TAGS = { parameter: "StackTags", condition: "UseTags", output: "Tags" } as const;

/** Parameters of this template that the stack of osls has not. */
export const PLAIN_PARAMETERS: Readonly<Record<string, JsonObject>> = {
  NamePrefix: {
    Type: "String",
    Default: PREFIX,
    AllowedPattern: "[a-z][a-z0-9-]{1,30}",
    ConstraintDescription: "wanted 2 to 31 lower case letters, digits and -",
    Description:
      "Names of functions, queues, alarms, log groups and policies begin with it, and the folder of secrets has this name",
  },
  CodeBucket: {
    Type: "String",
    AllowedPattern: "[a-z0-9.-]{3,63}",
    ConstraintDescription: "wanted the name of a bucket",
    Description: "The bucket of this region that has the packages of the functions",
  },
  CodeFolder: {
    Type: "String",
    AllowedPattern: "([!-~]+/)?",
    ConstraintDescription: "wanted a folder that ends with /, or nothing",
    Description: "The folder of the bucket that has the packages of the functions",
  },
};

const named = (parameter: string): Json => ({
  "Fn::Not": [{ "Fn::Equals": [{ Ref: parameter }, ""] }],
});
const absent = (parameter: string): Json => ({ "Fn::Equals": [{ Ref: parameter }, ""] });
const TABLES = ["ExistingStateTable", "ExistingHistoryTable"] as const;
/** What `tidemark stack deploy` refuses, for tools that know nothing of it. */
const RULES = {
  WitnessOfTakeOver: {
    Assertions: [
      {
        Assert: {
          "Fn::Or": [
            { "Fn::Equals": [{ Ref: "TakeOverAfterMinutes" }, "0"] },
            named("WitnessTable"),
          ],
        },
        AssertDescription:
          "With TakeOverAfterMinutes, name WitnessTable, the table of a third region: without it a standby cannot distinguish a region that is down from a network that is down",
      },
    ],
  },
  BothTables: {
    Assertions: [
      {
        Assert: { "Fn::Or": [{ "Fn::And": TABLES.map(named) }, { "Fn::And": TABLES.map(absent) }] },
        AssertDescription: `Name both of ${TABLES.join(" and ")}, or neither: a stack that makes one of its tables anew would meet the numbers of old events`,
      },
    ],
  },
  StreamOfEvents: {
    Assertions: [
      {
        Assert: {
          "Fn::Or": [absent("EventBus"), absent("ExistingHistoryTable"), named("HistoryStream")],
        },
        AssertDescription:
          "With EventBus and ExistingHistoryTable, name HistoryStream, the stream of that table: the stack makes one of its own tables only",
      },
    ],
  },
};

/** The parameters, with the place of the packages as the default where it is known. */
const parametersOf = (
  own: Template["Parameters"],
  place: CodePlace | undefined,
): Readonly<Record<string, JsonObject>> => {
  const { [TAGS.parameter]: _tags, SourceMaps = {}, ...others } = own;
  const { NamePrefix = {}, CodeBucket = {}, CodeFolder = {} } = PLAIN_PARAMETERS;
  const isOfRegion = place?.bucket.includes("{region}") === true;
  return {
    NamePrefix,
    ...(!isOfRegion && { CodeBucket: { ...CodeBucket, ...(place && { Default: place.bucket }) } }),
    CodeFolder: { ...CodeFolder, Default: place?.folder ?? "" },
    ...others,
    // The packages have no source maps.
    SourceMaps: { ...SourceMaps, AllowedValues: ["no"] },
  };
};

const without = <Value>(
  record: Readonly<Record<string, Value>>,
  names: readonly string[],
): Readonly<Record<string, Value>> =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

/**
 * The template of osls as one for any tool. `fileOf` gives the name of a package by the name that
 * osls gave it.
 */
export const plainTemplate = (
  compiled: Template,
  fileOf: (zip: string) => string,
  place?: CodePlace,
): Template => {
  const bucket: Json = place?.bucket.includes("{region}")
    ? { "Fn::Sub": place.bucket.replaceAll("{region}", `\${AWS::Region}`) }
    : { Ref: "CodeBucket" };
  const resources = Object.entries(without(compiled.Resources, OF_OSLS)).map(([name, resource]) => {
    if (resource.Type !== "AWS::Lambda::Function")
      return [name, withPrefix(resource as unknown as Json)];
    const { S3Key } = resource.Properties["Code"] as { readonly S3Key: string };
    const code = {
      S3Bucket: bucket,
      S3Key: { "Fn::Sub": `\${CodeFolder}${fileOf(S3Key.slice(S3Key.lastIndexOf("/") + 1))}` },
    };
    const { Properties, ...others } = withPrefix(
      resource as unknown as Json,
    ) as unknown as (typeof compiled.Resources)[string];
    return [name, { ...others, Properties: { ...Properties, Code: code } }];
  });
  const outputs = Object.entries(without(compiled.Outputs, [OUTPUT_OF_OSLS, TAGS.output])).map(
    ([name, { Export: _export, ...output }]) => [name, withPrefix(output)],
  );
  return {
    ...compiled,
    Description: "Tidemark: scales Kubernetes workloads in many clusters",
    Parameters: parametersOf(compiled.Parameters, place),
    Rules: RULES,
    Conditions: without(compiled["Conditions"] as Readonly<Record<string, Json>>, [TAGS.condition]),
    Resources: Object.fromEntries(resources),
    Outputs: Object.fromEntries(outputs),
  };
};

/**
 * Makes the folder `dist/stack` in `root` from what `osls package` left there. Returns the names of
 * its files. Packages are named by what they hold, so that a new one is a change of the template,
 * and an equal one is none.
 */
export const buildTemplate = (root: string, place?: CodePlace): readonly string[] => {
  const folder = join(root, MADE);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files: string[] = [];
  const fileOf = (zip: string): string => {
    const hash = createHash("sha256")
      .update(readFileSync(join(root, COMPILED, zip)))
      .digest("hex")
      .slice(0, 16);
    const file = zip.replace(".zip", `-${hash}.zip`);
    copyFileSync(join(root, COMPILED, zip), join(folder, file));
    files.push(file);
    return file;
  };
  const template = plainTemplate(
    JSON.parse(readFileSync(join(root, COMPILED, TEMPLATE), "utf8")),
    fileOf,
    place,
  );
  writeFileSync(join(folder, "template.json"), `${JSON.stringify(template, null, 1)}\n`);
  return ["template.json", ...files];
};

if (import.meta.main) {
  const { values } = parseArgs({ options: { "s3-uri": { type: "string" } } });
  const uri = values["s3-uri"];
  const files = buildTemplate(process.cwd(), uri === undefined ? undefined : codePlaceOf(uri));
  process.stdout.write(`${MADE}/ has ${files.join(", ")}\n`);
  process.stdout.write(
    `For a tool of your own: aws s3 cp --recursive ${MADE} ${uri ?? "s3://BUCKET/FOLDER"}/, then deploy template.json (docs/operations.md, "Other tools")\n`,
  );
}
