import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type MetricFamily, openMetricsText } from "../../lib/stack/report/open-metrics.ts";
import { parseOpenMetrics } from "./open-metrics-parser.ts";

const gauge = (change: Partial<MetricFamily> = {}): MetricFamily => ({
  name: "load",
  type: "gauge",
  help: "Load",
  samples: [],
  ...change,
});

describe("openMetricsText()", () => {
  it("groups the samples of a family under its type and help, and ends the text", () => {
    const families: readonly MetricFamily[] = [
      gauge({
        samples: [
          { labels: { name: "web" }, value: 1.5 },
          { labels: {}, value: -3 },
        ],
      }),
      {
        name: "steps",
        type: "counter",
        help: "Steps so far",
        samples: [{ labels: { name: "web" }, value: 7 }],
      },
    ];
    expect(openMetricsText(families)).toBe(
      [
        "# TYPE load gauge",
        "# HELP load Load",
        'load{name="web"} 1.5',
        "load -3",
        "# TYPE steps counter",
        "# HELP steps Steps so far",
        'steps_total{name="web"} 7',
        "# EOF",
        "",
      ].join("\n"),
    );
  });

  it("leaves a family without samples out, and ends an empty text too", () => {
    expect(openMetricsText([gauge()])).toBe("# EOF\n");
    expect(openMetricsText([])).toBe("# EOF\n");
  });

  it("escapes backslash, line feed and quote in labels and help", () => {
    const text = openMetricsText([
      gauge({ help: 'a "b"\\\nc', samples: [{ labels: { name: 'x"y\\z\nw' }, value: 0 }] }),
    ]);
    expect(text).toContain('# HELP load a \\"b\\"\\\\\\nc\n');
    expect(text).toContain('load{name="x\\"y\\\\z\\nw"} 0\n');
  });

  it.each([
    [Number.NaN, "NaN"],
    [Number.POSITIVE_INFINITY, "+Inf"],
    [Number.NEGATIVE_INFINITY, "-Inf"],
    [0.1 + 0.2, "0.30000000000000004"],
    [2 ** 70, "1.1805916207174113e+21"],
    [-0, "0"],
  ])("writes %d as %s", (value, words) => {
    expect(openMetricsText([gauge({ samples: [{ labels: {}, value }] })])).toContain(
      `\nload ${words}\n`,
    );
  });

  const sample = { labels: {}, value: 1 };
  it.each([
    [
      "a name with a dash",
      [gauge({ name: "a-b", samples: [sample] })],
      /^Cannot write the family "a-b": its name must match/,
    ],
    [
      "a label that begins with a digit",
      [gauge({ samples: [{ labels: { "1a": "" }, value: 1 }] })],
      /its label "1a" must match/,
    ],
    [
      "a family twice",
      [gauge({ samples: [sample] }), gauge({ samples: [sample] })],
      /^Cannot write a family twice/,
    ],
    [
      "labels twice",
      [gauge({ samples: [sample, sample] })],
      /two of its samples have the same labels/,
    ],
    [
      "a counter below zero",
      [gauge({ type: "counter", samples: [{ labels: {}, value: -1 }] })],
      /its value is -1, must not be negative/,
    ],
    [
      "a counter that is no number",
      [gauge({ type: "counter", samples: [{ labels: {}, value: Number.NaN }] })],
      /its value is NaN/,
    ],
    [
      "a counter with its suffix",
      [gauge({ name: "steps_total", type: "counter", samples: [sample] })],
      /its samples carry "_total"/,
    ],
  ])("refuses %s", (_, families, words) => {
    expect(() => openMetricsText(families)).toThrow(RangeError);
    expect(() => openMetricsText(families)).toThrow(words);
  });

  it("always reads back as it was given", () => {
    const samples = fc.uniqueArray(
      fc.record({
        labels: fc.dictionary(fc.stringMatching(/^[a-zA-Z_]\w{0,8}$/), fc.string()),
        value: fc.double(),
      }),
      {
        minLength: 1,
        maxLength: 6,
        selector: ({ labels }) => JSON.stringify(Object.entries(labels).toSorted()),
      },
    );
    const family = fc.record({
      name: fc.stringMatching(/^[a-z_:][\w:]{0,12}$/),
      type: fc.constant("gauge" as const),
      help: fc.string({ minLength: 1 }),
      samples,
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(family, { maxLength: 4, selector: ({ name }) => name }),
        (families) => {
          const parsed = parseOpenMetrics(openMetricsText(families));
          expect(parsed.map(({ name, help }) => ({ name, help }))).toEqual(
            families.map(({ name, help }) => ({ name, help })),
          );
          for (const [at, { samples: given }] of families.entries()) {
            expect(
              parsed[at]?.samples.map(({ labels, value }) => ({ labels: { ...labels }, value })),
            ).toEqual(
              given.map(({ labels, value }) => ({
                labels: { ...labels },
                value: value === 0 ? 0 : value,
              })),
            );
          }
        },
      ),
    );
  });
});
