import { fork } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Seen } from "./attack.ts";
import { ATTACKS } from "./attacks.ts";

const ROOT = join(import.meta.dirname, "../..");
const USAGE =
  "npm run prove -- attacks [--in FOLDER] [PART OF A NAME]: plays the attacks on this checkout, or on the one in FOLDER, and fails where one reaches something, or where the machine is too busy to show it";

/** Each attack has a process of its own: some end it. */
const played = async (name: string, folder: string): Promise<Seen> => {
  const child = fork(fileURLToPath(import.meta.url), ["--play", name, folder], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const ended = once(child, "exit").then(
    ([code, signal]): Seen => ({ held: false, saw: `the process ended with ${code ?? signal}` }),
  );
  return Promise.race([once(child, "message").then(([seen]) => seen as Seen), ended]);
};

const playOne = async ([name = "", folder = ""]: readonly string[]): Promise<void> => {
  const attack = ATTACKS.find((one) => one.name === name);
  if (!attack) throw new RangeError(`there is no attack "${name}"`);
  const seen = await attack.play(folder);
  process.send?.(seen, () => process.exit(0));
};

const isShownHeld = (name: string, { held, isUnknown = false, saw }: Seen): boolean => {
  const words = isUnknown ? "unknown" : held ? "held   " : "REACHED";
  process.stdout.write(`${words}  ${name}: ${saw}\n`);
  return held && !isUnknown;
};

const main = async (args: readonly string[]): Promise<void> => {
  const [first, ...rest] = args;
  if (first === "--play") return playOne(rest);
  const folder = first === "--in" ? resolve(rest[0] ?? "") : ROOT;
  const words = (first === "--in" ? rest.slice(1) : args).join(" ");
  const chosen = ATTACKS.filter(({ name }) => name.includes(words));
  if (chosen.length === 0 || words.startsWith("-")) {
    process.stderr.write(`${USAGE}\n${ATTACKS.map(({ name }) => `  ${name}\n`).join("")}`);
    process.exitCode = 2;
    return;
  }
  for (const { name } of chosen)
    if (!isShownHeld(name, await played(name, folder))) process.exitCode = 1;
};

await main(process.argv.slice(2));
