/** Stands before a rank's port as a link of so many bytes a second each way: `node slow-link.js PORT BYTES_A_SECOND`. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

const [port = 0, bytesPerSecond = 0] = process.argv.slice(2).map(Number);
/** All connections through the link share it, as they share a network card. */
let freeAt = 0;

function carry(from: Socket, to: Socket): void {
  from.on("data", (piece) => {
    from.pause();
    const now = performance.now();
    freeAt = Math.max(now, freeAt) + (piece.length / bytesPerSecond) * 1_000;
    setTimeout(() => to.write(piece, () => from.resume()), freeAt - now);
  });
  from.on("error", () => to.destroy()).on("close", () => to.destroy());
}

const server = createServer({ noDelay: true }, (caller) => {
  const rank = connect({ port, host: "127.0.0.1", noDelay: true });
  // Frames come from the rank that is called: its direction is the slow one.
  carry(rank, caller);
  caller.pipe(rank);
  caller.on("error", () => rank.destroy());
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
