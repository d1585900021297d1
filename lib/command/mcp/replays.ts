import { replayHistory } from "../commands/replay-history.ts";
import { candidatesIn } from "../replay/candidates.ts";
import { modelsOf } from "../replay/trace-input.ts";
import type { Printer, Session } from "../io.ts";
import type { ToolParameters } from "./ask-api.ts";
import { present } from "../../rules/model/json.ts";

export type Replays = (asked: ToolParameters) => Promise<unknown>;

/** The document of `tidemark replay NAME -f manifest -o json`. */
export const replaysOf =
  (session: Session, printer: Printer): Replays =>
  async ({ name = "", cluster, namespace, since, until, manifest }) => {
    const quiet: Printer = { ...printer, note: () => {}, progress: () => {} };
    const sources = manifest === undefined ? [] : [{ file: "manifest", text: manifest }];
    const candidates = sources.length === 0 ? [] : candidatesIn(quiet, sources, "strict");
    let document = "";
    const kept: Printer = {
      ...quiet,
      print: (text) => {
        document += text.written();
        return Promise.resolve(true);
      },
    };
    const resource = { name, ...present({ cluster, namespace }) };
    await replayHistory(session, { printer: kept, io: {} }, [{ resource, candidates }], {
      ...present({ since, until }),
      output: "json",
      models: modelsOf({}),
    });
    return JSON.parse(document);
  };
