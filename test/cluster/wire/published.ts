import { join } from "node:path";
import protobuf from "protobufjs";

const FOLDER = join(import.meta.dirname, "proto");
/** `k8s.io/api/core/v1/generated.proto` lies here as `k8s.io.api.core.v1.proto`. */
const fileOf = (published: string): string =>
  join(FOLDER, `${published.replace("/generated.proto", "").replaceAll("/", ".")}.proto`);
const FILES = [
  "api/core/v1",
  "api/apps/v1",
  "api/autoscaling/v2",
  "metrics/pkg/apis/metrics/v1beta1",
  "apimachinery/pkg/runtime",
];

/** The published `.proto` files of Kubernetes 1.37.1, as a schema that encodes. */
export const publishedSchema = (): protobuf.Root => {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => (target.startsWith(FOLDER) ? target : fileOf(target));
  root.loadSync(FILES.map((name) => fileOf(`k8s.io/${name}`))).resolveAll();
  return root;
};

type Fields = Record<string, unknown>;

/** JSON shows these messages as one value. */
const FROM_JSON: Readonly<Record<string, (json: unknown) => Fields>> = {
  Time: (json) => ({ seconds: Date.parse(String(json)) / 1_000, nanos: 0 }),
  Quantity: (json) => ({ string: json }),
  Duration: (json) => ({ duration: Number.parseFloat(String(json)) * 1e9 }),
};

/** What protobufjs encodes, of an object as the API's JSON has it. */
export const messageOf = (type: protobuf.Type, json: Fields): Fields => {
  const fields: Fields = {};
  for (const [name, value] of Object.entries(json)) {
    const field = type.get(name);
    if (!(field instanceof protobuf.Field))
      throw new RangeError(`${type.fullName} has no field "${name}"`);
    const inner = field.resolvedType instanceof protobuf.Type ? field.resolvedType : undefined;
    const one = (item: unknown): unknown =>
      inner ? (FROM_JSON[inner.name]?.(item) ?? messageOf(inner, item as Fields)) : item;
    if (field instanceof protobuf.MapField)
      fields[name] = Object.fromEntries(
        Object.entries(value as Fields).map(([key, item]) => [key, one(item)]),
      );
    else fields[name] = Array.isArray(value) ? value.map(one) : one(value);
  }
  return fields;
};

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

export interface Published {
  /** An answer of the API as protobuf, of the list that `json` is. */
  readonly encode: (fullName: string, json: Fields, apiVersion?: string) => Buffer;
  readonly root: protobuf.Root;
}

export const published = (): Published => {
  const root = publishedSchema();
  const unknown = root.lookupType("k8s.io.apimachinery.pkg.runtime.Unknown");
  return {
    root,
    encode: (fullName, json, apiVersion = "v1") => {
      const type = root.lookupType(fullName);
      const raw = type.encode(type.fromObject(messageOf(type, json))).finish();
      const wrapped = {
        typeMeta: { apiVersion, kind: type.name },
        raw,
        contentEncoding: "",
        contentType: "",
      };
      return Buffer.concat([MAGIC, unknown.encode(unknown.fromObject(wrapped)).finish()]);
    },
  };
};
