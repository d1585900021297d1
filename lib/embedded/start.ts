import { enableCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";
import { errorLines } from "../stack/report/printed.ts";
import { missingPartText } from "./host/missing-part.ts";

// Compiling the modules takes half of the time until the first line, so Node keeps the compiled
// code beside its other temporary files.
enableCompileCache();

// A run lasts for days beside other programs. By default the heap grows to three times what is in
// use before it is collected; here it grows by three fifths. The size of the young generation is
// fixed when Node starts: `npm start` sets it (package.json), which saves 100 MB.
setFlagsFromString("--heap-growing-percent=60");

try {
  await (await import("./main.ts")).startRun();
} catch (error) {
  const missing = missingPartText(error);
  if (missing === undefined) throw error;
  process.stderr.write(errorLines(missing).written());
  process.exitCode = 1;
}
