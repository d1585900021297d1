import { packageStack } from "../packaged.ts";
import { playDrill } from "./drill.ts";

/**
 * `npm run prove -- standby`: two deployed stacks, and the first region switched off in the middle
 * of its work: first a person moves the fleet, then nobody does, and the standby takes it by itself.
 * It prints how long until the other region syncs, and ends with 1 where an edit or a scale is not
 * as docs/standby.md says.
 */
const AFTER_MINUTES = 5;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const stack = await packageStack();
try {
  await playDrill(stack, say);
  await playDrill(stack, say, AFTER_MINUTES);
} finally {
  await stack.done();
}
