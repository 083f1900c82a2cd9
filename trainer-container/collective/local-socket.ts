import { createHash } from "node:crypto";

/**
 * Returns the address at which workers on the same host reach a worker without TCP: an abstract Unix socket, which moves
 * bytes for about a quarter less CPU time. Its name is derived from the incarnation, a random id that only readers of the
 * gang's store know, so no other process can take the name first. Each connection sends a hello with the generation's
 * token, as over TCP. Abstract names are local to the network namespace: a process that can connect is on the same host
 * and in the same network. They leave no file behind.
 *
 * @param port the worker's TCP port. A caller that was given another port (a port translation) derives another name, and
 *   finds no socket.
 * @returns `undefined` if the platform has no abstract sockets
 */
export function localSocketPath(
  { incarnation, port }: { readonly incarnation: string; readonly port: number },
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (platform !== "linux") return undefined;
  const name = createHash("sha256").update(`${incarnation}:${port}`).digest("hex").slice(0, 32);
  return `\0ringmaster-${name}`;
}
