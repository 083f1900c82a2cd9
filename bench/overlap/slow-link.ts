/** Simulates a link in front of a rank's port with a bandwidth per direction: `node slow-link.js PORT BYTES_A_SECOND`. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

const [port = 0, bytesPerSecond = 0] = process.argv.slice(2).map(Number);
/** Time from which the link is free. All its connections share it, like a network card. */
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
  // The called rank sends the frames, so its direction is the slow one.
  carry(rank, caller);
  caller.pipe(rank);
  caller.on("error", () => rank.destroy());
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
