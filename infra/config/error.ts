export interface ConfigProblem {
  /** The path as in the file: `teams[0].weight`. */
  readonly path: string;
  readonly text: string;
}

/** The configuration is invalid. Lists all problems at once for the operator, without a stack trace. */
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
