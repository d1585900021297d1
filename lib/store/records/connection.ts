import * as z from "zod";

/** The schemas of texts: an API input has limits, a stored record has none. */
interface TextSchemas<Text extends z.ZodType<string>, Data extends z.ZodType<string>> {
  readonly text: Text;
  /** A CA certificate in base64, which is longer than other texts. */
  readonly caData: Data;
}

/** The fields of each kind of connection. Stored records and API inputs are both read by these; the compiler compares them with `Connection` in the model. */
export const connectionFields = <Text extends z.ZodType<string>, Data extends z.ZodType<string>>({ text, caData }: TextSchemas<Text, Data>) => ({
  eks: {
    kind: z.literal("eks"),
    clusterId: text,
    endpoint: z.exactOptional(text),
    caData: z.exactOptional(caData),
    region: text,
    roleArn: z.exactOptional(text),
  },
  secret: { kind: z.literal("secret"), secretId: text, context: z.exactOptional(text) },
  kubeconfig: { kind: z.literal("kubeconfig"), path: text, context: z.exactOptional(text) },
});
