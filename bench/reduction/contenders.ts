/** Float32 in the canonical order, or in that of arrival; or canonical in a narrow format, packing and unpacking included. */
export const contenders = ["canonical", "arrival", "bfloat16", "float16"] as const;
export type Contender = (typeof contenders)[number];
