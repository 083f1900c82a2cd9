/** Patterns of the tests that `npm test` omits and `npm run test:rest` runs. */
export const rest: readonly string[];
