/** Makes every member readonly, at any depth; arrays and tuples too. */
export type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;
