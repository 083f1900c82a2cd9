import { createHash } from "node:crypto";

/**
 * Where workers on the same host reach a worker without TCP: an abstract Unix socket, which moves bytes for about a quarter less CPU time.
 * Its name is derived from the incarnation, a random id that only readers of the gang's store know, so that nobody else can take the name
 * before its owner does; each connection says hello with the generation's token, as over TCP. Abstract names live in the network
 * namespace: whoever can connect is on the same host and in the same network, and needs no other proof. They leave no file behind.
 *
 * @param port where the worker is to be reached over TCP. Who is told another one than the worker listens on is meant to come through
 *   whatever stands between, and finds no such name.
 * @returns `undefined` where the platform has no abstract sockets.
 */
export function localSocketPath(
  { incarnation, port }: { readonly incarnation: string; readonly port: number },
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (platform !== "linux") return undefined;
  const name = createHash("sha256").update(`${incarnation}:${port}`).digest("hex").slice(0, 32);
  return `\0ringmaster-${name}`;
}
