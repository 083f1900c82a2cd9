/** The other end of a `LineProcess`: one line of JSON on standard output. */
export function say(message: unknown): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** Runs a child to its end. Sockets and threads that it leaves open do not keep it alive. */
export function runChild(main: () => Promise<void>): void {
  main().then(
    () => process.exit(),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    },
  );
}
