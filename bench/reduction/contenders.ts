/** Float32 in the canonical order, or in order of arrival; or canonical in a narrow format, with packing and unpacking. */
export const contenders = ["canonical", "arrival", "bfloat16", "float16"] as const;
export type Contender = (typeof contenders)[number];
