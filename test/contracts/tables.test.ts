import { afterAll, beforeAll, describe } from "vitest";
import { ENGINES, type Engine } from "./engines.ts";
import { headContract } from "./head.contract.ts";
import { historyContract } from "./history.contract.ts";
import { movingContract } from "./moving.contract.ts";
import { pagesContract } from "./pages.contract.ts";
import { recordsContract } from "./records.contract.ts";
import { summariesContract } from "./summaries.contract.ts";
import { wakesContract } from "./wakes.contract.ts";

for (const { name, start, missing } of ENGINES) {
  const title = missing === undefined ? name : `${name} (left out here: it ${missing})`;
  describe.skipIf(missing !== undefined)(title, () => {
    let engine: Engine | undefined;
    const running = (): Engine => {
      if (!engine) throw new TypeError("the engine runs");
      return engine;
    };
    beforeAll(async () => {
      engine = await start();
    });
    afterAll(() => engine?.close());

    headContract(running);
    movingContract(running);
    pagesContract(running);
    historyContract(running);
    recordsContract(running);
    summariesContract(running);
    wakesContract(running);
  });
}
