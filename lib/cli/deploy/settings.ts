import { existsSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import * as z from "zod";
import { textOfFile } from "../../local/run/text-file.ts";
import { TidemarkError } from "../../model/errors.ts";

/** One parameter of a deployment, as the checkout defines it: its name and default in serverless.yml, its bounds in infra/parameters.yml. */
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
  provider: z.object({ stackParameters: z.array(z.object({ ParameterKey: z.string(), ParameterValue: z.string() })) }),
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

/** Reads the parameters that the checkout in this folder has. Throws `stack.checkout` where the folder holds no checkout. */
export const readSettings = (folder: string): readonly Setting[] => {
  if (!existsSync(join(folder, TEMPLATE)) || !existsSync(join(folder, BOUNDS))) {
    throw new TidemarkError(
      "stack.checkout",
      `Cannot deploy from "${folder}": it has no ${TEMPLATE}; go to the checkout of the version that you deploy`,
      {
        folder,
      },
    );
  }
  const { params, provider } = serverless.parse(yamlOf(join(folder, TEMPLATE)));
  const { Parameters } = bounds.parse(yamlOf(join(folder, BOUNDS)));
  const keys = new Map(
    provider.stackParameters.map(({ ParameterKey, ParameterValue }) => [/^\$\{param:(\w+)\}$/.exec(ParameterValue)?.[1], ParameterKey]),
  );
  return Object.entries(params.default).flatMap(([name, fallback]) => {
    const key = keys.get(name);
    const bound = key === undefined ? undefined : Parameters[key];
    // An earlier version has parameters that its template does not carry: they are given to osls, and the stack does not show them.
    return [{ name, fallback: String(fallback), key: key ?? name, ...(bound ? rule(bound) : { accepts: () => true, wanted: "a value" }) }];
  });
};

/** Tags of CloudFormation, such as !If, need no meaning here. */
const yamlOf = (file: string): unknown => parse(textOfFile(file, YAML_MAX_BYTES), { logLevel: "error" });

const rule = ({ Type, AllowedPattern, AllowedValues, MinValue, MaxValue, ConstraintDescription }: Bounds): Pick<Setting, "accepts" | "wanted"> => {
  if (AllowedValues) return { accepts: (value) => AllowedValues.map(String).includes(value), wanted: `one of ${AllowedValues.join(", ")}` };
  if (Type === "Number") {
    const [least, most] = [MinValue ?? 0, MaxValue ?? Number.MAX_SAFE_INTEGER];
    return {
      accepts: (value) => /^\d{1,15}$/.test(value) && Number(value) >= least && Number(value) <= most,
      wanted: `a number from ${least} to ${most}`,
    };
  }
  const pattern = AllowedPattern === undefined ? undefined : new RegExp(`^(?:${AllowedPattern})$`);
  return { accepts: (value) => pattern?.test(value) ?? true, wanted: (ConstraintDescription ?? "wanted a text").replace(/^wanted /, "") };
};

/** One parameter whose value a deployment changes, or that differs from its default. */
export interface ParameterRow {
  readonly name: string;
  /** Absent where the stack does not say it: there is no stack, or an earlier version did not carry this parameter. */
  readonly deployed?: string;
  readonly wanted: string;
  /**
   * `drops` a value that the stack has and the file does not name; `unknown` where the stack does not say its value, and the file names none.
   */
  readonly effect: "same" | "sets" | "drops" | "unknown";
}

/** Compares the values of a file with those that the stack has, by name, in the order of serverless.yml. */
export const parameterRows = (
  settings: readonly Setting[],
  values: Readonly<Record<string, string>>,
  deployed: Readonly<Record<string, string>> | undefined,
): readonly ParameterRow[] =>
  settings.map(({ name, key, fallback }) => {
    const wanted = values[name] ?? fallback;
    const present = deployed?.[key];
    if (present === undefined) return { name, wanted, effect: deployed === undefined || Object.hasOwn(values, name) ? "sets" : "unknown" };
    if (present === wanted) return { name, deployed: present, wanted, effect: "same" };
    return { name, deployed: present, wanted, effect: Object.hasOwn(values, name) ? "sets" : "drops" };
  });
