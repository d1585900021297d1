import * as z from "zod";
import { placeOfField } from "../../../rules/manifest/errors.ts";
import { nonEmpty, present } from "../../../rules/model/json.ts";
import type { WakeView } from "../../views/wake.ts";
import {
  type FleetDocument,
  type FleetDocuments,
  fleetDocuments,
  type FleetReading,
} from "../fleet-documents.ts";
import type { NewWake } from "../requests.ts";
import type { ManifestSource } from "../service.ts";
import { wakeFaults } from "./wakes.ts";

/** A registered wake of a file: the fields of `wake put` as a document. */
const document = z.strictObject({
  apiVersion: z.literal("tidemark.dev/v1"),
  kind: z.literal("Wake"),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.never("a wake names the namespace that it wakes in spec.namespace").optional(),
    labels: z.record(z.string(), z.string()).exactOptional(),
  }),
  spec: z.strictObject({
    alarm: z.string(),
    cluster: z.string(),
    namespace: z.string().exactOptional(),
    names: z.array(z.string()).min(1, "leave it out to wake all").exactOptional(),
  }),
});

/** A wake of a file. */
export type WakeOfFile = NewWake & { readonly file: string };

/** The wakes of files. Throws `manifest.invalid` with a line for every fault. */
export const wakesIn = (files: readonly ManifestSource[]): FleetDocuments<WakeOfFile> =>
  fleetDocuments("Wake", files, readWake);

const readWake = (written: FleetDocument): FleetReading<WakeOfFile> => {
  const parsed = document.safeParse(written.document);
  if (!parsed.success)
    return {
      faults: parsed.error.issues.map(
        ({ path, message }) =>
          `Cannot accept ${placeOfField(written, path.join("."))}: ${path.join(".")}: ${message}`,
      ),
    };
  const { metadata, spec } = parsed.data;
  const labels = nonEmpty(metadata.labels ?? {});
  const wake: WakeOfFile = {
    name: metadata.name,
    ...spec,
    ...present({ labels }),
    file: written.file,
  };
  const faults = wakeFaults(wake);
  return faults.length === 0
    ? { value: wake }
    : {
        faults: faults.map(
          (fault) => `Cannot accept "${written.where}": wake "${wake.name}": ${fault}`,
        ),
      };
};

/** A wake as a document that `apply` takes. */
export const wakeDocument = ({
  name,
  alarm,
  cluster,
  namespace,
  names,
  labels,
}: NewWake | WakeView): object => ({
  apiVersion: "tidemark.dev/v1",
  kind: "Wake",
  metadata: present({ name, labels }),
  spec: present({ alarm, cluster, namespace, names }),
});
