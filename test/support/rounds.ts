const campaign = process.env["RINGMASTER_CAMPAIGN"];

/**
 * Returns how often a randomised test repeats itself. `npm run verify` needs enough to find a wrong implementation.
 * `npm run campaigns` runs each test file that imports this module, with `more`.
 */
export function rounds(enough: number, more = 10 * enough): number {
  return campaign === undefined ? enough : more;
}

/** Returns the seed of a randomised test: a campaign has its own, `RINGMASTER_CAMPAIGN`. */
export function seedOf(usual: number): number {
  return campaign === undefined ? usual : Number(campaign);
}
