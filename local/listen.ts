import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

export class PortTakenError extends Error {
  constructor(
    readonly port: number,
    option: string,
  ) {
    super(
      `port ${port} on 127.0.0.1 is in use by another program: choose another port with ${option} PORT, or stop that program`,
    );
    this.name = "PortTakenError";
  }
}

/**
 * Listens on loopback only.
 * @param option the command-line option of the port, which the error names
 */
export function listen(server: Server, port: number, option: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(error.code === "EADDRINUSE" ? new PortTakenError(port, option) : error),
    );
    server.listen(port, "127.0.0.1", resolve);
  });
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
