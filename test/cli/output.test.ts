import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ageText, untilText } from "../../lib/stack/report/duration-text.ts";
import { csvLine, sheet, aligned, Table } from "../../lib/command/output/text-table.ts";
import { stateText } from "../../lib/command/output/autoscaler-rows.ts";
import { documentText } from "../../lib/command/output/documents.ts";
import { whyLines } from "../../lib/command/output/explain-sheet.ts";
import { windowLines } from "../../lib/answers/words/window-words.ts";
import { painter } from "../../lib/command/io.ts";
import { lines, type Printed } from "../../lib/stack/report/printed.ts";

const written = (text: Printed): string => text.written();

const S = 1000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;

describe("ageText()", () => {
  it.each([
    [-5 * S, "0s"],
    [0, "0s"],
    [999, "0s"],
    [119 * S, "119s"],
    [2 * M, "2m"],
    [2 * M + S, "2m1s"],
    [10 * M - S, "9m59s"],
    [10 * M, "10m"],
    [3 * H - S, "179m"],
    [3 * H, "3h"],
    [3 * H + 5 * M, "3h5m"],
    [8 * H - S, "7h59m"],
    [8 * H, "8h"],
    [2 * D - S, "47h"],
    [2 * D, "2d"],
    [2 * D + 5 * H, "2d5h"],
    [8 * D - S, "7d23h"],
    [8 * D, "8d"],
    [400 * D, "400d"],
  ])("says %i ms as %s", (ageMs, text) => {
    expect(ageText(ageMs)).toBe(text);
  });

  it("untilText() counts down and then says now", () => {
    expect([untilText(90 * S, 0), untilText(S, S), untilText(0, S)]).toEqual([
      "in 90s",
      "now",
      "now",
    ]);
  });
});

describe("stateText()", () => {
  const paint = painter(false);
  const state = (view: Omit<Parameters<typeof stateText>[0], "targets">): string =>
    written(stateText({ targets: ["40%/60%", "<unknown>/3"], ...view }, paint));
  const lacking = { moreTargets: 2, missingMetrics: 2 };

  it("says how many metrics a decision went without, and what holds", () => {
    expect(state({ state: "active" })).toBe("active");
    expect(state({ state: "active", ...lacking })).toBe("active, 2 of 4 metrics missing");
    expect(state({ state: "held", heldBy: "monitor", ...lacking })).toBe(
      "held: monitor, 2 of 4 metrics missing",
    );
    expect(state({ state: "failing", ...lacking })).toBe("failing");
    expect(state({ state: "limited", overridden: true })).toBe("limited, overridden");
    expect(state({ state: "held", heldBy: "override", overridden: true })).toBe("held: override");
  });
});

describe("Table", () => {
  it("aligns columns left, three blanks apart, and never pads the last", () => {
    expect(
      new Table(["NAME", "AGE"])
        .lines([
          ["web", "3s"],
          ["a-longer-name", "12m"],
        ])
        .map(written),
    ).toEqual(["NAME            AGE", "web             3s", "a-longer-name   12m"]);
  });

  it("prints its header once and keeps the widths of batches before", () => {
    const table = new Table(["A", "B"]);
    expect(table.lines([["wide one", "1"]]).map(written)).toEqual(["A          B", "wide one   1"]);
    expect(table.lines([["x", "2"]]).map(written)).toEqual(["x          2"]);
  });

  it("measures what is seen, not the codes of colours", () => {
    const green = painter(true)("good", "ok");
    expect(green).not.toBe("ok");
    expect(
      aligned([
        [green, "1"],
        ["okay", "2"],
      ]).map((row) => stripVTControlCharacters(row.written())),
    ).toEqual(["ok     1", "okay   2"]);
  });

  it("never lets a cell run into the next", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.stringMatching(/^[a-z]{1,12}$/), fc.stringMatching(/^[a-z]{1,12}$/)), {
          minLength: 1,
        }),
        (rows) => {
          expect(aligned(rows).map((row) => row.written().split(/ {3,}/))).toEqual(rows);
        },
      ),
    );
  });
});

describe("csvLine()", () => {
  it("quotes only cells with a comma or a quote, and doubles quotes", () => {
    expect(csvLine(["a", 3, undefined, "x,y", 'say "hi"', "two\nlines"]).written()).toBe(
      'a,3,,"x,y","say ""hi""",two\\nlines',
    );
  });
});

