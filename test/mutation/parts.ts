/**
 * What a mutation test changes, in parts that are measured one after the other, each in some
 * minutes.
 */
export const PARTS: Readonly<Record<string, readonly string[]>> = {
  "policy/watermark": ["lib/rules/policy/watermark/**/*.ts"],
  "policy/native": ["lib/rules/policy/native/**/*.ts"],
  "policy/hpa": [
    "lib/rules/policy/hpa/**/*.ts",
    "lib/rules/policy/multi-threshold/**/*.ts",
    "lib/rules/policy/shared/metrics/**/*.ts",
  ],
  "policy/original": ["lib/rules/policy/original/**/*.ts"],
  "policy/shared": [
    "lib/rules/policy/*.ts",
    "lib/rules/policy/shared/*.ts",
    "lib/rules/policy/shared/pods/**/*.ts",
    "lib/rules/policy/bounds/**/*.ts",
  ],
  model: ["lib/rules/model/**/*.ts"],
};

/**
 * A part whose tests play whole syncs and edits, so that it takes hours: one of them a night. Its
 * tests are named, and it is in no table of the report.
 */
export interface RoomPart {
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
}

export const ROOMS: Readonly<Record<string, RoomPart>> = {
  sync: { mutate: ["lib/stack/sync/**/*.ts"], tests: ["test/sync/**/*.test.ts"] },
  store: {
    mutate: ["lib/stack/store/**/*.ts"],
    tests: ["test/store/**/*.test.ts", "test/contracts/tables.test.ts"],
  },
  service: { mutate: ["lib/answers/service/**/*.ts"], tests: ["test/service/**/*.test.ts"] },
  local: { mutate: ["lib/embedded/**/*.ts"], tests: ["test/local/**/*.test.ts"] },
  takeover: {
    mutate: ["lib/command/takeover/**/*.ts"],
    tests: [
      "test/service/takeovers.test.ts",
      "test/cli/is-taken-over.test.ts",
      "test/cli/switch-many.test.ts",
    ],
  },
};

/**
 * Night after night another one, by the seconds since 1970. What is known of a part is kept
 * (reports/mutation), so that a later night measures what has changed.
 */
export const roomOfNight = (seconds: number): string => {
  const names = Object.keys(ROOMS);
  return names[Math.floor(seconds / DAY_SECONDS) % names.length] ?? "";
};
const DAY_SECONDS = 86_400;
