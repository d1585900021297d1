import { packageStack } from "../packaged.ts";
import { playDrill } from "./drill.ts";

/**
 * `npm run prove -- standby`: two deployed stacks, and the first region switched off in the middle
 * of its work. It prints how long until the other region syncs, and ends with 1 where an edit or a
 * scale is not as docs/standby.md says.
 */
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const stack = await packageStack();
try {
  await playDrill(stack, say);
} finally {
  await stack.done();
}
