import type { z } from "zod";

/** Makes every member readonly, at any depth; arrays and tuples too. */
export type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;

/** The readonly type of the values of a schema. */
export type Shape<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;
