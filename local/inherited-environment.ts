/** What a process needs of its parent's environment to run at all. Nothing else leaks in: on AWS there is nothing else. */
const inherited = ["PATH", "HOME", "TMPDIR", "NODE_PATH", "LD_LIBRARY_PATH", "NODE_EXTRA_CA_CERTS"];

export function inheritedEnvironment(): Record<string, string> {
  return Object.fromEntries(inherited.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
