/** What a mutation test changes, in parts that are measured one after the other, each in some minutes. */
export const PARTS: Readonly<Record<string, readonly string[]>> = {
  "policy/watermark": [
    "lib/policy/dialects/watermark.ts",
    "lib/policy/dialects/multi-threshold.ts",
    "lib/policy/metrics/watermark/**/*.ts",
    "lib/policy/steps/watermark/**/*.ts",
  ],
  "policy/tidemark": ["lib/policy/dialects/tidemark.ts", "lib/policy/metrics/tidemark/**/*.ts", "lib/policy/steps/tidemark/**/*.ts"],
  "policy/hpa": ["lib/policy/dialects/hpa.ts", "lib/policy/metrics/hpa/**/*.ts", "lib/policy/steps/hpa/**/*.ts"],
  "policy/original": ["lib/policy/dialects/original.ts", "lib/policy/metrics/original/**/*.ts", "lib/policy/steps/original/**/*.ts"],
  "policy/shared": ["lib/policy/*.ts"],
  model: ["lib/model/**/*.ts"],
};
