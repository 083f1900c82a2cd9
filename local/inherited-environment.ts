/**
 * The variables that a process needs from its parent's environment to run at all. No others are passed on: on AWS there
 * are no others.
 */
const inherited = ["PATH", "HOME", "TMPDIR", "NODE_PATH", "LD_LIBRARY_PATH", "NODE_EXTRA_CA_CERTS"];

export function inheritedEnvironment(): Record<string, string> {
  return Object.fromEntries(inherited.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
