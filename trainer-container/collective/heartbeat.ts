import { Worker } from "node:worker_threads";

interface HeartbeatTarget {
  readonly host: string;
  readonly port: number;
  readonly hello: string;
}

/** Shows peers that this process is alive, even during a long computation of its main thread. */
export interface Heartbeat {
  beat(targets: readonly HeartbeatTarget[], intervalMs: number): void;
  stop(): void;
}

/** A thread, because steps block the main one; `SIGSTOP` stops both. Plain text: no file next to the bundle. */
const threadSource = `
const { parentPort } = require("node:worker_threads");
const { connect } = require("node:net");
let sockets = [];
let timer;
const drop = () => { clearInterval(timer); for (const socket of sockets) socket.destroy(); sockets = []; };
parentPort.on("message", ({ targets, intervalMs }) => {
  drop();
  const dials = targets.map(({ host, port, hello }) => () => {
    const socket = connect({ host, port, noDelay: true }, () => socket.write(hello));
    socket.on("error", () => socket.destroy());
    socket.resume();
    return socket;
  });
  sockets = dials.map((dial) => dial());
  timer = setInterval(() => {
    sockets.forEach((socket, i) => {
      if (socket.destroyed) sockets[i] = dials[i]();
      else if (!socket.connecting && socket.writableLength === 0) socket.write(".");
    });
  }, intervalMs);
});
`;

export const noHeartbeatTargets: readonly HeartbeatTarget[] = [];

export class ThreadHeartbeat implements Heartbeat {
  private worker: Worker | undefined;

  /** Starts the thread before it has peers, so that heartbeats begin with the generation. A lone worker needs none. */
  start(): void {
    if (this.worker) return;
    this.worker = new Worker(threadSource, { eval: true, name: "gang-heartbeat", execArgv: [], env: {} });
    this.worker.on("error", () => {
      this.worker = undefined;
    });
    this.worker.unref();
  }

  beat(targets: readonly HeartbeatTarget[], intervalMs: number): void {
    if (targets.length > 0) this.start();
    this.worker?.postMessage({ targets, intervalMs });
  }

  stop(): void {
    void this.worker?.terminate();
    this.worker = undefined;
  }
}
