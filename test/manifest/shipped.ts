import { readdirSync, readFileSync } from "node:fs";
import { type ManifestDocument, readManifests } from "../../lib/rules/manifest/documents.ts";

const ROOT = new URL("../../", import.meta.url);

/** Every manifest of the examples and the pages, with its place. */
export const SHIPPED: readonly ManifestDocument[] = ["docs", "examples"].flatMap((folder) =>
  readdirSync(new URL(folder, ROOT))
    .filter((file) => /\.(md|yaml)$/.test(file) && !file.endsWith(".crd.yaml"))
    .flatMap((file) => {
      const text = readFileSync(new URL(`${folder}/${file}`, ROOT), "utf8");
      const parts = file.endsWith(".md")
        ? [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = ""]) => yaml)
        : [text];
      return parts.flatMap((part, index) => readManifests(part, `${folder}/${file} ${index + 1}`));
    }),
);

export const isPodAutoscaler = (document: unknown): boolean =>
  (document as { readonly apiVersion?: unknown }).apiVersion === "tidemark.dev/v1" &&
  (document as { readonly kind?: unknown }).kind === "PodAutoscaler";
