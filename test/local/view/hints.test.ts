import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import { dataOption } from "../../../lib/embedded/layout.ts";
import { picture } from "../../../lib/embedded/view/picture.ts";
import { line } from "../../../lib/stack/report/printed.ts";

const frame = { nowMs: 0, pace: { wanted: 60, reached: 60, behind: false }, rows: [], events: [] };
const footer = (data: string) =>
  stripVTControlCharacters(
    line(
      picture(frame, { columns: 200, rows: 40, startMs: 0, dataOption: dataOption(data) }).at(-1) ??
        "",
    ).written(),
  );

it("the live view's commands name the data folder where it is not the default one, as a shell takes it", () => {
  expect(footer(".tidemark")).toContain("npx tidemark get | describe NAME | events --all");
  expect(footer("./.tidemark")).not.toContain("--data");
  expect(footer("/srv/runs/tide mark")).toContain("npx tidemark get --data '/srv/runs/tide mark'");
  expect(footer(".tidemark-dev")).toContain("npx tidemark get --data .tidemark-dev");
});
