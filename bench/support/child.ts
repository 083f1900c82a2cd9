/** Prints one line of JSON on standard output: the other end of a `LineProcess`. */
export function say(message: unknown): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** Runs a child to its end. Open sockets and threads do not keep it alive. */
export function runChild(main: () => Promise<void>): void {
  main().then(
    () => process.exit(),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    },
  );
}