describe("a CSV of foreign texts", () => {
  it("never begins a cell as a formula", () => {
    for (const text of ["=1+1", "+1+1", "-1+1", "@sum(a1)", "=cmd|' /C calc'!A0", "-", "=a,b"])
      expect(csvLine([text]).written()).toMatch(/^"?'/);
    expect(csvLine([-5, "-5", "-0.5", "a=b", "\t=1", "\r=1"]).written()).toBe(
      "-5,-5,-0.5,a=b,\\t=1,\\r=1",
    );
  });
});

describe("documentText()", () => {
  it("quotes what YAML 1.1 takes for a number, a date or a boolean, so that kubectl and every other reader take it for the text that it is", () => {
    const value = { from: "20:00", date: "2026-12-24", label: "on", plain: "20:00Z", cpu: "500m" };
    expect(documentText(value, "yaml").written()).toBe(
      'from: "20:00"\ndate: "2026-12-24"\nlabel: "on"\nplain: 20:00Z\ncpu: 500m\n',
    );
  });

  it("leaves undefined members out in both formats, and writes no anchors for repeated objects", () => {
    const shared = { kind: "Deployment" };
    const value = { a: shared, b: shared, gone: undefined };
    expect(documentText(value, "json").written()).toBe(
      '{\n  "a": {\n    "kind": "Deployment"\n  },\n  "b": {\n    "kind": "Deployment"\n  }\n}\n',
    );
    expect(documentText(value, "yaml").written()).toBe(
      "a:\n  kind: Deployment\nb:\n  kind: Deployment\n",
    );
  });
});

describe("sheet()", () => {
  it("aligns labels and indents what is under a heading", () => {
    expect(
      sheet([
        ["Name", "web"],
        ["Min replicas", "2"],
        { heading: "Events", lines: ["<none>"] },
      ]).written(),
    ).toBe("Name:          web\nMin replicas:  2\nEvents:\n  <none>\n");
  });
});

describe("windowLines()", () => {
  it("says of forbidden windows whether they are open, and when they will be", () => {
    const forbidden = [
      { direction: "scaleUp", windowSeconds: 60 },
      { direction: "scaleDown", windowSeconds: 300, until: "2026-03-01T12:02:00.000Z" },
    ] as const;
    expect(
      windowLines(
        { recommendations: [], stabilization: [], rates: [], forbidden },
        Date.parse("2026-03-01T12:00:00Z"),
      ),
    ).toEqual([
      "Scale up forbidden window 60s: open",
      "Scale down forbidden window 5m: closed until 2026-03-01T12:02:00.000Z (in 2m)",
    ]);
  });
});

describe("painter()", () => {
  it("gives texts back as they are where colours are off", () => {
    expect(painter(false)("bad", "refused").written()).toBe("refused");
  });
});

describe("explain of a formula", () => {
  it("has its inputs below it, with their values and how old they were, or why they are missing", () => {
    const inputs = [
      { name: "queue", value: "30", ageSeconds: 45 },
      { name: "rate", message: "no answer within 3000 ms" },
    ];
    const metrics = [
      {
        name: "formula",
        type: "Formula",
        kind: "measured",
        value: "32",
        target: "10",
        ratio: 3.2,
        proposal: 4,
        inputs,
      },
    ] as const;
    const rows = whyLines(
      { at: "2026-03-01T12:00:00.000Z", from: 2, metrics, steps: [] },
      painter(false),
    ).map((line) => lines([line]).written());
    expect(rows).toEqual([
      "    Metric    Value     Target   Ratio   Proposes\n",
      "    formula   32        10       3.200   4\n",
      "      queue   30                         measured 45s before\n",
      "      rate    missing                    no answer within 3000 ms\n",
    ]);
  });

  it("says below its pods at which value the metric would have asked for another count", () => {
    const metrics = [
      {
        name: "cpu",
        type: "Resource",
        kind: "measured",
        value: "82%",
        target: "60%",
        proposal: 17,
        pods: { matched: 12, owned: 12, counted: 12 },
        turns: { value: "82%", below: { value: "67%", asks: "same" } },
      },
    ] as const;
    const event = { at: "2026-03-01T12:00:00.000Z", from: 12, metrics, steps: [] };
    const rows = whyLines(event, painter(false)).map((line) => lines([line]).written());
    expect(rows.slice(2)).toEqual([
      "      12 pods match, 12 belong to the target, 12 counted\n",
      "      below 67% it would ask for no more than 12\n",
    ]);
  });
});
