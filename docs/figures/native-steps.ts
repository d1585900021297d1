/** One step of the native rules, as the list of lib/rules/policy/native/decide.ts has it. */
export interface DrawnStep {
  /** As `explain` prints it: "cool down". */
  readonly name: string;
  readonly says: string;
}

/** A list of steps, which are left out or taken together. */
export interface DrawnPhase {
  readonly name: string;
  readonly steps: readonly DrawnStep[];
}

const PHASE = /^const ([A-Z]+): readonly NativeStep\[\] = \[\n(.*?)^\];/gms;
const STEP = /^ {2}(\w+),\s+\/\/ +(.+)$/gm;

/**
 * The phases of the native rules and their steps, in their order, from the text of decide.ts: the
 * lists with the comments beside them.
 */
export const phasesIn = (source: string): readonly DrawnPhase[] =>
  [...source.matchAll(PHASE)].map(([, name = "", list = ""]) => ({
    name: name.toLowerCase(),
    steps: [...list.matchAll(STEP)].map(([, step = "", words = ""]) => ({
      name: spoken(step),
      says: words,
    })),
  }));

/** "cool down" of coolDown. */
const spoken = (step: string): string =>
  step.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const WIDTH = 830;
const LEFT = 150;
const BOX = { width: 510, height: 30, gap: 12 } as const;
const PHASE_GAP = 26;
const INK = "#1b2733";
const LINE = "#5a6b7b";
const FILLS = ["#e8f0f8", "#e6f4ea", "#fdf1e3", "#f1ecf8"];

/** What decide.ts of lib/rules/policy adds for every dialect, after the steps. */
const AFTERWARDS: DrawnPhase = {
  name: "set by people",
  steps: [
    { name: "set bounds", says: "of a schedule or an override" },
    { name: "override", says: "a pause or a hold; the count that is decided" },
  ],
};

/** The drawing of the order of steps, as SVG text. */
export const stepsFigure = (source: string): string => {
  const phases = [...phasesIn(source), AFTERWARDS];
  let y = 16;
  const placed = phases.map((phase, at) => {
    const top = y;
    const boxes = phase.steps.map((step, index) => ({
      step,
      y: top + index * (BOX.height + BOX.gap),
    }));
    y = top + boxes.length * (BOX.height + BOX.gap) - BOX.gap + PHASE_GAP;
    return { phase, boxes, top, bottom: y - PHASE_GAP, fill: FILLS[at % FILLS.length] ?? "" };
  });
  const all = placed.flatMap(({ boxes }) => boxes);
  const yOf = (name: string): number =>
    (all.find(({ step }) => step.name === name)?.y ?? 0) + BOX.height / 2;
  const height = y;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="${INK}">`,
    "<title>The order of the steps of the native rules</title>",
    '<rect width="100%" height="100%" fill="white"/>',
    `<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="${LINE}"/></marker></defs>`,
    ...placed.map(phaseMarkup),
    ...all.slice(1).map(({ y: to }, at) => arrow((all[at]?.y ?? 0) + BOX.height, to)),
    around(yOf("bounds"), yOf("set bounds"), 80, "outside min and max"),
    around(yOf("idle"), yOf("cool down"), 34, "at rest, or woken"),
    "</svg>\n",
  ].join("\n");
};

interface PlacedPhase {
  readonly phase: DrawnPhase;
  readonly boxes: readonly { readonly step: DrawnStep; readonly y: number }[];
  readonly top: number;
  readonly bottom: number;
  readonly fill: string;
}

const phaseMarkup = ({ phase, boxes, top, bottom, fill }: PlacedPhase): string =>
  [
    `<text x="${LEFT - 24}" y="${(top + bottom) / 2 + 4}" text-anchor="end" font-weight="600">${phase.name}</text>`,
    `<path d="M${LEFT - 14} ${top}V${bottom}" stroke="${LINE}"/>`,
    ...boxes.flatMap(({ step, y }) => [
      `<rect x="${LEFT}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="5" fill="${fill}" stroke="${LINE}"/>`,
      `<text x="${LEFT + 12}" y="${y + 20}" font-weight="600">${step.name}</text>`,
      `<text x="${LEFT + 110}" y="${y + 20}">${escaped(step.says)}</text>`,
    ]),
  ].join("\n");

const arrow = (from: number, to: number): string =>
  `<path d="M${LEFT + 60} ${from}V${to}" stroke="${LINE}" marker-end="url(#tip)"/>`;

/** A way past the steps between two of them, on the right. */
const around = (from: number, to: number, out: number, words: string): string => {
  const right = LEFT + BOX.width;
  return [
    `<path d="M${right} ${from}H${right + out}V${to}H${right + 2}" fill="none" stroke="${LINE}" stroke-dasharray="5 4" marker-end="url(#tip)"/>`,
    `<text transform="translate(${right + out + 14},${(from + to) / 2}) rotate(90)" text-anchor="middle">${words}</text>`,
  ].join("\n");
};

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
