import { StorageFullError } from "../../../core/object-documents";
import { retry } from "../../../trainer-container/host/failure";
import { createInterruption } from "../../../trainer-container/host/interruption";

describe("retry", () => {
  it("does not repeat what will fail again", async () => {
    const bug = new TypeError("bug");
    await expect(
      retry(
        () => Promise.reject(bug),
        () => undefined,
        createInterruption(),
      ),
    ).rejects.toBe(bug);
  });

  it("stops where the host goes away", async () => {
    const full = new StorageFullError("k");
    const interruption = createInterruption();
    const failures: unknown[] = [];
    const trying = retry(
      () => Promise.reject(full),
      (error) => failures.push(error),
      interruption,
    );
    setImmediate(() => interruption.raise("SIGTERM"));
    await expect(trying).rejects.toBe(full);
    expect(failures).toEqual([full]);
  });

  it("gives the answer once there is one", async () => {
    expect(
      await retry(
        async () => 42,
        () => undefined,
        createInterruption(),
      ),
    ).toBe(42);
  });
});
