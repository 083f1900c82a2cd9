export interface ConfigProblem {
  /** The path as in the file: `teams[0].weight`. */
  readonly path: string;
  readonly text: string;
}

/**
 * The configuration in `ringmaster.config.ts` or in the context is invalid. The error lists all problems at once. Its
 * message is for the operator, so it needs no stack trace.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(readonly problems: readonly ConfigProblem[]) {
    const count = problems.length === 1 ? "one problem" : `${problems.length} problems`;
    const list = problems.map(({ text }) => `  - ${text}`).join("\n");
    super(
      `The configuration has ${count}:\n\n${list}\n\nNext: correct ringmaster.config.ts, or the -c option that overrides it, and synthesize again: npx cdk synth --quiet`,
    );
  }
}
