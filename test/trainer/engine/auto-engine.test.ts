import { createEngine } from "../../../trainer-container/engine/create-engine";
import { BackendUnavailableError } from "../../../trainer-container/engine/errors";
import { temporaryFolder } from "../../support/temporary-folder";

const folder = temporaryFolder("empty");

it("falls back to WebAssembly where no native binding is installed, saying why; not when native, a GPU or 16 bits were requested", async () => {
  const { RINGMASTER_NATIVE_DIR: before } = process.env;
  process.env.RINGMASTER_NATIVE_DIR = folder;
  try {
    await expect(createEngine({ threads: 1, preferred: "native" })).rejects.toThrow(BackendUnavailableError);
    await expect(createEngine({ threads: 1, gpu: 0 })).rejects.toThrow(/--library gpu/);
    await expect(createEngine({ threads: 1, precision: "bfloat16" })).rejects.toThrow(
      "The precision bfloat16 needs the native engine and a graph. Run 'ringmaster native' to install it, or train in float32.",
    );
    const reasons: string[] = [];
    const engine = await createEngine({ threads: 1, onFallback: (reason) => reasons.push(reason.message) });
    expect(engine.backend).toBe("wasm");
    expect(reasons).toEqual([expect.stringMatching(/not installed; run 'ringmaster native'/)]);
  } finally {
    if (before === undefined) delete process.env.RINGMASTER_NATIVE_DIR;
    else process.env.RINGMASTER_NATIVE_DIR = before;
  }
});
