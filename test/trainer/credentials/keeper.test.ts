import type { Credentials } from "../../../core/training/run-credentials";
import { keepCredentials } from "../../../trainer-container/credentials/run-session";

const hour = 3_600_000;
const minute = 60_000;

/** A keeper on a clock that moves when it sleeps, and an issuer that a test takes away. */
function fixture() {
  const state = { now: 0, issued: 0, away: false, refused: false, troubles: 0 };
  const refusal = new Error("refused");
  const provide = keepCredentials({
    fetch: async (): Promise<Credentials> => {
      if (state.refused) throw refusal;
      if (state.away) throw new Error("away");
      state.issued += 1;
      return {
        accessKeyId: `key ${state.issued}`,
        secretAccessKey: "s",
        sessionToken: "t",
        expiresAt: new Date(state.now + hour).toISOString(),
      };
    },
    now: () => state.now,
    sleep: async (milliseconds) => {
      state.now += milliseconds;
    },
    random: () => 0.5,
    isFinal: (error) => error === refusal,
    onTrouble: () => {
      state.troubles += 1;
    },
  });
  const key = async () => (await provide()).accessKeyId;
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { state, provide, key, settle };
}

it("asks once for all who need them at the same time, and not again for half an hour", async () => {
  const { state, key } = fixture();
  expect(await Promise.all([key(), key(), key()])).toEqual(["key 1", "key 1", "key 1"]);
  state.now = 30 * minute - 1;
  expect(await key()).toBe("key 1");
  expect(state.issued).toBe(1);
});

it("lets the SDK refresh them from half of their life on: it does so five minutes before the expiry that it knows", async () => {
  const { provide } = fixture();
  expect((await provide()).expiration).toEqual(new Date(35 * minute));
});

it("renews behind everybody's back: nobody waits", async () => {
  const { state, key, settle } = fixture();
  await key();
  state.now = 31 * minute;
  expect(await key()).toBe("key 1");
  await settle();
  expect(await key()).toBe("key 2");
});

it("goes on with what it has while the issuer is away, to half a minute before the end", async () => {
  const { state, key } = fixture();
  await key();
  state.away = true;
  state.now = 50 * minute;
  expect(await key()).toBe("key 1");
  expect(await key()).toBe("key 1");
});

it("without any left, waits with growing pauses until the issuer is back", async () => {
  const { state, key } = fixture();
  state.away = true;
  const waiting = key();
  while (state.now < 5 * minute) await Promise.resolve();
  state.away = false;
  expect(await waiting).toBe("key 1");
  expect(state.troubles).toBeGreaterThan(10);
  expect(state.troubles).toBeLessThan(25);
});

it("gives up after a quarter of an hour, and begins again with the next request", async () => {
  const { state, key } = fixture();
  state.away = true;
  await expect(key()).rejects.toThrow("away");
  expect(state.now).toBeGreaterThanOrEqual(15 * minute);
  state.away = false;
  expect(await key()).toBe("key 1");
});

it("takes a refusal for what it is: at once", async () => {
  const { state, key } = fixture();
  state.refused = true;
  await expect(key()).rejects.toThrow("refused");
  expect(state.now).toBe(0);
});
