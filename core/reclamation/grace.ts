const dayMs = 24 * 60 * 60 * 1000;

/**
 * For this long after a writer has stored or found content, reclamation leaves it alone. A writer must store its
 * reference within this time; the slowest ones are functions, which run for 15 minutes at most.
 */
export const claimedMs = dayMs;

/**
 * The age below which reclamation deletes no object. A writer that finds content older than `claimedMs` writes it again.
 * So an object of this age was found by no writer in the last day. The other half is for a writer that has found
 * content just before it became that old.
 */
export const graceMs = 2 * dayMs;
