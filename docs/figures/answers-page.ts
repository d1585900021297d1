import { openApiDocument } from "./openapi-document.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}

const HEAD = `# Answers

Every field of every document that Tidemark answers, with \`-o json\` and over HTTP ([api.md](api.md)). The schemas in \`lib/answers/views\` are its source, as they are of [openapi.json](openapi.json), of the types, and of what the command accepts from a stack.
Fields are added between versions, and never renamed. A question mark says that a field may be absent.
`;

const nameIn = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1);
const anchor = (name: string): string => `[${name}](#${name.toLowerCase()})`;
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** The type of a field in one word, or the words that it may be. */
const typeText = (schema: Schema): string => {
  if (schema.$ref !== undefined) return anchor(nameIn(schema.$ref));
  if (schema.enum !== undefined) return schema.enum.map((word) => `\`${String(word)}\``).join(", ");
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms !== undefined) return [...new Set(forms.map(typeText))].join(" or ");
  if (schema.type === "array")
    return schema.items?.$ref === undefined
      ? "list"
      : `list of ${anchor(nameIn(schema.items.$ref))}`;
  if (schema.format === "date-time") return "time";
  return schema.type === "string" ? "text" : (schema.type ?? "anything");
};

const rowsOf = (schema: Schema, path = ""): readonly string[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const optional = schema.required?.includes(name) ? "" : "?";
    const inside = field.type === "array" ? field.items : field;
    const here = `${path}${name}${field.type === "array" ? "[]" : ""}`;
    return [
      `| \`${here}\`${optional} | ${typeText(field)} | ${cell(field.description ?? "")} |`,
      ...formsOf(inside).flatMap((form) => rowsOf(form, `${here}.`)),
    ];
  });

/** The objects whose fields a reader has to know here: those without a name of their own. */
const formsOf = (schema: Schema | undefined): readonly Schema[] =>
  schema === undefined || schema.$ref !== undefined ? [] : (schema.oneOf ?? [schema]);

const section = (name: string, schema: Schema): string => {
  const about = schema.description === undefined ? "" : `\n${schema.description}\n`;
  if (schema.enum !== undefined) return `## ${name}\n${about}\nOne of ${typeText(schema)}.\n`;
  const tables = formsOf(schema).map(
    (form) => `\n| field | type | meaning |\n|---|---|---|\n${rowsOf(form).join("\n")}\n`,
  );
  return `## ${name}\n${about}${tables.join("\nor\n")}`;
};

/** docs/answers.md, made of the schemas of the API document. */
export const answersPage = (): string => {
  const { components } = openApiDocument("") as unknown as {
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  };
  return [
    HEAD,
    ...Object.entries(components.schemas).map(([name, schema]) => section(name, schema)),
  ].join("\n");
};
