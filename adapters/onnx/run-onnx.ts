import { Worker } from "node:worker_threads";
import { exportRefused, type OnnxRuntime, type OnnxTensor } from "../../core/export";

interface Answer {
  readonly id: number;
  readonly outputs?: Readonly<Record<string, OnnxTensor>>;
  readonly error?: string;
}

/** Runs onnxruntime's WebAssembly in its own thread, with which its memory ends. One thread: the same bits. */
export function startOnnxRuntime(): OnnxRuntime {
  const thread = new Worker(program, { eval: true, workerData: require.resolve("onnxruntime-web") });
  const waiting = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>();
  let count = 0;
  const end = (error: Error): void => {
    for (const each of waiting.values()) each.reject(error);
    waiting.clear();
  };
  thread.on("message", (answer: Answer) => {
    waiting.get(answer.id)?.resolve(answer);
    waiting.delete(answer.id);
  });
  thread.on("error", end);
  thread.on("exit", (code) => end(new Error(`onnxruntime's thread ended with code ${code} before it answered`)));
  return {
    async run(file, inputs) {
      const id = count++;
      const answer = await new Promise<Answer>((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        thread.postMessage({ id, file, inputs });
      });
      if (answer.outputs) return answer.outputs;
      throw exportRefused(answer.error ?? "it gave no reason");
    },
    async close() {
      await thread.terminate();
    },
  };
}

/** The program of the thread. It is text, so that bundles and test runners need no separate file. */
const program = `
const { parentPort, workerData } = require("node:worker_threads");
const { env, InferenceSession, Tensor } = require(workerData);
env.logLevel = "error";
env.wasm.numThreads = 1;
const types = { float: "float32", double: "float64", string: "string" };
async function run(file, inputs) {
  const session = await InferenceSession.create(file, { executionProviders: ["wasm"] });
  const feeds = Object.entries(inputs).map(([name, { type, data, dims }]) => [name, new Tensor(types[type], data, dims)]);
  const found = await session.run(Object.fromEntries(feeds));
  await session.release();
  return Object.fromEntries(Object.entries(found).map(([name, { data, dims }]) => [name, { data, dims }]));
}
parentPort.on("message", ({ id, file, inputs }) => {
  run(file, inputs).then(
    (outputs) => parentPort.postMessage({ id, outputs }),
    (error) => parentPort.postMessage({ id, error: String((error && error.message) || error) }),
  );
});
`;
