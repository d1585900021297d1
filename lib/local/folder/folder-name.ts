import { basename, extname } from "node:path";
import { contextOf } from "../run/kubeconfig-file.ts";
import { labelOf } from "../run/label.ts";
import type { RunOptions } from "../run/options.ts";
import { DEFAULT_DATA_FOLDER } from "./layout.ts";

/** Longest name of what is played that a folder's name carries. */
const MAX_NAME = 63;

/**
 * The data folder of a start without `--data`: one for each thing that can be run, so that none goes on in the folder of another. The demonstration has `.tidemark`, a cluster
 * `.tidemark-CONTEXT`, a run under a trace, manifests or a seed of its own `.tidemark-` and their names. Throws `local.unreadable` for a kubeconfig that cannot be read.
 */
export const folderNameFor = (options: RunOptions): string => {
  const { kubeconfig, context, manifest, trace, seed } = options;
  if (kubeconfig !== undefined) return named([contextOf(kubeconfig, context) ?? basename(kubeconfig)]);
  const files = [...(trace === undefined ? [] : [trace]), ...manifest].map((file) => basename(file, extname(file)));
  return named([...files, ...(seed === undefined ? [] : [`seed-${seed}`])]);
};

const named = (parts: readonly string[]): string =>
  parts.length === 0 ? DEFAULT_DATA_FOLDER : `${DEFAULT_DATA_FOLDER}-${labelOf(parts.join("-")).slice(0, MAX_NAME)}`;
