import * as z from "zod";

/** Creates the schema of one type of sampler or scheduler. Its messages name the settings that the type has. */
export function settingsOf<const Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  const names = Object.keys(fields);
  const known = names.length === 0 ? "it has none" : `it has ${names.join(", ")}`;
  return z.strictObject(
    { type: z.literal(type), ...fields },
    {
      error: ({ code }) =>
        code === "unrecognized_keys" ? `is not a setting of type ${type}, so remove it: ${known}` : undefined,
    },
  );
}

/** The message for a value that is no mapping: people write the type alone. */
export const mappingRule = (example: string) => ({
  error: ({ code }: { readonly code?: string | undefined }) =>
    code === "invalid_type" ? `must be a mapping with a type and its settings, e.g. { type: ${example} }` : undefined,
});
