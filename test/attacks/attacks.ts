import type { Attack } from "./attack.ts";
import { ATTACKS as DOORS } from "./doors.ts";
import { ATTACKS as MACHINE } from "./machine.ts";
import { ATTACKS as MEMORY } from "./memory.ts";
import { ATTACKS as OBJECTS } from "./objects.ts";
import { ATTACKS as RECOMMENDER } from "./recommender.ts";
import { ATTACKS as SOURCES } from "./sources.ts";
import { ATTACKS as TENANTS } from "./tenants.ts";
import { ATTACKS as WORDS } from "./words.ts";

export const ATTACKS: readonly Attack[] = [
  ...TENANTS,
  ...SOURCES,
  ...OBJECTS,
  ...MEMORY,
  ...WORDS,
  ...RECOMMENDER,
  ...MACHINE,
  ...DOORS,
];
