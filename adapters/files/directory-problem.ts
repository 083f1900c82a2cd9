function textOf(error: unknown): string {
  const texts: string[] = [];
  for (let cause: unknown = error; cause instanceof Error && texts.length < 10; cause = cause.cause) {
    texts.push(`${(cause as NodeJS.ErrnoException).code ?? ""} ${cause.message}`);
  }
  return texts.join("\n");
}

const rules: readonly { readonly pattern: RegExp; readonly problem: (data: string) => string }[] = [
  {
    pattern: /\b(?:ENOSPC|EDQUOT)\b|No space left on device|Disk quota exceeded/,
    problem: (data) => `the disk that holds ${data} is full: free some space there`,
  },
  {
    pattern: /\bEROFS\b|Read-only file system/,
    problem: (data) => `${data} is on a read-only file system: mount it for writing`,
  },
  {
    pattern: /\b(?:EACCES|EPERM)\b|Permission denied|Operation not permitted/,
    problem: (data) => `this user may not write in ${data}: change the owner or the mode of its files`,
  },
  {
    pattern: /\bLEVEL_LOCKED\b|\/LOCK: (?:Resource temporarily unavailable|already held by process)/,
    problem: (data) => `another process has a database in ${data} open: stop that process`,
  },
  {
    pattern: /\b(?:ENOTDIR|EISDIR|EEXIST|ELOOP)\b/,
    problem: (data) => `${data} holds a file where a directory is needed, or the reverse: move it away`,
  },
  {
    pattern: /\b(?:EMFILE|ENFILE)\b|Too many open files/,
    problem: () => "the limit on open files is reached: raise it with `ulimit -n 4096`",
  },
  {
    pattern: /\bEIO\b|Input\/output error/,
    problem: (data) => `the disk that holds ${data} fails (EIO): check the disk`,
  },
];

/**
 * Describes why a data directory cannot be used, in one sentence with the next step.
 *
 * @returns `undefined` if the error does not come from the file system
 */
export function directoryProblem(error: unknown, data: string): string | undefined {
  const text = textOf(error);
  const rule = rules.find(({ pattern }) => pattern.test(text));
  return rule && `${rule.problem(data)}, or choose another directory with --data DIRECTORY`;
}
