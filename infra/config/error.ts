/** One thing wrong with the configuration: what, with which value, by which rule. */
export interface ConfigProblem {
  /** As it is written in the file: `teams[0].weight`. */
  readonly path: string;
  /** Whole sentences. */
  readonly text: string;
}

/** Everything that is wrong with `ringmaster.config.ts` or the context that overrides it, at once. Its message is for people: no stack is needed. */
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
