import { enableCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";

// Half of the time until the first line is compiling the same modules again; Node keeps what it made of them beside its other temporary files.
enableCompileCache();

// A run lives for days beside other work. Left alone the heap grows to three times what is in use before it is looked through; so it grows by three fifths.
setFlagsFromString("--max-semi-space-size=8");
setFlagsFromString("--heap-growing-percent=60");

const { main } = await import("./main.ts");
await main();
