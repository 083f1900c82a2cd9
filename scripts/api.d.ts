/** Paths of the files made from the contracts that are not as they should be. */
export function staleFiles(): readonly string[];
