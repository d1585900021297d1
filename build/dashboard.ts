import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const PAGE = fileURLToPath(new URL("../lib/dashboard/page", import.meta.url));

/** Served as they stand. */
const AS_THEY_ARE = ["index.html", "icon.svg"] as const;

/** Browsers with `light-dark()` of CSS, the newest thing that the page needs. */
const BROWSERS = ["chrome123", "edge123", "firefox120", "safari17.5"];

/**
 * The page of the dashboard as the files that a server sends, by name: index.html, page.js,
 * page.css and icon.svg. Nothing is written, and no file is fetched from elsewhere.
 */
export const buildDashboard = async (): Promise<ReadonlyMap<string, Uint8Array>> => {
  const { outputFiles } = await build({
    entryPoints: [join(PAGE, "page.tsx")],
    outdir: PAGE,
    write: false,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: BROWSERS,
    // Colours take a tenth of the page, and no scale of it has any.
    alias: { "d3-interpolate": join(PAGE, "charts/interpolate.ts") },
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
  });
  return new Map([
    ...AS_THEY_ARE.map((file) => [file, readFileSync(join(PAGE, file))] as const),
    ...outputFiles.map(({ path, contents }) => [basename(path), contents] as const),
  ]);
};

/** What a browser loads in all, as it is compressed. */
export const gzipBytesOf = (files: ReadonlyMap<string, Uint8Array>): number =>
  [...files.values()].reduce((sum, content) => sum + gzipSync(content).length, 0);
