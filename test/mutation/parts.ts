/** What a mutation test changes, in parts that are measured one after the other, each in some minutes. */
export const PARTS: Readonly<Record<string, readonly string[]>> = {
  "policy/watermark": ["lib/policy/watermark/**/*.ts"],
  "policy/native": ["lib/policy/native/**/*.ts"],
  "policy/hpa": ["lib/policy/hpa/**/*.ts", "lib/policy/multi-threshold/**/*.ts", "lib/policy/shared/metrics/**/*.ts"],
  "policy/original": ["lib/policy/original/**/*.ts"],
  "policy/shared": ["lib/policy/*.ts", "lib/policy/shared/*.ts", "lib/policy/bounds/**/*.ts"],
  model: ["lib/model/**/*.ts"],
};
