import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import { BackendUnavailableError } from "../../../trainer-container/engine/errors";

it("falls back to WebAssembly where no native binding is installed, saying why; not when native or a GPU was requested", async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "empty-"));
  const { RINGMASTER_NATIVE_DIR: before } = process.env;
  process.env.RINGMASTER_NATIVE_DIR = folder;
  try {
    await expect(createEngine({ threads: 1, preferred: "native" })).rejects.toThrow(BackendUnavailableError);
    await expect(createEngine({ threads: 1, gpu: 0 })).rejects.toThrow(/--library gpu/);
    const reasons: string[] = [];
    const engine = await createEngine({ threads: 1, onFallback: (reason) => reasons.push(reason.message) });
    expect(engine.backend).toBe("wasm");
    expect(reasons).toEqual([expect.stringMatching(/not installed; run 'ringmaster native'/)]);
  } finally {
    if (before === undefined) delete process.env.RINGMASTER_NATIVE_DIR;
    else process.env.RINGMASTER_NATIVE_DIR = before;
    rmSync(folder, { recursive: true, force: true });
  }
});
