import { enableCompileCache } from "node:module";

// Half of the time until the first line is compiling the same modules again; Node keeps what it made of them beside its other temporary files.
enableCompileCache();

const { main } = await import("./main.ts");
await main();
