/** One sample as a strict reader of OpenMetrics 1.0 sees it. */
export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ParsedFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly ParsedSample[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const TYPE = new RegExp(
  `^# TYPE (${NAME}) (counter|gauge|histogram|gaugehistogram|stateset|info|summary|unknown)$`,
);
const HELP = new RegExp(`^# HELP (${NAME}) (.*)$`);
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y;
const NUMBER = /^(?:NaN|[+-]?Inf|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)$/;
const UNESCAPED: Readonly<Record<string, string>> = { "\\\\": "\\", "\\n": "\n", '\\"': '"' };

interface Reading {
  readonly name: string;
  readonly type: string;
  help: string;
  readonly samples: ParsedSample[];
}

const END = "# EOF\n";

/** Reads a whole exposition, or throws with the line that breaks a rule of the format. */
export const parseOpenMetrics = (text: string): readonly ParsedFamily[] => {
  if (!text.endsWith(END)) throw new Error("it does not end with # EOF and a line feed");
  const families: Reading[] = [];
  for (const line of text.slice(0, -END.length).split("\n").slice(0, -1)) {
    const [, name, type] = TYPE.exec(line) ?? [];
    if (name !== undefined && type !== undefined) {
      must(!families.some((family) => family.name === name), "a family comes twice", line);
      families.push({ name, type, help: "", samples: [] });
    } else readInto(families.at(-1), line);
  }
  return families;
};

const must = (holds: boolean, rule: string, line: string): void => {
  if (!holds) throw new Error(`${rule}: ${line}`);
};

const readInto = (family: Reading | undefined, line: string): void => {
  if (!family) throw new Error(`before any # TYPE: ${line}`);
  const help = HELP.exec(line);
  if (help) {
    must(
      help[1] === family.name && family.help === "" && family.samples.length === 0,
      "not its place",
      line,
    );
    family.help = unescaped(help[2] ?? "");
    return;
  }
  const sample = sampleOf(line);
  const counts = family.type === "counter";
  must(
    sample.name === family.name + (counts ? "_total" : ""),
    `not of the ${family.type} ${family.name}`,
    line,
  );
  must(!counts || sample.value >= 0, "no value of a counter", line);
  must(
    !family.samples.some(({ labels }) => sameLabels(labels, sample.labels)),
    "its labels come twice",
    line,
  );
  family.samples.push(sample);
};

const sampleOf = (line: string): ParsedSample => {
  const [, name, labels, value] = SAMPLE.exec(line) ?? [];
  if (name === undefined || value === undefined || !NUMBER.test(value))
    throw new Error(`not a sample: ${line}`);
  return {
    name,
    labels: labels === undefined ? {} : labelsOf(labels, line),
    value: Number(value.replace("Inf", "Infinity")),
  };
};

const labelsOf = (text: string, line: string): Record<string, string> => {
  const labels = new Map<string, string>();
  let at = 0;
  while (at < text.length) {
    LABEL.lastIndex = at;
    const [whole, name, value, comma] = LABEL.exec(text) ?? [];
    if (whole === undefined || name === undefined || value === undefined || labels.has(name))
      throw new Error(`labels at ${at}: ${line}`);
    at += whole.length;
    must(comma !== "," || at < text.length, "a comma too many", line);
    labels.set(name, unescaped(value));
  }
  return Object.fromEntries(labels);
};

const unescaped = (text: string): string =>
  text.replace(/\\[\\n"]/g, (pair) => UNESCAPED[pair] ?? pair);

const sameLabels = (
  one: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([name, value]) => other[name] === value);
